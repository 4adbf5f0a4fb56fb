"""What people type into the panel, checked by the rules of the models."""

from __future__ import annotations

from typing import Any

from django import forms
from django.utils.translation import gettext_lazy as _

from knowledge.models.notes import NOTE_LENGTH
from knowledge.models.plans import PLAN_LENGTH
from knowledge.models.todos import TODO_LENGTH
from knowledge.texts import TITLE_LENGTH, AtMost, normal_lines, validate_characters


class MarkdownField(forms.CharField):
    """A text that is kept as it was typed: not stripped, and never cut by the browser either.

    A `maxlength` attribute would make browsers drop the end of what is pasted without a word.
    """

    def __init__(self, *, length: int, rows: int, **more: Any) -> None:
        super().__init__(
            strip=False,
            widget=forms.Textarea(attrs={"rows": rows, "data-count": length}),
            validators=[validate_characters, AtMost(length)],
            **more,
        )

    def to_python(self, value: Any) -> str:
        """The text with one kind of line end; browsers send two characters for each."""
        return normal_lines(super().to_python(value) or "")

    def validate(self, value: str) -> None:
        """Blank counts as empty."""
        super().validate(value.strip())


class NoteForm(forms.Form):
    """A new note."""

    body = MarkdownField(
        length=NOTE_LENGTH,
        rows=2,
        label=_("Note"),
        error_messages={"required": _("Write something first: an empty note is not kept.")},
    )
    pinned = forms.BooleanField(required=False, label=_("Pin at once"))


class NoteEdit(forms.Form):
    """A note's new text, with the revision that it was made from."""

    body = MarkdownField(
        length=NOTE_LENGTH,
        rows=4,
        label=_("Note"),
        error_messages={"required": _("An empty note is not kept. Delete it instead, or cancel.")},
    )
    seen = forms.CharField(required=False, max_length=16, widget=forms.HiddenInput)
    sitting = forms.CharField(required=False, max_length=32, widget=forms.HiddenInput)


class TodoForm(forms.Form):
    """A new todo."""

    text = MarkdownField(
        length=TODO_LENGTH,
        rows=1,
        label=_("Todo"),
        error_messages={"required": _("Write what is to do first.")},
    )


class TodoEdit(TodoForm):
    """A todo's new text, with the revision that it was made from."""

    seen = forms.CharField(required=False, max_length=16, widget=forms.HiddenInput)


class PlanForm(forms.Form):
    """A new plan: a title is enough."""

    title = forms.CharField(required=False, max_length=TITLE_LENGTH, label=_("Title"))
    body = MarkdownField(length=PLAN_LENGTH, rows=8, label=_("Plan"), required=False)


class PlanEdit(forms.Form):
    """A plan's new text, with the revision that it was made from."""

    body = MarkdownField(length=PLAN_LENGTH, rows=24, label=_("Plan"), required=False)
    seen = forms.CharField(required=False, max_length=16, widget=forms.HiddenInput)
    sitting = forms.CharField(required=False, max_length=32, widget=forms.HiddenInput)

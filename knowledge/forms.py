"""What people type into the panel, checked by the rules of the models."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any

from django import forms
from django.utils.translation import gettext_lazy as _

from knowledge.models.notes import NOTE_LENGTH
from knowledge.models.plans import PLAN_LENGTH
from knowledge.models.todos import TODO_LENGTH
from knowledge.texts import TITLE_LENGTH, AtMost, normal_lines, validate_characters
from openchamber.models import Session
from openchamber.texts import validate_line


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


class KeepForm(forms.Form):
    """What is kept of a message, as what."""

    body = MarkdownField(
        length=PLAN_LENGTH, rows=12, label=_("Text"), error_messages={"required": _("There is nothing to keep.")}
    )
    kind = forms.ChoiceField(choices=[("note", _("a note")), ("plan", _("a plan"))], widget=forms.RadioSelect)
    pinned = forms.BooleanField(required=False, label=_("Pin at once"))

    def clean(self) -> dict[str, Any]:
        """A note is shorter than a plan."""
        data: dict[str, Any] = super().clean() or self.cleaned_data
        if data.get("kind") == "note" and "body" in data:
            try:
                AtMost(NOTE_LENGTH)(data["body"])
            except forms.ValidationError as error:
                self.add_error("body", error)
        return data


class SendForm(forms.Form):
    """To which session something is sent."""

    to = forms.ChoiceField(label=_("Session"), widget=forms.RadioSelect, initial="new")
    name = forms.SlugField(label=_("Name of the worktree"), max_length=40, required=False)

    def __init__(self, *args: Any, sessions: Iterable[Session], **more: Any) -> None:
        super().__init__(*args, **more)
        new = [("new", _("A new session")), ("worktree", _("A new session in a worktree of its own"))]
        self.fields["to"].choices = [*new, *((session.pk, str(session)) for session in sessions)]  # type: ignore[attr-defined]

    def clean(self) -> dict[str, Any]:
        """A worktree needs a name."""
        data: dict[str, Any] = super().clean() or self.cleaned_data
        if data.get("to") == "worktree" and not data.get("name"):
            self.add_error("name", _("Give the worktree a name."))
        return data


class PlanForm(forms.Form):
    """A new plan: a title is enough."""

    title = forms.CharField(required=False, max_length=TITLE_LENGTH, label=_("Title"), validators=[validate_line])
    body = MarkdownField(length=PLAN_LENGTH, rows=8, label=_("Plan"), required=False)


class PlanEdit(forms.Form):
    """A plan's new text, with the revision that it was made from."""

    body = MarkdownField(length=PLAN_LENGTH, rows=24, label=_("Plan"), required=False)
    seen = forms.CharField(required=False, max_length=16, widget=forms.HiddenInput)
    sitting = forms.CharField(required=False, max_length=32, widget=forms.HiddenInput)

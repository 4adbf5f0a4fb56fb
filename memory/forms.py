"""What people send from the panel, checked by the rules of the models."""

from __future__ import annotations

from typing import Any

from django import forms
from django.core.exceptions import ValidationError
from django.utils.translation import gettext_lazy as _

from memory.models import Agent, Entry, Scope, Switches
from openchamber.texts import is_key


class SwitchesForm(forms.ModelForm):  # type: ignore[type-arg]
    """Whether agents have memory, and its limits."""

    class Meta:
        model = Switches
        fields = ["enabled", "hold_user_entries", "user_limit", "workspace_limit"]


class SwitchForm(forms.Form):
    """The wanted state of one switch."""

    on = forms.BooleanField(required=False)


class AgentForm(forms.ModelForm):  # type: ignore[type-arg]
    """An agent with memory of its own."""

    class Meta:
        model = Agent
        fields = ["slug", "name", "description"]
        help_texts = {"slug": _("As the client calls it, for instance the name of OpenCode’s agent.")}


class ReadForm(forms.Form):
    """Which text somebody read before they said something about it."""

    seen = forms.CharField(required=False, max_length=16, widget=forms.HiddenInput)


class VerdictForm(ReadForm):
    """What somebody says about a content."""

    verdict = forms.ChoiceField(choices=Entry.Judgement.choices, required=False)


class ScopeField(forms.ModelChoiceField):  # type: ignore[type-arg]
    """A scope, by its label."""

    def label_from_instance(self, obj: Any) -> str:
        """What a person calls it."""
        return str(obj.label)


class MoveForm(ReadForm):
    """Where an entry is to stand, from the scopes that the caller sees."""

    scope = ScopeField(Scope.objects.none(), label=_("Move to"), empty_label=None)

    def __init__(self, scopes: Any, *args: Any, **kwargs: Any) -> None:
        super().__init__(*args, **kwargs)
        field = self.fields["scope"]
        assert isinstance(field, forms.ModelChoiceField)
        field.queryset = scopes


class SeenForm(forms.Form):
    """Up to when a page was looked at, and which scopes it showed."""

    until = forms.DateTimeField()
    scopes = forms.CharField(max_length=100_000)

    def clean_scopes(self) -> list[int]:
        """Their ids."""
        parts = self.cleaned_data["scopes"].split(",")
        if not all(map(is_key, parts)):
            raise ValidationError(_("These are no scopes."))
        return [int(part) for part in parts]

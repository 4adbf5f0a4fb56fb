"""What people write and choose on a session's page."""

from __future__ import annotations

import hashlib
import secrets
from functools import partial
from typing import Any

from django import forms
from django.utils.translation import gettext_lazy as _

from openchamber.sessions import attempts, message_ids
from openchamber.sessions.delivery import Prompt
from openchamber.texts import validate_line

TEXT_LIMIT = 1_000_000
TITLE_LIMIT = 200


class SessionForm(forms.Form):
    """A new session. Its title is given now: else a model is asked for one, and told the first block with it."""

    title = forms.CharField(
        label=_("Title"),
        max_length=TITLE_LIMIT,
        required=False,
        validators=[validate_line],
        help_text=_("Empty: the date and the time."),
    )


class TitleForm(forms.Form):
    """Another title."""

    title = forms.CharField(label=_("Title"), max_length=TITLE_LIMIT, validators=[validate_line])


class MessageForm(forms.Form):
    """The composer. The same text again from the same composer is the same message, whose answer got lost.

    `attempt` names the composer, or comes back from a send that failed with the message's id.
    """

    text = forms.CharField(
        label=_("Message"),
        max_length=TEXT_LIMIT,
        strip=False,
        error_messages={"required": _("Write something first.")},
    )
    agent = forms.CharField(required=False, max_length=200)
    model = forms.CharField(required=False, max_length=300)
    bare = forms.BooleanField(required=False)
    attempt = forms.CharField(
        required=False, max_length=200, widget=forms.HiddenInput, initial=partial(secrets.token_urlsafe, 12)
    )

    def clean_text(self) -> str:
        """A message of blanks says nothing."""
        text = str(self.cleaned_data["text"]).replace("\r\n", "\n")
        if not text.strip():
            raise forms.ValidationError(self.fields["text"].error_messages["required"])
        return text

    def clean(self) -> dict[str, Any]:
        """Keep the message id of an earlier attempt at this text, else take a new one."""
        data = super().clean() or self.cleaned_data
        attempt = str(data.get("attempt", ""))
        message, _colon, digest = attempt.partition(":")
        if digest == self.digest() and message_ids.is_ours(message):
            data["message_id"] = message
        else:
            again = attempt and not self.errors
            data["message_id"] = attempts.id_of(attempt, self.digest()) if again else message_ids.message_id()
        return data

    def digest(self) -> str:
        """What tells this text from another."""
        return hashlib.sha256(str(self.cleaned_data.get("text", "")).encode()).hexdigest()[:16]

    def attempted(self) -> str:
        """`attempt` for the form that is shown after this send failed."""
        return f"{self.cleaned_data['message_id']}:{self.digest()}"

    def prompt(self) -> Prompt:
        """The message to send."""
        data = self.cleaned_data
        return Prompt(
            text=data["text"],
            agent=data["agent"],
            model=data["model"],
            message_id=data["message_id"],
            with_context=not data["bare"],
        )

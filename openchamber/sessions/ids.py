"""The forms of OpenCode's ids. What has another form is called nothing there, so nobody is asked about it.

As converters of addresses: an address with an id of another form is no address.
"""

from __future__ import annotations

import re

from django.urls import register_converter
from django.urls.converters import StringConverter

MESSAGE = "msg[A-Za-z0-9_-]{1,80}"
SESSION = "ses[A-Za-z0-9_-]{1,190}"


class MessageId(StringConverter):
    """A message's."""

    regex = MESSAGE


class PermissionId(StringConverter):
    """A permission request's."""

    regex = "per[A-Za-z0-9_-]{1,80}"


class QuestionId(StringConverter):
    """A question's."""

    regex = "que[A-Za-z0-9_-]{1,80}"


for _name, _converter in {"message": MessageId, "permission": PermissionId, "question": QuestionId}.items():
    register_converter(_converter, _name)


def is_session(text: str) -> bool:
    """Whether a session can be called so."""
    return re.fullmatch(SESSION, text) is not None


def is_message(text: str) -> bool:
    """Whether a message can be called so."""
    return re.fullmatch(MESSAGE, text) is not None

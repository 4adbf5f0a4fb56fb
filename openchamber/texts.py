"""Rules for every text that reaches us: what cannot be stored, and what a name or a title must not hold. Pure.

Models and forms use the validators, schemas of the API the types made of them.
"""

from __future__ import annotations

import re
from collections.abc import Callable
from typing import Annotated, Any

from django.core.exceptions import ValidationError
from django.utils.translation import gettext_lazy as _
from pydantic import AfterValidator
from pydantic_core import PydanticCustomError

# Control characters, line ends, and marks by which a name is read in another order than it is written.
NOT_IN_A_LINE = re.compile(r"[\x00-\x1f\x7f-\x9f\u2028-\u202e\u2066-\u2069]+")

# Halves of characters, which JavaScript cuts texts into, and null: no database and no page of ours can hold them.
NOT_STORABLE = re.compile("[\x00\ud800-\udfff]")

# A number that a row of any of our databases can have.
KEY = re.compile(r"[0-9]{1,18}")


def is_key(text: str) -> bool:
    """Whether a row can have this id; anything else is not looked for."""
    return KEY.fullmatch(text) is not None


def validate_characters(text: str) -> None:
    """Refuse what a database or an agent could not hold: null characters and half surrogate pairs."""
    if "\x00" in text:
        raise ValidationError(_("Null characters cannot be stored. Take them out."), code="null_characters")
    try:
        text.encode()
    except UnicodeEncodeError as error:
        raise ValidationError(
            _("There is half a character (a lone surrogate) at position %(position)d. Take it out."),
            code="lone_surrogate",
            params={"position": error.start + 1},
        ) from error


def validate_not_blank(text: str) -> None:
    """Refuse a text in which there is nothing to read."""
    if not text.strip():
        raise ValidationError(_("Write something first: this is empty."), code="blank")


def validate_line(text: str) -> None:
    """Refuse what a name, a title or an id cannot be, since each is shown as one line among others."""
    validate_characters(text)
    if NOT_IN_A_LINE.search(text):
        raise ValidationError(
            _("This must be one line, without control characters and marks that turn the direction of writing."),
            code="not_a_line",
        )


def as_line(text: str) -> str:
    """The text as one line: what cannot stand in one becomes a space."""
    return NOT_IN_A_LINE.sub(" ", text).strip()


def storable(text: str) -> str:
    """A text of another program's as we can keep and show it: two halves make a character, and what is left over
    becomes the replacement mark, as it does in every encoder."""
    if NOT_STORABLE.search(text) is None:
        return text
    return text.encode("utf-16-le", "surrogatepass").decode("utf-16-le", "replace").replace("\0", "\ufffd")


def storable_data(value: Any) -> Any:
    """Plain data with every text in it `storable`."""
    match value:
        case str():
            return storable(value)
        case list():
            return [storable_data(one) for one in value]
        case dict():
            return {storable(key): storable_data(one) for key, one in value.items()}
    return value


def refusing(validate: Callable[[str], None]) -> AfterValidator:
    """A validator of models and forms as one of schemas, with the same sentences."""

    def checked(text: str) -> str:
        try:
            validate(text)
        except ValidationError as error:
            # Braces in the sentence itself would be read as places to fill.
            raise PydanticCustomError("refused", "{sentence}", {"sentence": " ".join(error.messages)}) from error
        return text

    return AfterValidator(checked)


Text = Annotated[str, refusing(validate_characters)]
Line = Annotated[str, refusing(validate_line)]
Said = Annotated[Text, refusing(validate_not_blank)]

"""What callers of the API send."""

from __future__ import annotations

from ninja import Schema
from pydantic import ConfigDict


class Body(Schema):
    """The fields of a request; one that is not known is refused: a misspelt name would change nothing and look done."""

    model_config = ConfigDict(extra="forbid")

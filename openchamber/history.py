"""Where the histories of the apps' models are kept."""

from __future__ import annotations

from functools import cache
from typing import Any

from django.db.models import Model


@cache
def versions_of(model: type[Model]) -> Any:
    """The model of a model's history entries. `model.history` makes a manager's class anew each time it is asked."""
    return model.history.model  # type: ignore[attr-defined]

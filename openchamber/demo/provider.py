"""The demo's model as OpenCode sees it: a provider on this process's own address, with a key of its own."""

from __future__ import annotations

import secrets
from collections.abc import Mapping
from typing import Any

PROVIDER, MODEL = "openchamber-demo", "demo"
NAME = f"{PROVIDER}/{MODEL}"
# Only the OpenCode that this process starts is told it.
KEY = secrets.token_urlsafe(32)
PATH = "/demo/v1"
LIMITS = {"context": 128_000, "output": 4_000}  # tokens

# The demo needs no network, so OpenCode must not wait for one.
ENVIRONMENT = {f"OPENCODE_DISABLE_{name}": "1" for name in ("MODELS_FETCH", "AUTOUPDATE", "LSP_DOWNLOAD")}


def added_to(configuration: Mapping[str, Any], url: str) -> dict[str, Any]:
    """An OpenCode configuration with the demo's model as the one to use; all else in it stays as it is.

    `url` is where this process is served. Raises `ValueError` when there is no place to add it.
    """
    providers = configuration.get("provider", {})
    enabled = configuration.get("enabled_providers")
    if not isinstance(providers, Mapping) or not isinstance(enabled, list | None):
        raise ValueError(
            "In OPENCODE_CONFIG_CONTENT `provider` must be a JSON object and `enabled_providers`, if there, a list."
        )
    added = {**configuration, "provider": {**providers, PROVIDER: provider(url)}, "model": NAME, "small_model": NAME}
    if enabled is not None:
        added["enabled_providers"] = [*enabled, PROVIDER]
    return added


def provider(url: str) -> dict[str, Any]:
    """The provider's entry. The package that it names is part of OpenCode: nothing is downloaded."""
    return {
        "npm": "@ai-sdk/openai-compatible",
        "name": "OpenChamber",
        "options": {"baseURL": f"{url}{PATH}", "apiKey": KEY},
        "models": {MODEL: {"name": "Demo (offline, no real model)", "tool_call": True, "limit": LIMITS}},
    }

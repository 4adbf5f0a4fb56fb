"""The API's own page: the OpenAPI document, read out for people, within the content security policy."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from itertools import groupby
from typing import Any

from django.contrib.auth.decorators import login_not_required
from django.http import HttpRequest, HttpResponse
from django.shortcuts import render
from django.views.decorators.http import require_safe

from openchamber.api import api

Schema = Mapping[str, Any]


@dataclass(frozen=True, slots=True)
class Field:
    """A parameter, or a field of a body."""

    name: str
    kind: str
    required: bool
    description: str


@dataclass(frozen=True, slots=True)
class Operation:
    """One method of one path: what it takes, and what it answers by status."""

    tag: str
    method: str
    path: str
    description: str
    parameters: list[Field]
    body: list[Field]
    answers: list[tuple[str, str, list[Field]]]


@login_not_required
@require_safe
def api_docs(request: HttpRequest) -> HttpResponse:
    """Every operation, grouped by what it is about."""
    ordered = sorted(operations(api.get_openapi_schema()), key=lambda operation: operation.tag)
    groups = [(tag, list(members)) for tag, members in groupby(ordered, key=lambda operation: operation.tag)]
    return render(request, "openchamber/api_docs.html", {"groups": groups})


def operations(document: Schema) -> Iterator[Operation]:
    """The operations of an OpenAPI document, in its order."""
    for path, methods in document["paths"].items():
        for method, told in methods.items():
            yield Operation(
                tag=(told.get("tags") or [""])[0],
                method=method.upper(),
                path=path,
                description=told.get("description") or told["summary"],
                parameters=[
                    Field(row["name"], kind(row["schema"]), row["required"], row.get("description", ""))
                    for row in told["parameters"]
                ],
                body=fields(document, told.get("requestBody", {})),
                answers=[
                    (str(status), answer["description"], fields(document, answer))
                    for status, answer in told["responses"].items()
                    if status != "default"
                ],
            )


def fields(document: Schema, holder: Schema) -> list[Field]:
    """The fields of the JSON that a body or an answer holds; of a page, those of its rows."""
    schema = resolved(document, holder.get("content", {}).get("application/json", {}).get("schema", {}))
    required = schema.get("required", [])
    return [
        Field(name, kind(field), name in required, field.get("description", ""))
        for name, field in schema.get("properties", {}).items()
    ]


def resolved(document: Schema, schema: Schema) -> Schema:
    """The schema itself, where only its name stands."""
    name = schema.get("$ref", "").rpartition("/")[2]
    found: Schema = document["components"]["schemas"][name] if name else schema
    return found


def kind(schema: Schema) -> str:
    """A schema in a few words: `string`, `integer or null`, `list of NoteOut`, `"once" or "always"`."""
    if "$ref" in schema:
        return str(schema["$ref"].rpartition("/")[2])
    if "enum" in schema:
        return " or ".join(f'"{value}"' for value in schema["enum"])
    if "anyOf" in schema:
        return " or ".join(kind(one) for one in schema["anyOf"])
    if schema.get("type") == "array":
        return f"list of {kind(schema.get('items', {}))}"
    return str(schema.get("type", "anything"))

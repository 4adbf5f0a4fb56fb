"""The API's own page: the OpenAPI document, read out for people, within the content security policy."""

from __future__ import annotations

import json
import re
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from itertools import groupby
from typing import Any

from django.contrib.auth.decorators import login_not_required
from django.http import HttpRequest, HttpResponse
from django.shortcuts import render
from django.views.decorators.http import require_safe

from openchamber.api import PROBLEMS, api

Schema = Mapping[str, Any]


@dataclass(frozen=True, slots=True)
class Field:
    """A parameter, or a field of a body; `place` is where a parameter stands."""

    name: str
    kind: str
    required: bool
    description: str
    place: str = ""


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
    example: str  # the body of a call, as JSON; "" where there is none

    @property
    def summary(self) -> str:
        """The first sentence of its description; what stands in `code` ends none."""
        first = re.match(r"(?:`[^`]*`|[^`])*?[.:](?=\s)", self.description)
        return first[0] if first else self.description

    @property
    def url(self) -> str:
        """Path and required query of a call, with something in the place of what one has to put in."""
        query = "&".join(f"{field.name}=…" for field in self.parameters if field.required and field.place == "query")
        return f"{self.path}?{query}" if query else self.path


@login_not_required
@require_safe
def api_docs(request: HttpRequest) -> HttpResponse:
    """Every operation, grouped by what it is about."""
    ordered = sorted(operations(api.get_openapi_schema()), key=lambda operation: operation.tag)
    groups = [(tag, list(members)) for tag, members in groupby(ordered, key=lambda operation: operation.tag)]
    context = {"groups": groups, "root": request.build_absolute_uri("/").rstrip("/"), "problems": PROBLEMS}
    return render(request, "openchamber/api_docs.html", context)


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
                    Field(row["name"], kind(row["schema"]), row["required"], row.get("description", ""), row["in"])
                    for row in told["parameters"]
                ],
                body=fields(document, told.get("requestBody", {})),
                answers=[
                    (str(status), answer["description"], fields(document, answer))
                    for status, answer in told["responses"].items()
                    if "$ref" not in answer  # what every operation may answer is said once
                ],
                example=example(document, told.get("requestBody", {})),
            )


def fields(document: Schema, holder: Schema) -> list[Field]:
    """The fields of the JSON that a body or an answer holds; of a page, those of its rows."""
    schema = resolved(document, holder.get("content", {}).get("application/json", {}).get("schema", {}))
    required = schema.get("required", [])
    return [
        Field(name, kind(field), name in required, field.get("description", ""))
        for name, field in schema.get("properties", {}).items()
    ]


def example(document: Schema, body: Schema) -> str:
    """The smallest body that has what it must have, as JSON."""
    schema = body.get("content", {}).get("application/json", {}).get("schema")
    return json.dumps(sample(document, schema), ensure_ascii=False) if schema else ""


def sample(document: Schema, schema: Schema) -> Any:
    """Something of this schema."""
    schema = resolved(document, schema)
    if "enum" in schema:
        return schema["enum"][0]
    if "anyOf" in schema:
        return sample(document, schema["anyOf"][0])
    if schema.get("type") == "object":
        fields = schema.get("properties", {})
        names = schema.get("required") or list(fields)[:1]
        return {name: sample(document, fields[name]) for name in names}
    simple = {"string": "…", "integer": 1, "number": 1, "boolean": True, "array": []}
    return simple.get(str(schema.get("type")))


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

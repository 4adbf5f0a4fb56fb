"""Every operation of the OpenAPI document on a real `serve`: whatever it is asked, it answers as documented."""

from __future__ import annotations

from itertools import count
from pathlib import Path
from typing import Any

import pytest
import requests
import schemathesis
from hypothesis import HealthCheck, Phase, given, settings
from schemathesis import GenerationMode
from schemathesis.checks import (
    content_type_conformance,
    not_a_server_error,
    response_schema_conformance,
    status_code_conformance,
)

from tests.agent_server.opencode_process import OpenCodeProcess
from tests.agent_server.serve_process import TOKEN, ServeProcess
from tests.environment import ROUNDS

CHECKS = [not_a_server_error, status_code_conformance, content_type_conformance, response_schema_conformance]
THINGS = {"notes": {"body": "A note"}, "todos": {"text": "A todo"}, "plans": {"body": "# A plan"}}


class Inhabited:
    """A `serve` with something in it, so that a made-up request can also reach what is there."""

    def __init__(self, serve: ServeProcess, opencode: OpenCodeProcess, root: Path) -> None:
        self.serve, self.root, self.numbers = serve, root, count(1)
        self.shared = self.project()
        title = {"title": "A session"}
        self.session = str(serve.request("POST", f"/projects/{self.shared}/sessions", title)["id"])
        opencode.prompt(self.session, "Hello")
        self.message = str(opencode.messages(self.session)[0]["info"]["id"])

    def project(self) -> str:
        """The slug of a new project."""
        directory = self.root / f"place-{next(self.numbers)}"
        directory.mkdir()
        return str(self.serve.request("POST", "/projects", {"directory": str(directory)})["slug"])

    def thing(self, kind: str) -> str:
        """The id of a new note, todo or plan."""
        return str(self.serve.request("POST", f"/projects/{self.shared}/{kind}", THINGS[kind])["id"])

    def parameters(self, path: str) -> dict[str, str]:
        """What the path's parameters stand for, as far as it exists. What may be removed is made anew."""
        known = {"p": self.shared, "s": self.session, "message_id": self.message, "kind": "note"}
        known["kind"] = "notes" if "/history" in path else "note"
        if "{project}" in path:
            known["project"] = self.project()
        if "{key}" in path:
            known["key"] = self.thing(next((kind for kind in THINGS if f"/{kind}/" in path), "notes"))
        return {name: value for name, value in known.items() if f"{{{name}}}" in path}


@pytest.mark.parametrize("mode", [GenerationMode.POSITIVE, GenerationMode.NEGATIVE], ids=["sense", "nonsense"])
def test_every_operation_answers_as_documented(
    serve: ServeProcess, opencode: OpenCodeProcess, tmp_path: Path, subtests: Any, mode: GenerationMode
) -> None:
    inhabited = Inhabited(serve, opencode, tmp_path.resolve())
    document = schemathesis.openapi.from_url(f"{serve.url}/api/openapi.json")
    with requests.Session() as program:
        program.headers["Authorization"] = f"Bearer {TOKEN}"
        program.trust_env = False
        for found in document.get_all_operations():
            operation = found.ok()
            if mode == GenerationMode.NEGATIVE and not (operation.body or operation.query or operation.path_parameters):
                continue  # there is nothing to say it wrongly in
            with subtests.test(operation.label):
                ask(operation, inhabited.parameters(operation.path), program, mode)
    assert serve.running
    assert "Traceback" not in serve.output.text, serve.output.text


def ask(operation: Any, parameters: dict[str, str], program: requests.Session, mode: GenerationMode) -> None:
    """Make up requests to `operation` about what exists, as far as `parameters` name it; look at each answer."""

    @settings(
        max_examples=ROUNDS,
        deadline=None,
        database=None,
        derandomize=True,
        phases=[Phase.generate],
        suppress_health_check=list(HealthCheck),
    )
    @given(case=operation.as_strategy(generation_mode=mode, path_parameters=parameters or None))
    def answers_as_documented(case: Any) -> None:
        case.call_and_validate(session=program, checks=CHECKS, timeout=30)

    answers_as_documented()

"""Fifty writers at once, each through a connection of its own: nothing is lost, nothing fails."""

from __future__ import annotations

import os
from collections import Counter
from collections.abc import Callable, Iterator
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import Any

import httpx2
import pytest

from tests.agent_server.serve_process import TOKEN, Installation, ServeProcess
from tests.environment import ROUNDS
from tests.postgresql import fresh_database

WRITERS = 50


@pytest.fixture(scope="module")
def serve(tmp_path_factory: pytest.TempPathFactory) -> Iterator[ServeProcess]:
    """OpenChamber without an agent server, on the database of the tests."""
    directory = tmp_path_factory.mktemp("writers") / "installation"
    process = ServeProcess(Installation(directory, environment=fresh_database(f"writers_{os.getpid()}"))).start()
    try:
        yield process
    finally:
        process.stop()


@pytest.fixture
def path(serve: ServeProcess, tmp_path: Path) -> str:
    """The API path of a fresh project."""
    return f"/projects/{serve.request('POST', '/projects', {'directory': str(tmp_path)})['slug']}"


@pytest.fixture
def all_at_once(serve: ServeProcess) -> Callable[..., None]:
    """Run `write(client, writer)` in fifty threads (or `writers`); a failure of any is a failure."""

    def run(write: Callable[[httpx2.Client, int], None], writers: int = WRITERS) -> None:
        def writer(number: int) -> None:
            headers = {"Authorization": f"Bearer {TOKEN}"}
            with httpx2.Client(base_url=f"{serve.url}/api", headers=headers, timeout=60, trust_env=False) as client:
                write(client, number)

        with ThreadPoolExecutor(writers) as pool:
            list(pool.map(writer, range(writers)))

    return run


def all_of(serve: ServeProcess, path: str) -> list[Any]:
    """Every row of a list, page by page."""
    rows, cursor = [], ""
    while cursor is not None:
        answer = serve.request("GET", path, limit=200, cursor=cursor)
        rows += answer["results"]
        cursor = answer["next"]
    return rows


@pytest.mark.soak
def test_every_new_note_todo_and_plan_is_there(
    serve: ServeProcess, path: str, all_at_once: Callable[..., None]
) -> None:
    kinds = [("notes", "body"), ("todos", "text"), ("plans", "body")]

    def write(client: httpx2.Client, writer: int) -> None:
        for number in range(ROUNDS):
            kind, field = kinds[(writer + number) % 3]
            answer = client.post(f"{path}/{kind}", json={field: f"writer {writer} number {number}"})
            assert answer.status_code == 201, answer.text

    all_at_once(write)
    written = [row[field] for kind, field in kinds for row in all_of(serve, f"{path}/{kind}")]
    assert sorted(written) == sorted(f"writer {w} number {n}" for w in range(WRITERS) for n in range(ROUNDS))
    found = serve.request("GET", "/search", q=f'"writer 7 number {ROUNDS - 1}"')["results"]
    assert [hit["title"] for hit in found] == [f"writer 7 number {ROUNDS - 1}"]


@pytest.mark.soak
def test_edits_of_one_note_lose_no_line_and_every_stale_one_is_told(
    serve: ServeProcess, path: str, all_at_once: Callable[..., None]
) -> None:
    writers, edits = 10, min(ROUNDS, 20)  # every edit makes those of all others stale
    note = f"{path}/notes/{serve.request('POST', f'{path}/notes', {'body': 'lines:'})['id']}"
    stale: Counter[int] = Counter()

    def write(client: httpx2.Client, writer: int) -> None:
        for number in range(edits):
            while True:
                seen = client.get(note)
                body = f"{seen.json()['body']}\n{writer}.{number}"
                answer = client.patch(note, json={"body": body}, headers={"If-Match": seen.headers["ETag"]})
                assert answer.status_code in (200, 412), answer.text
                stale[answer.status_code] += 1
                if answer.status_code == 200:
                    break
                assert answer.json()["current"]["revision"] != seen.json()["revision"]

    all_at_once(write, writers)
    lines = serve.request("GET", note)["body"].split("\n")
    assert sorted(lines[1:]) == sorted(f"{w}.{n}" for w in range(writers) for n in range(edits))
    history = all_of(serve, f"{note}/history")
    assert len(history) == len(lines)


@pytest.mark.soak
def test_moving_ticking_and_adding_todos_at_once_keeps_every_one(
    serve: ServeProcess, path: str, all_at_once: Callable[..., None]
) -> None:
    first = [serve.request("POST", f"{path}/todos", {"text": f"old {number}"})["id"] for number in range(10)]

    def write(client: httpx2.Client, writer: int) -> None:
        for number in range(ROUNDS):
            mine = client.post(f"{path}/todos", json={"text": f"{writer}.{number}"})
            assert mine.status_code == 201, mine.text
            moved = client.post(f"{path}/todos/{mine.json()['id']}/move", json={"before": first[number % 10]})
            assert moved.status_code == 200, moved.text
            ticked = client.patch(f"{path}/todos/{first[writer % 10]}", json={"done": writer % 2 == 0})
            assert ticked.status_code == 200, ticked.text

    all_at_once(write)
    todos = all_of(serve, f"{path}/todos")
    assert len(todos) == 10 + WRITERS * ROUNDS
    order = [todo["text"] for todo in todos]
    assert [text for text in order if text.startswith("old")] == [f"old {number}" for number in range(10)]
    assert order[-1] == "old 9"

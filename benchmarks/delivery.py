"""What delivery costs, measured in one run on the real OpenCode: `make benchmarks`, or this file alone.

Ratios and figures of one run on one machine; the table goes to docs/benchmarks.md by hand.
"""

from __future__ import annotations

import json
import os
import statistics
import sys
import tempfile
import time
from pathlib import Path
from typing import Any

ROOT = Path(__file__).resolve().parent.parent
sys.path.insert(0, str(ROOT))
FOLDER = Path(tempfile.mkdtemp(prefix="openchamber-benchmark-"))
os.environ.setdefault("OPENCHAMBER_DATA_DIR", str(FOLDER / "installation" / "data"))
os.environ.setdefault("DJANGO_SETTINGS_MODULE", "openchamber.settings")

import django  # noqa: E402

django.setup()

from django.db import connection  # noqa: E402
from django.db.backends.signals import connection_created  # noqa: E402
from django.test.utils import CaptureQueriesContext  # noqa: E402
from django.utils import timezone  # noqa: E402

from benchmarks._timing import milliseconds, timed  # noqa: E402
from openchamber.models import AgentServer, Session  # noqa: E402
from openchamber.sessions import assembly, context  # noqa: E402
from openchamber.sessions.carriers import Carried, Carrier  # noqa: E402
from openchamber.sessions.context import Frame, Item  # noqa: E402
from openchamber.sessions.delivery import Prompt, send_message  # noqa: E402
from openchamber.sessions.events import Watcher  # noqa: E402
from openchamber.sessions.wire import Event  # noqa: E402
from openchamber.signals import context_version_wanted, context_wanted  # noqa: E402
from tests.agent_server.chamber import Chamber, wait_for  # noqa: E402
from tests.agent_server.crossing import Crossing  # noqa: E402
from tests.agent_server.opencode_process import OpenCodeProcess, git_project  # noqa: E402
from tests.agent_server.scripted_model import ScriptedModel  # noqa: E402
from tests.agent_server.serve_process import Installation, ServeProcess  # noqa: E402

SENDS = 60
EDITS = 100


def report(name: str, figure: str) -> None:
    """One row of the table."""
    print(f"| {name} | {figure} |", flush=True)


def send_overhead(chamber: Chamber, crossing: Crossing) -> None:
    """The same send through us and made directly, alternating, until the agent server has taken it."""
    chamber.note("Berths are named by four letters, never three.")
    through, direct = chamber.session(), chamber.session()
    chamber.send(through, "warm up")
    chamber.opencode.prompt(direct, "warm up")
    ours: list[float] = []
    theirs: list[float] = []
    passed = crossing.count("POST") + crossing.count("GET")
    for number in range(SENDS):
        body = {"text": f"through {number}", "agent": "build", "model": "scripted/scripted"}
        ours.append(timed(lambda body=body: chamber.api("POST", f"/sessions/{through}/messages", body, status=202)))
        chamber.opencode.wait_idle(through)
        theirs.append(timed(lambda number=number: chamber.opencode.prompt(direct, f"direct {number}", wait=False)))
        chamber.opencode.wait_idle(direct)
    requests = (crossing.count("POST") + crossing.count("GET") - passed) / SENDS
    report("a send through OpenChamber, nothing owed", milliseconds(ours))
    report("the same send made directly", milliseconds(theirs))
    extra = statistics.median(ours) - statistics.median(theirs)
    report("overhead of a send (p50)", f"{extra * 1000:.1f} ms")
    report("requests to OpenCode per send through us, nothing owed", f"{requests:.2f}")
    metadata = chamber.opencode.session(through)["metadata"]
    report("bytes of metadata added to a session", str(len(json.dumps(metadata, separators=(",", ":")))))


def queries_of_a_send(chamber: Chamber) -> None:
    """What a send asks of the database, in whichever thread: with nothing owed, and with one edit owed."""
    session = chamber.session()
    note = chamber.note("The tide table is read at six.")
    chamber.send(session, "warm up")
    chamber.send(session, "look once in full")
    asked: list[str] = []

    def count(execute: Any, sql: str, *more: Any) -> Any:
        asked.append(sql)
        return execute(sql, *more)

    def listen(connection: Any, **_more: Any) -> None:
        connection.execute_wrappers.append(count)

    connection_created.connect(listen, weak=False)
    connection.close()
    for what in ("nothing owed", "one edit owed"):
        if what == "one edit owed":
            chamber.edit_note(note, "The tide table is read at seven.")
        asked.clear()
        sent = send_message(Session.objects.get(pk=session), Prompt(f"Say something: {what}."))
        assert bool(sent.delivery) == (what == "one edit owed")
        queries = sum(sql.startswith(("SELECT", "INSERT", "UPDATE", "DELETE")) for sql in asked[1:])
        report(f"queries of a send through us, {what}", str(queries))
        chamber.opencode.wait_idle(session)
    connection_created.disconnect(listen)


def items(count: int) -> list[Item]:
    """Index lines, as a large memory has them."""
    now = timezone.now()
    return [
        Item(f"memory:default:user:{n}", "index", f"Entry {n}", f"Entry {n} (fact)", "About the user", now)
        for n in range(count)
    ]


def decision() -> None:
    """How long it takes to know that nothing is owed, with few items and with many."""
    server, _new = AgentServer.objects.get_or_create(url="http://127.0.0.1:9")
    server.connected(by=f"{os.uname().nodename}:{os.getpid()}:1")
    for count in (10, 260, 10_000):
        many = items(count)
        session = Session.objects.create(id=f"ses_decision_{count}", server=server)
        carried = Carried().after(Carrier("d", "s", {item.key: item.revision for item in many}), "msg_1")
        session.carried, session.carried_at = carried.stored(), timezone.now()
        session.save()

        def answer(many: list[Item] = many, **_asked: Any) -> tuple[list[Item], list[str]]:
            return many, []

        def version(**_asked: Any) -> str:
            return "1"

        context_wanted.connect(answer, weak=False)
        context_version_wanted.connect(version, weak=False)
        whole = timed(lambda session=session: assembly.assemble(session, "build"))
        assert assembly.owed_nothing(session, "build")
        quick = [timed(lambda session=session: assembly.owed_nothing(session, "build")) for _round in range(200)]
        with CaptureQueriesContext(
            connection,
        ) as queries:
            assembly.owed_nothing(session, "build")
        report(f"decision, {count:,} items, nothing changed", f"{milliseconds(quick)}, {len(queries)} query")
        report(f"decision, {count:,} items, looked at in full", f"{whole * 1000:.1f} ms")
        context_wanted.disconnect(answer)
        context_version_wanted.disconnect(version)


def characters_told() -> None:
    """A hundred sends with one edit each: what travels, against whole blocks every time."""
    now = timezone.now()
    notes = {n: f"Note {n}. " + "What was agreed on stands here. " * 12 for n in range(40)}

    def wanted() -> list[Item]:
        return [Item(f"knowledge:note:{n}", "note", text[:40], text, "Notes", now) for n, text in notes.items()]

    frame = Frame("ses_1", "secret", 24_000)
    carried = Carried()
    told = whole = 0
    for number in range(EDITS):
        block = context.assemble(wanted(), [], carried, frame)
        full = context.assemble(wanted(), [], Carried(), frame)
        assert block is not None
        assert full is not None
        told, whole = told + len(block.text), whole + len(full.text)
        carried = carried.after(Carrier("d", "s", block.items, removed=frozenset(block.removed)), f"msg_{number}")
        notes[number % 40] += f" Edit {number}."
    report(f"characters told over {EDITS} sends with one edit each", f"{told:,} of {whole:,}: {told / whole:.1%}")


def restore_time(chamber: Chamber, crossing: Crossing) -> None:
    """From `session.compacted` on the wire to the restore that OpenCode has taken."""
    spent = []
    for number in range(10):
        session = chamber.session()
        chamber.send(session, f"before {number}")
        chamber.opencode.compact(session)
        time.sleep(1)  # looking for it would be in its way
        wait_for(lambda session=session: chamber.restores(session), what="the restore")
        compacted = crossing.last("EVENT", "session.compacted")
        spent.append(crossing.last("POST", f"/{session}/prompt_async") - compacted)
    report("from `session.compacted` to the accepted restore", milliseconds(spent))


def unrelated_events() -> None:
    """Ten thousand events that are none of our business."""
    watcher = Watcher(AgentServer.objects.all()[0])
    session = {"info": {"id": "ses_other", "title": "x", "time": {"updated": 1}}, "sessionID": "ses_other"}
    kinds = [
        Event("message.part.delta", "/p", {"sessionID": "ses_other", "delta": "word"}),
        Event("message.updated", "/p", {"sessionID": "ses_other", "info": {"id": "msg_1", "role": "user"}}),
        Event("session.updated", "/p", session),
        Event("session.idle", "/p", {"sessionID": "ses_other"}),
    ]
    with CaptureQueriesContext(connection) as queries:
        spent = timed(lambda: [watcher.see(kinds[number % 4]) for number in range(10_000)])
    report("10,000 unrelated events", f"{spent * 1000:.0f} ms, {len(queries)} queries, 0 requests")


def main() -> None:
    """Run everything and print one table."""
    print("| what | figure |\n| --- | --- |")
    with ScriptedModel() as model:
        opencode = OpenCodeProcess(home=FOLDER / "opencode", model_url=model.url).start()
        try:
            with Crossing(opencode) as crossing:
                password = {"OPENCHAMBER_OPENCODE_PASSWORD": opencode.password}
                installation = Installation(FOLDER / "installation", environment=password)
                serve = ServeProcess(installation, "--opencode-url", crossing.url).start()
                try:
                    wait_for(lambda: crossing.count("GET", "/global/event"), what="the watcher")
                    chamber = Chamber(serve, opencode, model, git_project(FOLDER / "project"))
                    send_overhead(chamber, crossing)
                    queries_of_a_send(chamber)
                    restore_time(chamber, crossing)
                finally:
                    serve.stop()
        finally:
            opencode.close()
    decision()
    characters_told()
    unrelated_events()


if __name__ == "__main__":
    main()

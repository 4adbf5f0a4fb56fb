"""What a page of a long conversation costs, and a token of a running answer. `make benchmarks`, or this file alone.

Figures of one run on one machine; the table goes to docs/benchmarks.md by hand.
"""

from __future__ import annotations

import os
import sys
import tempfile
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent
sys.path.insert(0, str(ROOT))
FOLDER = Path(tempfile.mkdtemp(prefix="openchamber-benchmark-"))
os.environ.setdefault("OPENCHAMBER_DATA_DIR", str(FOLDER / "ours"))
os.environ.setdefault("DJANGO_SETTINGS_MODULE", "openchamber.settings")

import django  # noqa: E402

django.setup()

import httpx2  # noqa: E402
from django.db import connection  # noqa: E402
from django.test.utils import CaptureQueriesContext  # noqa: E402

from benchmarks._timing import milliseconds, timed  # noqa: E402
from openchamber.models import AgentServer  # noqa: E402
from openchamber.sessions.following import Follower  # noqa: E402
from openchamber.sessions.wire import Event  # noqa: E402
from tests.agent_server.chamber import Chamber  # noqa: E402
from tests.agent_server.opencode_process import OpenCodeProcess, git_project  # noqa: E402
from tests.agent_server.scripted_model import ScriptedModel  # noqa: E402
from tests.agent_server.serve_process import Installation, ServeProcess  # noqa: E402

MESSAGES = int(os.environ.get("MESSAGES", "1000"))
LOOKS = 40
TEXT = "Where do we read the tide table? **Here**, in `tides.py`:\n\n```python\nprint(1)\n```\n\n- one\n- two\n"


def long_conversation(chamber: Chamber, browser: httpx2.Client) -> None:
    """The first answer of a page with many messages, and the look that follows a change."""
    for count in (10, MESSAGES):
        session = chamber.session()
        for number in range(count):
            parts = [{"type": "text", "text": f"{number}. {TEXT}"}]
            chamber.opencode.request("POST", f"/session/{session}/message", {"noReply": True, "parts": parts})
        address = f"/projects/{chamber.slug}/sessions/{session}/"
        page = browser.get(address)
        assert page.status_code == 200
        newest = f"/session/{session}/message"
        asked = [timed(lambda path=newest: chamber.opencode.request("GET", path, limit=50)) for _look in range(LOOKS)]
        took = [timed(lambda address=address: browser.get(address)) for _look in range(LOOKS)]
        print(f"| session page, {count:,} messages | {milliseconds(took)}, {len(page.content):,} bytes |")
        print(f"| of that OpenCode’s answer with the newest messages | {milliseconds(asked)} |", flush=True)


def tokens() -> None:
    """Ten thousand tokens of an answer that somebody looks at."""
    follower = Follower(AgentServer(url="http://127.0.0.1:9"))
    follower.listen("ses_1", lambda: None)
    part = {"id": "prt_1", "type": "text", "text": "", "sessionID": "ses_1", "time": {"start": 1}}
    follower.see(Event("message.part.updated", "/p", {"sessionID": "ses_1", "part": part}))
    delta = Event("message.part.delta", "/p", {"sessionID": "ses_1", "partID": "prt_1", "delta": "word "})
    with CaptureQueriesContext(connection) as queries:
        spent = timed(lambda: [follower.see(delta) for _token in range(10_000)])
    print(f"| 10,000 tokens of a running answer | {spent * 1000:.0f} ms, {len(queries)} queries |", flush=True)


def main() -> None:
    """Run everything and print one table."""
    print("| what | figure |\n| --- | --- |")
    with ScriptedModel() as model:
        opencode = OpenCodeProcess(home=FOLDER / "opencode", model_url=model.url).start()
        serve = ServeProcess(Installation(FOLDER / "installation", opencode=opencode)).start()
        try:
            chamber = Chamber(serve, opencode, model, git_project(FOLDER / "project"))
            browser = serve.signed_in()
            long_conversation(chamber, browser)
            browser.close()
        finally:
            serve.stop()
            opencode.close()
    tokens()


if __name__ == "__main__":
    main()

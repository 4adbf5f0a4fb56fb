"""A PostgreSQL server of our own: `python -m tests.postgresql COMMAND...` runs a command on it, pytest for instance.

It lives in a temporary directory, listens on a free port of this machine only, and is gone afterwards.
"""

from __future__ import annotations

import os
import pwd
import shutil
import subprocess
import sys
import tempfile
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from tests.agent_server.opencode_process import free_port

VARIABLE = "OPENCHAMBER_TEST_DATABASE_URL"


def programs() -> Path:
    """Where PostgreSQL's server programs lie: on the path, else the newest of Debian's."""
    if found := shutil.which("initdb"):
        return Path(found).resolve().parent
    versions = sorted(Path("/usr/lib/postgresql").glob("*/bin/initdb"), key=lambda path: int(path.parts[-3]))
    if not versions:
        sys.exit("PostgreSQL is missing. On Debian: apt install postgresql")
    return versions[-1].parent


@contextmanager
def server() -> Iterator[str]:
    """A running server; the URL of its database, without the database's name."""
    # The server refuses to run as root, so there it runs as the user that Debian's package makes.
    user = "postgres" if os.getuid() == 0 else None
    directory, port = Path(tempfile.mkdtemp(prefix="openchamber-postgresql-")), free_port()
    if user:
        shutil.chown(directory, pwd.getpwnam(user).pw_uid)

    def run(program: str, *arguments: str) -> None:
        command = [str(programs() / program), *arguments]
        subprocess.run(command, check=True, stdout=subprocess.DEVNULL, user=user, cwd=directory)

    # Nothing here must survive a crash of the machine, and waiting for the disk is most of the time.
    options = f"-p {port} -k {directory} -c listen_addresses=127.0.0.1 -c fsync=off -c max_connections=200"
    try:
        run("initdb", "-D", "data", "-U", "openchamber", "-A", "trust", "-E", "UTF8", "--locale=C.UTF-8")
        run("pg_ctl", "-D", "data", "-l", "log", "-w", "-o", options, "start")
        yield f"postgres://openchamber@127.0.0.1:{port}"
        run("pg_ctl", "-D", "data", "-m", "immediate", "stop")
    finally:
        shutil.rmtree(directory, ignore_errors=True)


def fresh_database(name: str) -> dict[str, str]:
    """The environment of a process with an empty database of its own; nothing where the tests run on SQLite."""
    url = os.environ.get(VARIABLE)
    if not url:
        return {}
    import psycopg

    with psycopg.connect(url, autocommit=True) as connection:
        connection.execute(f'DROP DATABASE IF EXISTS "{name}" WITH (FORCE)')
        connection.execute(f'CREATE DATABASE "{name}"')
    return {"DATABASE_URL": f"{url.rsplit('/', 1)[0]}/{name}"}


def main(command: list[str]) -> int:
    """Run `command` with the server's address in its environment; its exit status."""
    with server() as url:
        return subprocess.run(command, env={**os.environ, VARIABLE: f"{url}/postgres"}, check=False).returncode


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))

"""What the doctor examines of the runtime itself: database, data directory, agent servers, clients, tokens."""

from __future__ import annotations

import os
import shutil
import sqlite3
from collections.abc import Iterator
from datetime import datetime, timedelta

from django.conf import settings
from django.core import checks
from django.db import DatabaseError, connection, transaction
from django.db.migrations.executor import MigrationExecutor
from django.db.migrations.recorder import MigrationRecorder
from django.db.models import Max
from django.template.defaultfilters import filesizeformat
from django.utils import timezone
from django.utils.timesince import timesince
from django.utils.translation import gettext as _
from django.utils.translation import ngettext

from openchamber.doctor import Finding, examination, fail, ok, warn
from openchamber.management.database import is_missing, unreachable
from openchamber.models import AgentServer, ApiToken, Delivery, Lease, Session
from openchamber.sessions import program
from openchamber.sessions.opencode import AgentServerError, OpenCode, client_for
from openchamber.sessions.servers import PLUGIN

KNOWN_VERSIONS = "1.18"  # of OpenCode, tested
LITTLE_SPACE = 200 * 1024 * 1024  # bytes
LONG_UNUSED = timedelta(days=90)
LONG_OPEN = timedelta(minutes=5)  # a delivery whose sender gave up so long ago should have been settled


# What needs no rows --------------------------------------------------------------------------


@examination(reads_rows=False)
def configuration() -> Iterator[Finding]:
    """Django's system checks and ours."""
    topic = _("Configuration")
    messages = [message for message in checks.run_checks() if not message.is_silenced()]
    for message in messages:
        found = fail if message.is_serious() else warn
        yield found(topic, str(message.msg), str(message.hint or ""))
    if not messages:
        yield ok(topic, _("Nothing contradicts anything."))


@examination(reads_rows=False)
def data_directory() -> Iterator[Finding]:
    """Where the database and the secret key are."""
    topic, path = _("Data directory"), settings.DATA_DIR
    free = shutil.disk_usage(path).free
    if not os.access(path, os.W_OK | os.X_OK):
        yield fail(topic, _("%(path)s cannot be written to.") % {"path": path}, _("Run: chmod u+rwx %s") % path)
    elif free < LITTLE_SPACE:
        says = _("%(path)s: only %(free)s are free.") % {"path": path, "free": filesizeformat(free)}
        yield warn(topic, says, _("Make room, or move it: OPENCHAMBER_DATA_DIR says where it is."))
    else:
        yield ok(topic, _("%(path)s, with %(free)s free.") % {"path": path, "free": filesizeformat(free)})


@examination(reads_rows=False)
def database() -> Iterator[Finding]:
    """Reachable, up to date, writable, whole, and with what search needs."""
    topic = _("Database")
    if is_missing():
        says = _("There is no database yet. Start serve once, or say where it is (OPENCHAMBER_DATA_DIR).")
        yield fail(topic, says, _("Start OpenChamber once (make run), or run .venv/bin/python manage.py migrate."))
        return
    mend = _("Check DATABASE_URL, and that the server runs and its disk has room.")
    if reason := unreachable():
        yield fail(topic, _("The database cannot be opened: %s.") % reason, mend)
        return
    try:
        executor = MigrationExecutor(connection)
        if pending := len(executor.migration_plan(executor.loader.graph.leaf_nodes())):
            says = ngettext("%d migration is missing.", "%d migrations are missing.", pending) % pending
            yield fail(topic, says, _("Start OpenChamber once (make run), or run .venv/bin/python manage.py migrate."))
            return
        write_and_forget()
        yield from damage() if connection.vendor == "sqlite" else missing_extension()
    except DatabaseError as error:
        yield fail(topic, str(error), mend)
        return
    version = sqlite3.sqlite_version if connection.vendor == "sqlite" else postgresql_version()
    yield ok(topic, _("%(name)s %(version)s, up to date.") % {"name": connection.display_name, "version": version})


def write_and_forget() -> None:
    """Write a row and take it back; raises `DatabaseError` when that cannot be done."""
    with transaction.atomic():
        Lease.objects.create(name="doctor", until=timezone.now())
        transaction.set_rollback(True)


def damage() -> Iterator[Finding]:
    """What SQLite's own look at its file finds."""
    with connection.cursor() as cursor:
        cursor.execute("PRAGMA quick_check(1)")
        answer = str(cursor.fetchone()[0])
    if answer != "ok":
        yield fail(_("Database"), answer, _("Stop OpenChamber and put a backup in its place."))


def missing_extension() -> Iterator[Finding]:
    """PostgreSQL's search needs trigrams."""
    with connection.cursor() as cursor:
        cursor.execute("SELECT 1 FROM pg_extension WHERE extname = 'pg_trgm'")
        if cursor.fetchone() is None:
            mend = _("As a superuser of the database run: CREATE EXTENSION pg_trgm")
            yield fail(_("Search"), _("The extension pg_trgm is missing."), mend)


def postgresql_version() -> str:
    """As the server says it: 16.3."""
    with connection.cursor() as cursor:
        cursor.execute("SHOW server_version")
        return str(cursor.fetchone()[0]).partition(" ")[0]


# Agent servers -------------------------------------------------------------------------------


@examination()
def agent_servers() -> Iterator[Finding]:
    """Each one that is used."""
    servers = AgentServer.objects.usable()
    if not servers:
        says = _("None is known. Sessions of OpenCode can be neither shown nor told anything from here.")
        mend = _("Install OpenCode (%s) and start again, or add a running one in Settings.")
        yield warn(_("Agent server"), says, mend % program.way_to_install())
    for server in servers:
        yield from agent_server(server)


def agent_server(server: AgentServer) -> Iterator[Finding]:
    """Whether it answers, which version it is, whether somebody hears it and whether it has our plugin."""
    topic, client = _("Agent server"), client_for(server)
    try:
        version = client.health()
        plugins = client.plugins()
    except AgentServerError as error:
        yield unreached(server, error)
        return
    known = f"{version}.".startswith(f"{KNOWN_VERSIONS}.")
    says = _("OpenCode %(version)s at %(url)s") % {"version": version, "url": server.url}
    mend = _("OpenChamber was tested with %s.x. Should messages arrive without their context, install that one.")
    yield ok(topic, says) if known else warn(topic, says, mend % KNOWN_VERSIONS)
    yield plugin(client, plugins)
    if not server.listening:
        says = _("Nobody on this machine follows the events of %s: after a compaction, restoring waits for a message.")
        mend = _("Start OpenChamber (make run), or .venv/bin/python manage.py watch.")
        yield warn(_("Watcher"), says % server.url, mend)
    else:
        yield ok(_("Watcher"), _("The events of %s are followed.") % server.url)


def unreached(server: AgentServer, error: AgentServerError) -> Finding:
    """One that a person named is theirs to start; one that we started or found, we start or find again."""
    named = server.source in (AgentServer.Source.ENVIRONMENT, AgentServer.Source.SETTINGS)
    mend = (
        _("Start it, correct its address and password, or remove it in Settings.")
        if named
        else _("Start OpenChamber again (make run): it finds or starts OpenCode.")
    )
    return fail(_("Agent server"), str(error), mend)


def plugin(client: OpenCode, plugins: list[str]) -> Finding:
    """Whether OpenCode loads our plugin."""
    topic = _("Plugin of OpenCode")
    if any(name.endswith(f"/{PLUGIN.parent.name}/{PLUGIN.name}") or "openchamber" in name for name in plugins):
        return ok(topic, _("%s loads it.") % client.url)
    says = _("%s does not load it: messages from a terminal carry nothing, and a running agent is told late.")
    mend = _("Stop it and start OpenChamber again (make run): the OpenCode that OpenChamber starts has the plugin.")
    return warn(topic, says % client.url, mend)


# What comes and goes --------------------------------------------------------------------------


@examination()
def clients() -> Iterator[Finding]:
    """When each program's hook last took something along."""
    hooks = Delivery.objects.filter(cause=Delivery.Cause.HOOK).values_list("session__client").order_by()
    newest = dict(hooks.annotate(Max("claimed_at")))
    names = {value: str(name) for value, name in Session.Client.choices}
    for value, at in newest.items():
        says = _("Its hook last took something along %s ago.") % timesince(at)
        yield ok(_("Client %s") % names[value], says)
    if unused := [name for value, name in names.items() if value not in newest]:
        says = _("No message of theirs carried anything yet, and none has to (not all are supported yet): %s.")
        yield ok(_("Clients"), says % ", ".join(unused))


@examination()
def deliveries() -> Iterator[Finding]:
    """Whether everything that was sent was settled."""
    stuck = Delivery.objects.open().filter(expires_at__lt=timezone.now() - LONG_OPEN).count()
    if stuck:
        says = ngettext("%d was never settled.", "%d were never settled.", stuck) % stuck
        yield warn(
            _("Deliveries"), says, _("Start OpenChamber (make run): they are settled by a look at the conversation.")
        )
    else:
        yield ok(_("Deliveries"), _("All are settled or on their way."))


@examination()
def tokens() -> Iterator[Finding]:
    """Programs' ways in."""
    topic = _("API tokens")
    used = [token.used_at or token.created_at for token in ApiToken.objects.live()]
    idle = sum(timezone.now() - at > LONG_UNUSED for at in used)
    if idle:
        says = ngettext("%d was not used for 90 days.", "%d were not used for 90 days.", idle) % idle
        yield warn(topic, says, _("Revoke in Settings what nobody needs."))
    else:
        yield ok(topic, count_of(used))


def count_of(used: list[datetime]) -> str:
    """How many tokens there are."""
    return ngettext("%d token works.", "%d tokens work.", len(used)) % len(used) if used else _("There are none.")


@examination()
def memory() -> Iterator[Finding]:
    """Whether agents have a memory of their own here."""
    topic = _("Agents’ memory")
    if settings.MEMORY_INSTALLED:
        yield ok(topic, _("Switched on."))
    elif any(app == "memory" for app, _name in MigrationRecorder(connection).applied_migrations()):
        says = _(
            "Left out: OPENCHAMBER_MEMORY_ENABLE is not set here. What is sent from here tells that none of it applies."
        )
        yield warn(topic, says, _("Set it to 1 for serve and for every other command, or for none."))
    else:
        yield ok(topic, _("Switched off: OPENCHAMBER_MEMORY_ENABLE is not set."))

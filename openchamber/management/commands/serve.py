"""`serve`: the one to start. Panel, watcher and, where OpenCode is installed, OpenCode."""

from __future__ import annotations

import errno
import os
import socket
import sqlite3
import sys
from contextlib import closing
from pathlib import Path
from typing import Any
from urllib.parse import urlsplit

import httpx2
from django.conf import settings
from django.core.management import call_command
from django.core.management.base import BaseCommand, CommandError, CommandParser
from django.db import DEFAULT_DB_ALIAS, connections
from django.db.migrations.executor import MigrationExecutor

from openchamber import data_directory, serving
from openchamber.management import database
from openchamber.projects import access
from openchamber.sessions import program


class Command(BaseCommand):
    help = "Start OpenChamber: panel, API, watcher and, where it is installed, OpenCode."
    requires_migrations_checks = False

    def add_arguments(self, parser: CommandParser) -> None:
        parser.add_argument("--host", default=serving.HOST, help="address to listen on (%(default)s)")
        parser.add_argument("--port", type=int, default=serving.PORT, help="port to listen on (%(default)s)")
        parser.add_argument("--opencode-url", default="", help="use the OpenCode server at this URL")
        parser.add_argument("--no-opencode", action="store_true", help="neither look for OpenCode nor start it")
        parser.add_argument(
            "--demo",
            action="store_true",
            help="start an OpenCode with an offline model that answers with what it was told; needs no account",
        )

    def handle(self, *args: Any, **options: Any) -> None:
        host, port = options["host"], options["port"]
        self._check_choice(options)
        self._check_port(host, port)
        if options["opencode_url"]:
            settings.OPENCODE_URL = options["opencode_url"]
        self._warn_of_neighbours(host)
        database.require_reachable()
        self._migrate()
        url = serving.address(host, port)
        self.say(f"Sign in: {access.sign_in_url(url)}")
        self.say("The link works once, within ten minutes. Stop with Ctrl+C.")
        connections.close_all()
        data_directory.tell_panel(settings.DATA_DIR, url)
        beside = serving.Beside(url, opencode=not options["no_opencode"], demo=options["demo"], say=self.say)
        beside.start()
        try:
            serving.web(host, port).run()
        finally:
            beside.stop()
            data_directory.forget_panel(settings.DATA_DIR, url)
        sys.stdout.flush()
        # Worker threads that wait on a network must not hold the exit; everything that matters is written.
        os._exit(0)

    def say(self, text: str) -> None:
        """A line for the person who started this, at once."""
        self.stdout.write(text)
        self.stdout.flush()

    @staticmethod
    def _check_choice(options: dict[str, Any]) -> None:
        if options["demo"] and (options["opencode_url"] or options["no_opencode"]):
            raise CommandError("--demo starts an OpenCode of its own: leave --opencode-url and --no-opencode out.")
        if options["demo"] and program.installed() is None:
            raise CommandError(f"The demo needs OpenCode, which is not installed: {program.way_to_install()}.")
        url = options["opencode_url"]
        if url and not (url.startswith(("http://", "https://")) and urlsplit(url).hostname):
            raise CommandError(f"--opencode-url is an address like http://127.0.0.1:4096, not {url!r}.")

    @staticmethod
    def _check_port(host: str, port: int) -> None:
        if not 0 < port < 65536:
            raise CommandError(f"--port is a number from 1 to 65535, not {port}.")
        try:
            found = socket.getaddrinfo(host, port, type=socket.SOCK_STREAM)
            family, where = min((one[0], one[4]) for one in found)  # IPv4 first, where a name has both
            with socket.socket(family, socket.SOCK_STREAM) as probe:  # bound as the web server binds it
                probe.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
                if family == socket.AF_INET6:
                    probe.setsockopt(socket.IPPROTO_IPV6, socket.IPV6_V6ONLY, 1)
                probe.bind(where)
        except OSError as error:
            if isinstance(error, socket.gaierror) or error.errno == errno.EADDRNOTAVAIL:
                raise CommandError(f"--host {host} is no address of this machine: {error.strerror}.") from error
            if _is_openchamber(host, port):
                login = "login" if port == serving.PORT else f"login --port {port}"
                raise CommandError(
                    f"OpenChamber is running already at {host}:{port}. "
                    f"To sign in there: .venv/bin/python manage.py {login} prints a link."
                ) from error
            another = 'Choose another port: make run ARGS="--port 9000".'
            raise CommandError(f"{host}:{port} cannot be used: {error.strerror}. {another}") from error

    def _warn_of_neighbours(self, host: str) -> None:
        """Listening beyond this machine without a host name works for nobody there, and is not encrypted."""
        if host in {"127.0.0.1", "localhost", "::1"}:
            return
        if settings.HOST_NAMES:
            self.say(f"{host} is open to the network: put a proxy that brings TLS in front of it.")
        else:
            self.say(
                f"{host} is open to the network, and requests for any other name than this machine's own are refused. "
                "Set OPENCHAMBER_ALLOWED_HOSTS to the names by which people reach it."
            )

    def _migrate(self) -> None:
        """Bring the database up to date; a SQLite file is copied first when there is something to change."""
        connection = connections[DEFAULT_DB_ALIAS]
        executor = MigrationExecutor(connection)
        plan = executor.migration_plan(executor.loader.graph.leaf_nodes())
        if not plan:
            return
        if connection.vendor == "sqlite" and executor.loader.applied_migrations:
            self._back_up(Path(str(connection.settings_dict["NAME"])))
        call_command("migrate", verbosity=0, interactive=False)

    def _back_up(self, database: Path) -> None:
        copy = database.with_suffix(".before-migration.sqlite3")
        # SQLite's own copy: what still stands in the write-ahead log is in it, whoever else is writing.
        with closing(sqlite3.connect(database)) as source, closing(sqlite3.connect(copy)) as target:
            source.backup(target)
        copy.chmod(0o600)
        self.say(f"The database was copied to {copy} before it was brought up to date.")


def _is_openchamber(host: str, port: int) -> bool:
    """Whether what answers there is an OpenChamber."""
    try:
        answer = httpx2.get(f"{serving.address(host, port)}/api/health", timeout=2, trust_env=False).json()
    except (httpx2.HTTPError, httpx2.InvalidURL, ValueError):
        return False
    return isinstance(answer, dict) and {"status", "version", "database"} <= answer.keys()

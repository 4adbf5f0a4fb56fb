"""`send`: a prompt to a session, or to a new one, with everything it is owed: cron's and scripts' way in."""

from __future__ import annotations

import json
import sys
from pathlib import Path
from typing import Any

from django.core.exceptions import ValidationError
from django.core.management.base import BaseCommand, CommandError, CommandParser
from django.utils.translation import gettext as _

from openchamber.errors import Problem
from openchamber.management import database
from openchamber.management.projects import project_named, slugs_told
from openchamber.models import AgentServer, Project, Session
from openchamber.projects.resolve import resolve
from openchamber.sessions import choices, ids, rows
from openchamber.sessions.delivery import Prompt, send_message
from openchamber.sessions.opencode import AgentServerError, NotConnected, client_for
from openchamber.sessions.servers import current_server, find
from openchamber.texts import validate_line


class Command(BaseCommand):
    help = "Send a prompt to a session, with everything that the session is owed."

    def add_arguments(self, parser: CommandParser) -> None:
        parser.add_argument("text", nargs="?", default="-", help="what to say; - (or nothing) reads standard input")
        where = parser.add_mutually_exclusive_group(required=True)
        where.add_argument("--session", help="the session's id")
        where.add_argument("--new", action="store_true", help="make a new session")
        parser.add_argument("--project", help="slug of the new session's project (else: that of --directory)")
        parser.add_argument("--directory", default=".", help="a directory of the project (.)")
        parser.add_argument("--title", default="", help="title of the new session")
        parser.add_argument("--agent", default="", help="agent, as OpenCode calls it")
        parser.add_argument("--model", default="", help="provider/model")
        parser.add_argument("--message-id", default="", help="the same id twice sends once")
        parser.add_argument("--no-context", action="store_true", help="send without what the session is owed")
        parser.add_argument("--json", action="store_true", help="answer as JSON")

    def handle(self, *args: Any, **options: Any) -> None:
        database.require_current()
        text = sys.stdin.read() if options["text"] == "-" else options["text"]
        if not text.strip():
            raise CommandError("There is nothing to say: give a text, or write it to standard input.")
        prompt = Prompt(
            text=text,
            agent=options["agent"],
            model=options["model"],
            message_id=options["message_id"],
            with_context=not options["no_context"],
        )
        self._check(options)
        try:
            session = self._new(options) if options["new"] else self._known(options["session"])
            if not options["new"] and session.server:
                self._check_choice(session.server, session.directory, options)
            sent = send_message(session, prompt, wait=True)
        except Problem as problem:
            raise CommandError(problem.told()) from problem
        except AgentServerError as error:
            mend = _("Start OpenChamber (make run): it finds or starts OpenCode.")
            raise CommandError(f"{error} {mend}" if isinstance(error, NotConnected) else str(error)) from error
        told = sent.delivery
        if told is not None:
            told.refresh_from_db()
        answer = {
            "session": session.pk,
            "message_id": sent.message_id,
            "context": {
                "kind": "none" if told is None else "full" if told.full else "delta",
                "error": sent.error or None,
            },
            "state": told.state if told else None,
        }
        self.stdout.write(json.dumps(answer) if options["json"] else f"{session.pk} {sent.message_id}")

    def _check(self, options: dict[str, Any]) -> None:
        try:
            validate_line(options["title"])
        except ValidationError as error:
            raise CommandError(f"--title: {' '.join(error.messages)}") from error
        if options["message_id"] and not ids.is_message(options["message_id"]):
            raise CommandError("--message-id: give one that OpenCode could have given: msg_ and letters or digits.")

    @staticmethod
    def _check_choice(server: AgentServer, directory: str, options: dict[str, Any]) -> None:
        if options["agent"] or options["model"]:
            choices.check(client_for(server), directory, agent=options["agent"], model=options["model"])

    def _new(self, options: dict[str, Any]) -> Session:
        if options["project"]:
            project = project_named(options["project"])
        else:
            project = self._project_of(Path(options["directory"]).absolute())
        find()
        server = current_server()
        self._check_choice(server, project.directory, options)  # first: what is refused leaves no empty session
        return rows.create_session(server, project, title=options["title"])

    def _project_of(self, directory: Path) -> Project:
        project = resolve(str(directory)).project
        if project is None:
            raise CommandError(_("No project contains %s.") % directory + " " + slugs_told())
        return project

    def _known(self, session_id: str) -> Session:
        session = rows.find_session(session_id)
        if session is None:
            raise CommandError(f"No agent server knows a session {session_id}.")
        return session

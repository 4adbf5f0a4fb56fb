"""Create, list and revoke API tokens."""

from __future__ import annotations

from typing import Any

from django.core.exceptions import ValidationError
from django.core.management.base import BaseCommand, CommandError, CommandParser
from django.utils.translation import gettext as _

from openchamber.management import database
from openchamber.management.projects import slugs_told
from openchamber.models import ApiToken, Project
from openchamber.projects import access
from openchamber.texts import is_key


class Command(BaseCommand):
    """Programs' ways in, from the command line."""

    help = "Create, list or revoke API tokens."

    def add_arguments(self, parser: CommandParser) -> None:
        """One sub-command each."""
        acts = parser.add_subparsers(dest="act", required=True)
        create = acts.add_parser("create", help="make a token and print its secret, once")
        create.add_argument("name", help="what will use it")
        create.add_argument("--scope", choices=ApiToken.Scope.values, default=ApiToken.Scope.ALL)
        create.add_argument(
            "--project", action="append", default=[], metavar="SLUG", help="only this project; may be repeated"
        )
        acts.add_parser("list", help="show the tokens that work")
        revoke = acts.add_parser("revoke", help="refuse a token from now on")
        revoke.add_argument("token", metavar="ID_OR_NAME")

    def handle(self, *args: Any, **options: Any) -> None:
        """Do what was named."""
        database.require_current()
        match options["act"]:
            case "create":
                self.create(options["name"], options["scope"], options["project"])
            case "list":
                self.list()
            case "revoke":
                self.revoke(options["token"])

    def create(self, name: str, scope: str, slugs: list[str]) -> None:
        """Print the secret alone, so that scripts can take it."""
        try:
            name = ApiToken._meta.get_field("name").clean(name.strip(), None)
        except ValidationError as error:
            raise CommandError(" ".join(error.messages)) from error
        projects = [self.project(slug) for slug in slugs]
        _token, secret = ApiToken.make(name=name, user=access.owner(), scope=scope, projects=projects)
        self.stdout.write(secret)

    def project(self, slug: str) -> Project:
        """The project with that slug or id."""
        project = Project.objects.named(slug)
        if project is None:
            raise CommandError(_("There is no project “%(slug)s”.") % {"slug": slug} + " " + slugs_told())
        return project

    def list(self) -> None:
        """One line per token, below a line that says what stands where."""
        columns = [_("id"), _("begins"), _("may"), _("projects"), _("last used (UTC)"), _("name")]
        tokens = ApiToken.objects.live().prefetch_related("projects")
        if tokens:
            self.stdout.write("\t".join(columns))
        for token in tokens:
            only = ",".join(project.slug for project in token.projects.all()) if token.bound else "*"
            used = f"{token.used_at:%Y-%m-%d %H:%M}" if token.used_at else "-"
            self.stdout.write(f"{token.pk}\t{token.hint}…\t{token.scope}\t{only}\t{used}\t{token.name}")

    def revoke(self, wanted: str) -> None:
        """By id, or by a name that only one token has."""
        live = ApiToken.objects.live()
        found = list(live.filter(name=wanted)) or (list(live.filter(pk=int(wanted))) if is_key(wanted) else [])
        if not found:
            raise CommandError(_("There is no token “%(name)s” that works.") % {"name": wanted})
        if len(found) > 1:
            ids = ", ".join(str(token.pk) for token in found)
            raise CommandError(_("Several tokens have that name. Give an id: %(ids)s") % {"ids": ids})
        found[0].revoke()
        self.stdout.write(_("Revoked “%(name)s”.") % {"name": found[0].name})

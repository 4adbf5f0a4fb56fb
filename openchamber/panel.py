"""What every page of the panel shows around its own content: where one is, and where one can go."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from datetime import timedelta
from functools import cached_property
from typing import TYPE_CHECKING

from django.conf import settings
from django.contrib import messages
from django.http import HttpRequest
from django.urls import NoReverseMatch, reverse
from django.utils import timezone
from django.utils.translation import gettext as _
from django.utils.translation import ngettext

from openchamber.demo.no_model import NoModel, no_model
from openchamber.models import AgentServer, Project
from openchamber.signals import panel_places, panel_sections

if TYPE_CHECKING:
    from django.contrib.auth.models import User
    from django_htmx.middleware import HtmxDetails

# The watcher writes down at most this seldom that it still hears its agent server.
HEARD = timedelta(seconds=60)
SHOWN_PROJECTS = 12
REFUSALS_TOLD = 5
LAST_PROJECT = "last_project"  # in the signed-in session: its slug


class PanelRequest(HttpRequest):
    """A request of somebody who is signed in, perhaps for a fragment."""

    user: User
    htmx: HtmxDetails


@dataclass(frozen=True, slots=True)
class Section:
    """A part of a project's panel: `count` is None where there is nothing to count.

    `shortcut` is the key that opens it ("1"); `icon` is a symbol of the sprite; `last` stands below all that are not.
    """

    name: str
    label: str
    url: str
    count: int | None = None
    icon: str = "note"
    shortcut: str = ""
    last: bool = False


@dataclass(frozen=True, slots=True)
class Act:
    """Something that can be done with a message: a link (`get`) or a form's button (`post`)."""

    label: str
    url: str
    method: str = "get"
    icon: str = "more"


@dataclass(frozen=True, slots=True)
class Place:
    """An entry of the main menu."""

    label: str
    url: str
    current: bool


def sections(project: Project) -> list[Section]:
    """The project's sections in the order of the installed apps; Django logs an app that raises."""
    answers = panel_sections.send_robust(Project, project=project)
    found = [section for _receiver, answer in answers if not isinstance(answer, Exception) for section in answer]
    return sorted(found, key=lambda section: section.last)


def tell_refused(request: HttpRequest, sentences: Sequence[str]) -> None:
    """Say what was refused of many things: the first ones each by its sentence, of the others how many."""
    for sentence in sentences[:REFUSALS_TOLD]:
        messages.error(request, sentence)
    if (more := len(sentences) - REFUSALS_TOLD) > 0:
        messages.error(request, ngettext("%d more was refused.", "%d more were refused.", more) % more)


class Frame:
    """The bar of one page. Everything is looked up when a template asks, and once."""

    def __init__(self, request: HttpRequest) -> None:
        self.request = request

    @cached_property
    def projects(self) -> list[Project]:
        """The first projects of the user, for the menu that switches between them."""
        user = getattr(self.request, "user", None)
        if user is None or not user.is_authenticated:
            return []
        return list(Project.objects.visible_to(user)[:SHOWN_PROJECTS])

    @cached_property
    def project(self) -> Project | None:
        """The project of this page's address; on pages that belong to none, the one that the user was in last."""
        user = getattr(self.request, "user", None)
        if user is None or not user.is_authenticated:
            return None
        match = self.request.resolver_match
        slug = match.kwargs.get("slug") if match else None
        if slug is None:
            everywhere = match is None or match.view_name == "openchamber:projects"
            return None if everywhere else self._visible(user, self.request.session.get(LAST_PROJECT, ""))
        project = self._visible(user, slug)
        if project is not None and self.request.session.get(LAST_PROJECT) != slug:
            self.request.session[LAST_PROJECT] = slug
        return project

    def _visible(self, user: User, slug: str) -> Project | None:
        known = next((project for project in self.projects if project.slug == slug), None)
        return known or (Project.objects.visible_to(user).filter(slug=slug).first() if slug else None)

    @cached_property
    def sections(self) -> list[Section]:
        """The sections of this page's project."""
        return sections(self.project) if self.project else []

    @cached_property
    def section(self) -> str:
        """The name of the section that this page stands in, "" outside all of them."""
        path = self.request.path
        return next((section.name for section in self.sections if path.startswith(section.url)), "")

    @cached_property
    def server(self) -> AgentServer | None:
        """The agent server that is used."""
        return AgentServer.objects.usable().first()

    @cached_property
    def no_model(self) -> NoModel | None:
        """What is missing where the agent server has no usable model for this page's project."""
        return no_model(self.server, self.project.directory) if self.server and self.project else None

    @property
    def connected(self) -> bool:
        """Whether a watcher hears the agent server."""
        heard_at = self.server.heard_at if self.server else None
        return heard_at is not None and timezone.now() - heard_at < HEARD

    @property
    def memory(self) -> bool:
        """Whether this installation has the agents' memory; nothing promises it otherwise."""
        return bool(settings.MEMORY_INSTALLED)

    @cached_property
    def search_url(self) -> str:
        """Where the search box of the bar leads, "" without a project."""
        return address("openchamber:search", self.project.slug) if self.project else ""

    @cached_property
    def places(self) -> list[Place]:
        """The main menu."""
        places = self._project_places() if self.project else []
        for _receiver, answer in panel_places.send_robust(None, request=self.request):
            places += [] if isinstance(answer, Exception) else answer
        if schedules := address("openchamber:schedules"):
            places.append(self._place(_("Schedules"), schedules))
        return [*places, self._place(_("Settings"), reverse("openchamber:settings"))]

    def _project_places(self) -> list[Place]:
        assert self.project is not None
        places = [self._place(_("Sessions"), reverse("openchamber:sessions", args=[self.project.slug]))]
        if self.sections:
            places.append(Place(_("Knowledge"), self.sections[0].url, bool(self.section)))
        return places

    def _place(self, label: str, url: str) -> Place:
        return Place(label, url, self.request.path.startswith(url))


def address(name: str, *args: str) -> str:
    """The address of a page that an installation may be without: "" then."""
    try:
        return reverse(name, args=args)
    except NoReverseMatch:
        return ""


def frame(request: HttpRequest) -> dict[str, Frame]:
    """The context processor: `frame` in every template."""
    return {"frame": Frame(request)}

"""Plans: long Markdown documents, titled by their first heading."""

from __future__ import annotations

from typing import TYPE_CHECKING, Self

from django.db import models
from django.urls import reverse
from django.utils.text import slugify
from django.utils.translation import gettext
from django.utils.translation import gettext_lazy as _

from knowledge.models.authors import Author
from knowledge.models.origins import Source, Sourced, origin
from knowledge.models.pins import Pinnable, PinnableQuerySet
from knowledge.models.written import recorded
from knowledge.texts import (
    AtMost,
    first_heading,
    normal_lines,
    own_heading,
    plain_line,
    revision_of,
    text_warnings,
    validate_characters,
)

if TYPE_CHECKING:
    from openchamber.models import Project

PLAN_LENGTH = 1_000_000  # characters


class PlanQuerySet(PinnableQuerySet["Plan"]):
    """Questions about plans."""

    def shown(self) -> Self:
        """Those that the list shows, without their texts: only how long these are."""
        return self.live().newest_first().sized()


class Plan(Sourced, Pinnable):
    """A document in Markdown: up to 1,000,000 characters, or none yet."""

    list_name = "plans"

    body = models.TextField(_("plan"), blank=True, validators=[validate_characters, AtMost(PLAN_LENGTH)])
    # The first heading; a plan without words has none, and is called something in the reader's language.
    heading = models.CharField(_("heading"), max_length=200, blank=True, editable=False)

    history = recorded("pinned", "pinned_at")
    objects = PlanQuerySet.as_manager()

    class Meta:
        ordering = ["-created_at", "-pk"]
        verbose_name = _("plan")
        verbose_name_plural = _("plans")
        constraints = [
            models.UniqueConstraint(fields=["project", "uid"], name="plan_uid"),
            models.CheckConstraint(condition=models.Q(body__length__lte=PLAN_LENGTH), name="plan_length"),
        ]
        indexes = [models.Index(fields=["project", "-created_at", "-id"], name="plans_newest_first")]

    def __str__(self) -> str:
        return self.title

    def get_absolute_url(self) -> str:
        """The plan's own page."""
        return reverse("knowledge:plan", args=[self.project.slug, self.pk])

    @classmethod
    def write(
        cls,
        *,
        project: Project,
        by: Author,
        body: str = "",
        title: str = "",
        source: str = Source.TYPED,
        session: str = "",
        message: str = "",
        pinned: bool = False,
    ) -> Plan:
        """A new plan. A `title` becomes its first heading, unless the body begins with that one already."""
        text = with_heading(title, normal_lines(body))
        plan = cls(project=project, body=text, source=source, **origin(session, message))
        return plan.pinned_from_the_start(pinned)._create(by=by)

    @property
    def title(self) -> str:
        """The first heading, or a name for a plan that has no words yet."""
        return self.heading or gettext("Untitled plan")

    def file_name(self) -> str:
        """What its exported file is called: the title in plain letters."""
        return f"{slugify(self.title)[:80] or f'plan-{self.pk}'}.md"

    def derive(self) -> None:
        """Revision and heading, from the body."""
        self.revision, self.heading = revision_of(self.body), first_heading(self.body)

    def warnings(self) -> list[str]:
        """What the writer should know about this text, as sentences."""
        return text_warnings(self.body)

    def edit(self, *, body: str, by: Author, seen: str | None = None) -> None:
        """Replace the body. `seen` is the revision that the edit was made on; Stale when another stands."""
        self._change(by=by, seen=seen, body=normal_lines(body))


def with_heading(title: str, body: str) -> str:
    """The body under a heading that says `title`, once."""
    title = " ".join(title.split())
    if not title or own_heading(body) == plain_line(title):
        return body
    return f"# {title}\n\n{body.lstrip(chr(10))}" if body else f"# {title}\n"

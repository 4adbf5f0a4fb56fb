"""Todos as a checklist in a text, exactly both ways: `- [x] first line`, further lines below it and two spaces in.

A further line that would read as a task item itself has a backslash before its mark.
"""

from __future__ import annotations

import re
from collections import defaultdict
from dataclasses import dataclass
from datetime import datetime

from django.core.exceptions import ValidationError
from django.db import transaction
from django.utils import timezone
from django.utils.translation import gettext as _

from knowledge.models import Author, Plan, Todo
from knowledge.models.todos import TODO_LENGTH
from knowledge.texts import normal_lines, validate_not_blank
from openchamber.models import Project

MARK = r"(?:[-*+]|\d{1,9}[.)])[ \t]+\[([ xX])\]"
ITEM = re.compile(rf"[ \t]*{MARK}(?:[ \t](.*))?")
LIKE_ITEM = re.compile(rf"^([ \t]*)(\\*{MARK})")
ESCAPED = re.compile(rf"^([ \t]*)\\(\\*{MARK})")
HEADING = re.compile(r"#{1,6}(?:[ \t]|$)")


@dataclass(frozen=True, slots=True)
class Outcome:
    """What became of one thing in a folder: "new", "same", "kept" as it is here, or "refused" for a reason."""

    where: str
    what: str
    reason: str = ""


@dataclass(slots=True)
class Item:
    """A task item: the line that it begins in, the lines that it has, and whether it is done."""

    line: int
    lines: list[str]
    done: bool

    @property
    def text(self) -> str:
        """All that it says."""
        return "\n".join(self.lines)


def item_text(todo: Todo) -> str:
    """A todo as a task item."""
    first, *more = todo.text.split("\n")
    further = "".join("  " + LIKE_ITEM.sub(r"\1\\\2", line) + "\n" for line in more)
    return f"- [{'x' if todo.done else ' '}] {first}\n{further}"


def read(text: str) -> tuple[list[Item], list[int]]:
    """The task items of a text, and the numbers of the lines that belong to none. Headings and blank lines may be."""
    items: list[Item] = []
    strays: list[int] = []
    item, blank = None, 0
    for number, line in enumerate(normal_lines(text).split("\n"), 1):
        if found := ITEM.fullmatch(line):
            item, blank = Item(number, [found[2] or ""], found[1] != " "), 0
            items.append(item)
        elif item and line.startswith(("  ", "\t")):
            further = line[1:] if line[0] == "\t" else line[2:]
            item.lines += [""] * blank + [ESCAPED.sub(r"\1\2", further)]
            blank = 0
        elif not line.strip():
            blank += 1
        else:
            item = None
            strays += [] if HEADING.match(line) else [number]
    return items, strays


def take_in(project: Project, text: str, *, name: str, by: Author) -> list[Outcome]:
    """A todo from each task item that there is no live todo for yet; what became of every line of the file `name`."""
    items, strays = read(text)
    if not items:
        raise ValidationError(_("There is no task item (“- [ ] text”) in it."))
    there: dict[str, list[bool]] = defaultdict(list)
    for known, done in project.todos.live().values_list("text", "done"):
        there[known].append(done)
    found = [(number, "refused", _("This is no task item (“- [ ] text”).")) for number in strays]
    found += [(item.line, *take_item(project, item, there[item.text], by)) for item in items]
    return [Outcome(place(name, line), what, reason) for line, what, reason in sorted(found)]


def take_from(plan: Plan, *, by: Author) -> tuple[list[Outcome], datetime]:
    """A todo from each task item of the plan whose words no live todo has; what became of the items, and the moment.

    At that moment all of them were made, so that they can be taken back together.
    """
    known = {text.strip() for text in plan.project.todos.live().values_list("text", flat=True)}
    now, found = timezone.now(), []
    with transaction.atomic():
        for item in read(plan.body)[0]:
            item.lines = item.text.strip().split("\n")
            if item.text and item.text not in known:
                known.add(item.text)
                found.append(Outcome(item.text, *take_item(plan.project, item, [], by, at=now)))
    return found, now


def take_item(
    project: Project, item: Item, there: list[bool], by: Author, *, at: datetime | None = None
) -> tuple[str, str]:
    """What became of an item, and why; `there` is whether the todos that say the same are done, each good for one."""
    text = item.text
    if there:
        same = item.done in there
        there.remove(item.done if same else not item.done)
        return "same" if same else "kept", ""
    if len(text) > TODO_LENGTH:
        told = {"count": len(text), "most": TODO_LENGTH}
        return "refused", _("It has %(count)d characters, and a todo at most %(most)d.") % told
    try:
        validate_not_blank(text)
        Todo.write(project=project, text=text, done=item.done, by=by, at=at)
    except ValidationError as error:
        return "refused", " ".join(error.messages)
    return "new", ""


def place(name: str, line: int) -> str:
    """Where in a file."""
    return _("%(name)s, line %(number)d") % {"name": name, "number": line}

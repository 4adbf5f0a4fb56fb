"""Saving through the tool: what is new, what corrects, what repeats, what is held back, and what is refused."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import Any

from django.core.exceptions import ValidationError
from django.db import transaction

from memory import index, texts
from memory.alike import alike
from memory.holders import Holder
from memory.models import Author, Entry, Room, Scope, Stale, Switches, Taken
from memory.models.scopes import lock_scopes
from memory.reading import Line, LineReading, read_lines
from memory.tool import WHERE, Answer, line, scope_for, shown
from openchamber.errors import Conflict, Invalid, Problem, Unavailable

SHOWN_TEXT = 300  # characters of a look-alike's text
COMPARED = 1_000  # entries, the newest ones, that a new text is compared with


@dataclass(frozen=True, slots=True)
class Draft:
    """What an agent wants to keep; `wanted` names the entry that it means ("" for one by its title). A correction
    without a description keeps the one that stands."""

    title: str
    body: str
    description: str | None = None
    type: str = ""
    name: str = ""
    wanted: str = ""
    revision: str = ""

    @property
    def content(self) -> tuple[str, str, str]:
        """As it would be stored."""
        return texts.one_line(self.title), texts.one_line(self.description or ""), texts.plain(self.body)

    def check(self) -> None:
        """Refuse what is too long or empty, before anything waits for it. A title may be that of a known entry."""
        title, description, body = self.content
        known = not title and (self.wanted or self.name)
        title = "known" if known else title
        Entry(title=title, description=description, body=body, type=self.type or Entry.Type.FACT).check_texts()


class Full(Problem):
    """The scope holds as much as it may."""

    status = 409


def memory_save(holder: Holder, kind: str, draft: Draft, *, by: Author) -> Answer:
    """Keep something. An exact repeat changes nothing, an existing title or name is corrected, what reads like a
    threat is stored for the user's eyes only and never in place of a clean entry."""
    scope = scope_for(holder, kind)
    try:
        draft.check()
        return _saved(scope, draft, by=by)
    except ValidationError as error:
        raise Invalid(_refusal(error), fields=error.message_dict) from error
    except Stale as stale:
        secret = stale.current.withheld or stale.current.deleted_at is not None
        title = draft.content[0] or ("" if secret else stale.current.title)
        named = f"“{title}”" if title else "This entry"
        sentence = f"{named} was changed since you read it. Nothing was saved: read it again, then decide."
        raise Conflict(sentence, current=None if secret else shown(stale.current, body=True)) from stale
    except Taken as taken:
        raise Conflict(str(taken)) from taken


@transaction.atomic
def _saved(scope: Scope, draft: Draft, *, by: Author) -> Answer:
    # Two savers of one scope take turns: else both could fill the last place, or both make the same title.
    lock_scopes(scope.pk)
    reading = read_lines(scope.kind, scope)
    if reading.failed:
        raise Unavailable(f"What you know {WHERE[scope.kind]} cannot be read right now, so nothing was saved.")
    existing = _meant(reading, draft)
    if existing:
        draft = replace(
            draft,
            title=draft.title if draft.content[0] else existing.title,
            description=existing.description if draft.description is None else draft.description,
        )
    if repeated := _repeated(reading, draft):
        return _unchanged(_whole(scope, repeated))
    title, description, body = draft.content
    kind = draft.type or (existing.type if existing else Entry.Type.FACT)
    drafted = Entry.drafted(scope=scope, by=by, title=title, description=description, body=body, type=kind)
    if existing and not drafted.flagged:
        return _corrected(_whole(scope, existing), reading, drafted, draft.revision, by=by)
    return _added(drafted, reading, by=by)


def _whole(scope: Scope, line: Line) -> Entry:
    """The entry of a line that was read under the scope's lock."""
    entry = scope.entries.get(pk=line.pk)
    entry.scope = scope
    return entry


def _repeated(reading: LineReading, draft: Draft) -> Line | None:
    """The entry that says exactly this already, flagged ones too."""
    same = texts.content_hash(*draft.content)
    said = (line for line in reading.lines if line.content_hash == same and draft.type in ("", line.type))
    return next(said, None)


def _meant(reading: LineReading, draft: Draft) -> Line | None:
    """The entry that the draft corrects: the one it names, else the one with its title. By its title one that waits for
    approval is corrected too (and waits on), unseen. What names an entry that is not there is refused: added, it would
    bring back what was deleted."""
    name, key = texts.one_line(draft.name), texts.title_key(draft.title)
    if draft.wanted:
        found = next((line for line in reading.told if str(line.pk) == draft.wanted), None)
    else:
        found = next((line for line in reading.told if name and line.name == name), None)
        clean = (line for line in reading.lines if not line.flagged and line.title_key == key)
        found = found or next(clean, None)
    if found is None and (draft.wanted or draft.revision or not draft.content[0]):
        raise Conflict(
            f"There is no such entry {WHERE[reading.kind]}, or not any more: it was deleted, moved or withheld. Nothing"
            " was saved. List what there is; to add something new, save it with a title, without `id` and `revision`."
        )
    return found


def _unchanged(entry: Entry) -> Answer:
    if entry.flagged:
        return Answer("Nothing changed: this is stored already, withheld, and waits for the user’s review.")
    if entry.awaiting:
        return Answer("Nothing changed: this is stored already, and waits for the user’s approval.")
    text = f"Saved already: “{entry.title}” says exactly this. Nothing changed."
    return Answer(text, {"entry": shown(entry), "changed": False})


def _corrected(entry: Entry, reading: LineReading, drafted: Entry, seen: str, *, by: Author) -> Answer:
    others = [other for other in reading.told if other.pk != entry.pk]
    entry.correct(drafted, by=by, seen=seen, held=Switches.held(entry.scope.kind))
    where = WHERE[entry.scope.kind]
    sentence = f"Saved: “{entry.title}” {where} was corrected; its earlier text is in the history."
    if entry.awaiting:
        return _waiting(entry, sentence)
    return _with_similar(entry, others, [sentence])


def _added(drafted: Entry, reading: LineReading, *, by: Author) -> Answer:
    scope, switches = drafted.scope, Switches.current()
    held = switches.holds(scope.kind)
    room = Room(len(reading.told), len(reading.lines) - len(reading.told), switches.limit(scope.kind))
    _check_room(scope, reading, room, withheld=held or drafted.flagged)
    drafted.add(by=by, names={line.name for line in reading.lines}, awaiting=held)
    if drafted.flagged:
        return _withheld(drafted)
    sentence = f"Saved: “{drafted.title}” {WHERE[scope.kind]}."
    if held:
        return _waiting(drafted, sentence)
    return _with_similar(drafted, reading.told, [sentence, *_room_left(scope, [drafted, *reading.told])])


def _waiting(entry: Entry, sentence: str) -> Answer:
    """The answer to a save that waits for approval: no tool returns it until then."""
    told = f"{sentence} The user must approve it before sessions are told."
    return Answer(told, {"entry": {"id": str(entry.pk), "awaiting": True}})


def _withheld(entry: Entry) -> Answer:
    """The answer to a flagged save: the words that matched are not repeated to a model."""
    categories = ", ".join(sorted({match["category"] for match in entry.matches}))
    order = f"it reads like an order to an agent ({categories})"
    why = order if categories else "the user judged exactly this a threat"
    warning = (
        f"Stored, but withheld: {why}. No session is told of it and no tool"
        " returns it until the user judges it safe. Do not try again with other words; tell the user."
    )
    return Answer(warning, {"warning": warning, "entry": {"id": str(entry.pk), "flagged": True}})


def _with_similar(entry: Entry, others: Sequence[Line], sentences: list[str]) -> Answer:
    """The answer to a save, with the entries that may say the same or the opposite, for the agent to decide."""
    known = {str(other.pk): other for other in others[:COMPARED]}
    found = alike(_text(entry), [(key, _text(other)) for key, other in known.items()])
    data = [similar(entry.scope, known[key], how) for _score, key, how in found]
    if found:
        sentences.append(
            "These may be about the same. Both are kept. If one is outdated, delete it; if they belong together,"
            " save one text under one title and delete the other:"
        )
        sentences += [
            f"{line(known[key])}{_told_difference(how)}\n  {_start(known[key])}" for _score, key, how in found
        ]
    return Answer("\n".join(sentences), {"entry": shown(entry), **({"similar": data} if data else {})})


def similar(scope: Scope, other: Line, how: str) -> dict[str, Any]:
    """A look-alike for programs."""
    told = {name: getattr(other, name) for name in ("name", "title", "description", "type", "updated_at", "body")}
    return {"id": str(other.pk), "scope": scope.kind, **told, "difference": how}


def _text(entry: Entry | Line) -> str:
    return f"{entry.title}\n{entry.body}"


def _told_difference(how: str) -> str:
    differs = {"negation": " [one of the two is negative]", "numbers": " [they give different numbers]"}
    return differs.get(how, "")


def _start(entry: Line) -> str:
    body = " ".join(entry.body.split())
    return body if len(body) <= SHOWN_TEXT else f"{body[:SHOWN_TEXT]}…"


def _room_left(scope: Scope, told: Sequence[Entry | Line]) -> list[str]:
    """A sentence when the index has no line for every entry."""
    hidden = index.left_out(scope, told)
    if not hidden:
        return []
    return [
        f"A session’s index has room for the newest {len(told) - hidden} of these {len(told)} titles; the other"
        f" {hidden} are found by searching. Merge or delete what is old."
    ]


def _check_room(scope: Scope, reading: LineReading, room: Room, *, withheld: bool) -> None:
    """Refuse a new entry in a full scope, with its titles and what to do about it."""
    if not room.is_full(withheld=withheld):
        return
    if withheld:
        raise Full(
            f"Not saved: {room.withheld} entries {WHERE[scope.kind]} are withheld or wait for approval already, and at"
            f" most {room.limit} may. Only the user can make room, by reviewing them; tell the user.",
            code="scope_full",
        )
    sentence = (
        f"Not saved: there are {room.told} entries {WHERE[scope.kind]} and at most {room.limit} fit. Make room"
        " now, then save again: merge entries that overlap by saving one text under one of their titles and deleting"
        " the others, and delete what is no longer true. These are the titles:"
    )
    raise Full("\n".join([sentence, *map(line, reading.told)]), code="scope_full")


def _refusal(error: ValidationError) -> str:
    """A refusal as sentences that name the fields."""
    said = [f"{field}: {' '.join(sentences)}" for field, sentences in error.message_dict.items()]
    return f"Not saved. {' '.join(said)}"

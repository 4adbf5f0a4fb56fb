"""Rows as records that travel: with their history and pins, to another project or installation and back."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from datetime import UTC, datetime
from typing import Any
from uuid import UUID, uuid4

from django.contrib.auth.models import User
from django.core.exceptions import ValidationError
from django.db import transaction
from django.utils import timezone
from django.utils.dateparse import parse_datetime
from django.utils.translation import gettext as _

from knowledge.models.authors import Author, Through
from knowledge.models.pins import Pinnable
from knowledge.models.search import find_by, rows_for
from knowledge.models.todos import Todo, place_at_end
from knowledge.models.written import Written, project_changed
from knowledge.texts import normal_lines, validate_characters
from openchamber.archive import Existing
from openchamber.models import Project

# What a row holds besides times and history, by the names of its fields.
PLAIN = {"source": str, "origin_session": str, "origin_message": str, "pinned": bool, "done": bool}
ENTRY = ("through", "history_type", "history_change_reason")
# Times beyond these cannot be told in every time zone, and no text of anybody's is from there.
OLDEST, NEWEST = datetime(1900, 1, 1, tzinfo=UTC), datetime(3000, 1, 1, tzinfo=UTC)


def record_of(row: Written) -> dict[str, Any]:
    """Everything of a row: what it says, its times, where it comes from, whether it rides, and its history."""
    times = {name: told(getattr(row, name)) for name in ("created_at", "updated_at", "deleted_at")}
    plain = {name: getattr(row, name) for name in PLAIN if hasattr(row, name)}
    pinned_at = {"pinned_at": told(row.pinned_at)} if isinstance(row, Pinnable) else {}
    entries = row.history.select_related("history_user").order_by("history_date", "history_id")
    history = [entry_record(entry, row.text_field) for entry in entries]
    return {"uid": str(row.uid), "text": row.typed, **plain, **pinned_at, **times, "history": history}


def entry_record(entry: Any, text_field: str) -> dict[str, Any]:
    """One entry of a history."""
    user = entry.history_user.get_username() if entry.history_user else None
    plain = {name: getattr(entry, name) for name in ENTRY}
    done = {"done": entry.done} if hasattr(entry, "done") else {}
    times = {"at": told(entry.history_date), "deleted_at": told(entry.deleted_at)}
    return {**times, "by": user, **plain, **done, "text": getattr(entry, text_field)}


def told(at: datetime | None) -> str | None:
    """A time as records tell it."""
    return at.isoformat() if at else None


def heard(value: Any) -> datetime | None:
    """A time from a record; ValidationError for what is none."""
    if value is None:
        return None
    try:
        at = parse_datetime(value)
    except (TypeError, ValueError):
        at = None
    if at is None or at.tzinfo is None or not OLDEST <= at < NEWEST:
        raise ValidationError(_("This is no time with a zone: %(value)s."), params={"value": str(value)[:40]})
    return at


def take_in(
    model: type[Written], project: Project, record: Mapping[str, Any], *, existing: Existing, by: Author
) -> str:
    """Let the project have what a record tells; "new", "same", "kept", "overwritten" or "both" says what was done.

    Raises ValidationError for a record that breaks a rule; nothing of it is stored then.
    """
    validate_strings(record)
    uid, wanted = uid_of(record), told_in(model, record)
    row = model._default_manager.filter(project=project, uid=uid).select_related("project").first()
    if row is None:
        create(model, project, uid, record, by=by)
        return "new"
    if all(getattr(row, name) == value for name, value in wanted.items()):
        return "same"
    if existing == "overwrite":
        overwrite(row, wanted, by=by)
        return "overwritten"
    if existing == "both":
        create(model, project, uuid4(), record, by=by)
        return "both"
    return "kept"


def told_in(model: type[Written], record: Mapping[str, Any]) -> dict[str, Any]:
    """What a record tells of how things stand, by the names of the fields; whatever it leaves out stays as it is."""
    states = {name: value for name, value in plain_in(model, record).items() if name in {"pinned", "done"}}
    return {model.text_field: text_in(record), "deleted_at": heard(record.get("deleted_at")), **states}


@transaction.atomic
def overwrite(row: Written, wanted: Mapping[str, Any], *, by: Author) -> None:
    """Let a row say, be and lie where a record tells."""
    row.overwrite(by=by, **{name: value for name, value in wanted.items() if name != "pinned"})
    if isinstance(row, Pinnable) and wanted.get("pinned", row.pinned) != row.pinned:
        row.pin() if wanted["pinned"] else row.unpin()


def validate_strings(record: Mapping[str, Any]) -> None:
    """Refuse characters that nothing can hold, wherever they stand: a message about them could not be told either."""
    left: list[Any] = [record]
    while left:
        value = left.pop()
        if isinstance(value, str):
            validate_characters(value)
        elif isinstance(value, dict):
            left += [*value, *value.values()]
        elif isinstance(value, list):
            left += value


def plain_in(model: type[Written], record: Mapping[str, Any]) -> dict[str, Any]:
    """The plain fields that a record tells and the model has, each of its own kind and not merely alike."""
    names = {field.name for field in model._meta.fields}
    plain = {name: record[name] for name in PLAIN if name in record and name in names}
    for name, value in plain.items():
        if not isinstance(value, PLAIN[name]):
            raise unreadable(name)
    return plain


def unreadable(name: str) -> ValidationError:
    """The refusal of a field that holds something else than it should."""
    return ValidationError(_("Its %(name)s cannot be read."), params={"name": name})


def text_in(record: Mapping[str, Any]) -> str:
    """The text of a record, as it is stored."""
    text = record.get("text")
    if not isinstance(text, str):
        raise ValidationError(_("There is no text in it."))
    validate_characters(text)
    return normal_lines(text)


def uid_of(record: Mapping[str, Any]) -> UUID:
    """What a record is known by everywhere."""
    try:
        return UUID(str(record.get("uid")))
    except ValueError as error:
        raise ValidationError(_("Its uid is none.")) from error


def create(model: type[Written], project: Project, uid: UUID, record: Mapping[str, Any], *, by: Author) -> None:
    """A new row with the times, the pin and the history of a record."""
    row = model(project=project, uid=uid, **plain_in(model, record), **{model.text_field: text_in(record)})
    now = timezone.now()
    row.created_at = heard(record.get("created_at")) or now
    row.updated_at = heard(record.get("updated_at")) or row.created_at
    row.deleted_at = heard(record.get("deleted_at"))
    if isinstance(row, Pinnable):
        row.pinned_at = (heard(record.get("pinned_at")) or now) if row.pinned else None
    row.derive()
    row.clean_fields(exclude=["project"])
    texts = [] if row.deleted_at else rows_for(row)
    entries = entries_of(row, record.get("history"))
    with transaction.atomic():
        if isinstance(row, Todo):
            row.position = place_at_end(Todo.objects.filter(project=project))
        row.save_without_historical_record(force_insert=True)  # type: ignore[attr-defined]
        for entry in entries:
            entry.id = row.pk
        row.history.model.objects.bulk_create(entries, batch_size=100)
        if not entries:
            row._record("+", by=by, reason="imported")
        find_by(row, texts)
        project_changed(project)


def entries_of(row: Written, history: Any) -> list[Any]:
    """The entries that a record tells, as entries of `row`."""
    entries: Sequence[Mapping[str, Any]] = [] if history is None else history
    if not isinstance(entries, list) or not all(isinstance(one, dict) for one in entries):
        raise unreadable("history")
    names = {str(one.get("by")) for one in entries}
    users = {name: user.pk for name, user in User.objects.in_bulk(names, field_name="username").items()}
    return [entry_of(row, one, users) for one in entries]


def entry_of(row: Written, record: Mapping[str, Any], users: Mapping[str, int]) -> Any:
    """One entry. Its revision and title are worked out anew, as those of any text are."""
    then = type(row)(project_id=row.project_id, **{row.text_field: text_in(record)})
    then.clean_fields(exclude={field.name for field in then._meta.fields} - {row.text_field})  # it may be restored
    if isinstance(then, Todo):
        then.done = plain_in(Todo, record).get("done", False)
    then.derive()
    then.deleted_at = heard(record.get("deleted_at"))
    kept = {field.attname: getattr(then, field.attname) for field in row.history.model.tracked_fields}
    kept |= {name: getattr(row, name) for name in ("source", "origin_session", "origin_message") if name in kept}
    through, reason = str(record.get("through")), record.get("history_change_reason")
    return row.history.model(
        **kept,
        history_date=heard(record.get("at")) or row.created_at,
        history_type="+" if record.get("history_type") == "+" else "~",
        history_change_reason=str(reason)[:100] if reason else None,
        history_user_id=users.get(str(record.get("by"))),
        through=through if through in Through.values else Through.IMPORT,
    )

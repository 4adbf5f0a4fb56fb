"""Archives: everything that the installed apps keep of one project, as one zip file of JSON lines.

Each app writes and reads parts under its own name (`knowledge/notes.jsonl`); what an archive holds
of apps that are not installed is left alone.
"""

from __future__ import annotations

import io
import json
import lzma
import struct
import zipfile
import zlib
from collections import Counter
from collections.abc import Iterable, Iterator
from pathlib import Path
from typing import IO, Any, Literal

from django.db import transaction
from django.utils.translation import gettext as _

from openchamber.models import Project
from openchamber.signals import archive_wanted

FORMAT = 1
MANIFEST = "openchamber.json"
# What unpacks to more than this was not made by us.
MOST_BYTES = 4 * 1024**3
MANIFEST_BYTES = 64 * 1024
# A line is read as a whole. It holds one text with its whole history: a long plan's own archive must fit.
LINE_BYTES = 64 * 1024**2
# What zipfile and its decompressors raise for broken, encrypted (RuntimeError) and strangely packed members.
DAMAGE = (zipfile.BadZipFile, zlib.error, lzma.LZMAError, struct.error, EOFError, OSError, RuntimeError, ValueError)

Existing = Literal["skip", "overwrite", "both"]


class ArchiveError(Exception):
    """The file is no archive of ours; the sentence says why."""


class Archive:
    """A zip file that is being written or read; `outcomes` counts what became of each thing that was read.

    `existing` says what happens to what the project has already: it stays, is overwritten, or both are kept.
    """

    def __init__(self, file: zipfile.ZipFile, *, writing: bool, name: str = "", existing: Existing = "skip") -> None:
        self.file, self.writing, self.name, self.existing = file, writing, name, existing
        self.outcomes: Counter[str] = Counter()
        self.refused: list[str] = []

    def write(self, name: str, records: Iterable[dict[str, Any]]) -> None:
        """Add the part `name`: one JSON object a line."""
        with self.file.open(name, "w", force_zip64=True) as part:
            for record in records:
                part.write(json.dumps(record, ensure_ascii=False).encode() + b"\n")

    def read(self, name: str) -> Iterator[dict[str, Any]]:
        """The records of the part `name`, in order; none when the archive has no such part."""
        for number, line in enumerate(self._lines(name), 1):
            try:
                record = json.loads(line)
            except (ValueError, RecursionError) as error:
                raise ArchiveError(_("%(name)s, line %(number)d: not JSON.") % self._at(name, number)) from error
            if not isinstance(record, dict):
                raise ArchiveError(_("%(name)s, line %(number)d: not an object.") % self._at(name, number))
            yield record

    def _lines(self, name: str) -> Iterator[bytes]:
        """The lines of a part, none of them longer than a line may be. What they are used for raises elsewhere."""
        if name not in self.file.namelist():
            return
        try:
            with self.file.open(name) as part:
                lines = io.BufferedReader(part)  # type: ignore[type-var]
                number = 0
                while line := lines.readline(LINE_BYTES + 1):
                    number += 1
                    if len(line) > LINE_BYTES:
                        raise ArchiveError(_("%(name)s, line %(number)d: too long.") % self._at(name, number))
                    yield line
        except DAMAGE as error:
            raise ArchiveError(_("%s is damaged.") % self.name) from error

    @staticmethod
    def _at(name: str, number: int) -> dict[str, Any]:
        return {"name": name, "number": number}


def export(project: Project, target: Path | IO[bytes]) -> None:
    """Write the whole project to `target`; a file there is replaced, and readable by its owner only."""
    if isinstance(target, Path):
        target.touch(mode=0o600)
        target.chmod(0o600)
    with zipfile.ZipFile(target, "w", zipfile.ZIP_DEFLATED) as file:
        file.writestr(MANIFEST, json.dumps({"format": FORMAT, "project": project.name}, ensure_ascii=False))
        archive_wanted.send(Project, project=project, archive=Archive(file, writing=True))


def take_in(
    project: Project, source: Path | IO[bytes], *, name: str, existing: Existing, most_bytes: int = MOST_BYTES
) -> Archive:
    """Read the archive `source`, called `name`, into the project; what became of everything stands in the answer.

    Raises `ArchiveError` for what is no archive of ours, also when that shows halfway: then nothing was taken in.
    """
    with _opened(source, name) as file, transaction.atomic():
        _check(file, name, most_bytes)
        found = Archive(file, writing=False, name=name, existing=existing)
        archive_wanted.send(Project, project=project, archive=found)
    return found


def _opened(source: Path | IO[bytes], name: str) -> zipfile.ZipFile:
    try:
        return zipfile.ZipFile(source)
    except DAMAGE as error:
        raise ArchiveError(_("%s is no archive of OpenChamber's.") % name) from error


def _check(file: zipfile.ZipFile, name: str, most_bytes: int) -> None:
    """Refuse what is not ours. Sizes come first: nothing is unpacked before they are known to be bearable."""
    if sum(member.file_size for member in file.infolist()) > most_bytes:
        raise ArchiveError(_("%s unpacks to more than an archive can hold.") % name)
    try:
        large = file.getinfo(MANIFEST).file_size > MANIFEST_BYTES
        manifest = None if large else json.loads(file.read(MANIFEST))
    except (KeyError, *DAMAGE) as error:
        raise ArchiveError(_("%s is no archive of OpenChamber's.") % name) from error
    if large:
        raise ArchiveError(
            _("%(name)s is no archive of OpenChamber's: its %(part)s is too large.") % {"name": name, "part": MANIFEST}
        )
    if not isinstance(manifest, dict) or manifest.get("format") != FORMAT:
        raise ArchiveError(_("%s was made by another version: its format is not known here.") % name)

"""Archives: everything that the installed apps keep of one project, as one zip file of JSON lines.

Each app writes and reads parts under its own name (`knowledge/notes.jsonl`); what an archive holds
of apps that are not installed is left alone.
"""

from __future__ import annotations

import json
import zipfile
from collections import Counter
from collections.abc import Iterable, Iterator
from pathlib import Path
from typing import Any, Literal

from django.utils.translation import gettext as _

FORMAT = 1
MANIFEST = "openchamber.json"
# What unpacks to more than this was not made by us.
MOST_BYTES = 4 * 1024**3

Existing = Literal["skip", "overwrite", "both"]


class ArchiveError(Exception):
    """The file is no archive of ours; the sentence says why."""


class Archive:
    """A zip file that is being written or read; `outcomes` counts what became of each thing that was read.

    `existing` says what happens to what the project has already: it stays, is overwritten, or both are kept.
    """

    def __init__(self, file: zipfile.ZipFile, *, writing: bool, existing: Existing = "skip") -> None:
        self.file, self.writing, self.existing = file, writing, existing
        self.outcomes: Counter[str] = Counter()
        self.refused: list[str] = []

    def write(self, name: str, records: Iterable[dict[str, Any]]) -> None:
        """Add the part `name`: one JSON object a line."""
        with self.file.open(name, "w", force_zip64=True) as part:
            for record in records:
                part.write(json.dumps(record, ensure_ascii=False).encode() + b"\n")

    def read(self, name: str) -> Iterator[dict[str, Any]]:
        """The records of the part `name`, in order; none when the archive has no such part."""
        if name not in self.file.namelist():
            return
        with self.file.open(name) as part:
            for number, line in enumerate(part, 1):
                try:
                    record = json.loads(line)
                except ValueError as error:
                    raise ArchiveError(_("%(name)s, line %(number)d: not JSON.") % self._at(name, number)) from error
                if not isinstance(record, dict):
                    raise ArchiveError(_("%(name)s, line %(number)d: not an object.") % self._at(name, number))
                yield record

    @staticmethod
    def _at(name: str, number: int) -> dict[str, Any]:
        return {"name": name, "number": number}


def begin(path: Path, *, project: str) -> Archive:
    """A new archive at `path`, which is replaced; readable by its owner only, as the data directory is."""
    path.touch(mode=0o600)
    path.chmod(0o600)
    file = zipfile.ZipFile(path, "w", zipfile.ZIP_DEFLATED)
    file.writestr(MANIFEST, json.dumps({"format": FORMAT, "project": project}, ensure_ascii=False))
    return Archive(file, writing=True)


def opened(path: Path, *, existing: Existing) -> Archive:
    """The archive at `path`, to be read."""
    try:
        file = zipfile.ZipFile(path)
        manifest = json.loads(file.read(MANIFEST))
    except (zipfile.BadZipFile, KeyError, ValueError) as error:
        raise ArchiveError(_("%s is no archive of OpenChamber's.") % path.name) from error
    if not isinstance(manifest, dict) or manifest.get("format") != FORMAT:
        raise ArchiveError(_("%s was made by another version: its format is not known here.") % path.name)
    if sum(member.file_size for member in file.infolist()) > MOST_BYTES:
        raise ArchiveError(_("%s unpacks to more than an archive can hold.") % path.name)
    return Archive(file, writing=False, existing=existing)

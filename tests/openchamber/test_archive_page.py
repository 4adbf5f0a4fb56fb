"""A project's archive on its page: downloaded, taken in elsewhere, and refused as a whole when it is none."""

from __future__ import annotations

import io
import zipfile
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from django.contrib.auth.models import User
from django.core.files.uploadedfile import SimpleUploadedFile
from django.test import Client
from django.urls import reverse

from openchamber.models import Project

pytestmark = pytest.mark.django_db


@pytest.fixture
def other(db: None, tmp_path: Path) -> Project:
    """Another project, empty."""
    return Project.objects.create(name="Other", slug="other", directory=str(tmp_path))


def write(panel: Client, project: Project, *bodies: str) -> None:
    for body in bodies:
        panel.post(reverse("knowledge:write-note", args=[project.slug]), {"body": body, "pinned": "on"})


def archive_of(panel: Client, project: Project) -> bytes:
    answer = panel.get(reverse("openchamber:download-archive", args=[project.slug]))
    assert answer["Content-Disposition"] == f'attachment; filename="{project.slug}.zip"'
    return bytes(answer.content)


def take_in(panel: Client, project: Project, data: bytes, existing: str = "skip") -> Any:
    file = SimpleUploadedFile("archive.zip", data)
    address = reverse("openchamber:take-in-archive", args=[project.slug])
    return panel.post(address, {"file": file, "existing": existing}, follow=True)


def bodies(project: Project) -> list[str]:
    return sorted(project.notes.live().values_list("body", flat=True))  # type: ignore[attr-defined]


def test_what_was_downloaded_is_taken_in_elsewhere_and_told(panel: Client, project: Project, other: Project) -> None:
    write(panel, project, "First", "Second")
    data = archive_of(panel, project)
    assert "Taken in: 2 new." in take_in(panel, other, data).content.decode()
    assert bodies(other) == ["First", "Second"]
    assert "2 already the same" in take_in(panel, other, data).content.decode()
    assert bodies(other) == ["First", "Second"]


def test_an_archive_that_breaks_off_changes_nothing(panel: Client, project: Project, other: Project) -> None:
    write(panel, project, "First")
    whole, broken = io.BytesIO(archive_of(panel, project)), io.BytesIO()
    with zipfile.ZipFile(whole) as source, zipfile.ZipFile(broken, "w") as target:
        for name in source.namelist():
            target.writestr(name, source.read(name) + (b"{nonsense" if name == "knowledge/plans.jsonl" else b""))
    answer = take_in(panel, other, broken.getvalue())
    assert answer.status_code == 422
    assert "knowledge/plans.jsonl, line 1: not JSON." in answer.content.decode()
    assert bodies(other) == []


@pytest.mark.parametrize("data", [b"", b"PK", b"no zip at all", bytes(range(256)) * 40])
def test_what_is_no_archive_is_refused(panel: Client, other: Project, data: bytes) -> None:
    answer = take_in(panel, other, data)
    assert answer.status_code == 422
    assert 'role="alert"' in answer.content.decode()


def test_a_damaged_archive_is_refused(panel: Client, project: Project, other: Project) -> None:
    write(panel, project, " ".join(f"word{number}" for number in range(500)))
    data = archive_of(panel, project)
    for position in range(5, len(data), len(data) // 12):
        damaged = data[:position] + bytes([data[position] ^ 0xFF]) + data[position + 1 :]
        assert take_in(panel, other, damaged).status_code in (200, 422)
        assert len(bodies(other)) <= 1


def test_strangers_neither_download_nor_take_in(
    project: Project, sign_in: Callable[..., Client], stranger: User, member: User
) -> None:
    address = reverse("openchamber:download-archive", args=[project.slug])
    assert sign_in(stranger).get(address).status_code == 404
    assert take_in(sign_in(stranger), project, b"").status_code == 404
    assert sign_in(member).get(address).status_code == 200

"""The databases' own search indexes can be taken back and made again."""

from __future__ import annotations

import pytest
from django.core.management import call_command

from openchamber.models import Project
from openchamber.search import ask


@pytest.mark.django_db(transaction=True)
def test_the_search_index_is_taken_back_and_made_again_with_what_is_there(write_note, project):
    write_note("berth")
    call_command("migrate", "knowledge", "0001_initial", verbosity=0)
    try:
        assert ask(Project.objects.all(), "berth").failed == ["knowledge"]
    finally:
        call_command("migrate", "knowledge", verbosity=0)
    assert [hit.title for hit in ask(Project.objects.all(), "berth").hits] == ["berth"]
    assert [hit.title for hit in ask(Project.objects.all(), "berht").hits] == ["berth"]

"""Keys of workspaces, temporary ones, and what a project's directories share."""

from __future__ import annotations

import os
import subprocess
import unicodedata
from pathlib import Path

import pytest
from django.conf import settings

from memory.holders import Holder, below, ensure, gather
from memory.models import Agent, Author, Entry, Scope
from memory.scopes import base_name, is_temporary, key_of, workspace_key, workspace_of
from openchamber.models import Project


@pytest.mark.parametrize(
    ("path", "key"),
    [
        ("/home/dev/my-app", "my-app-552851ba"),
        ("/home/u/src/My App!", "my-app-86bdeec2"),
        ("/srv/项目", "workspace-d965ae67"),
        ("/", "workspace-8a5edab2"),
        ("/a/site", "site-9011a02b"),
        ("/b/site", "site-a1cf0134"),
        ("/home/dev/user", "user-853ec8bd"),
        ("/home/dev/_site", "_site-d4dcc066"),
        ("/home/dev/.dotfiles", "dotfiles-28a9f481"),
        ("/home/dev/--weird--", "weird-f207bc87"),
        ("/home/dev/Café Menü", "caf-men-b8904961"),
        ("/home/dev/my项目app", "my-app-0be0c1b2"),
        ("/home/dev/a--b", "a--b-7e52a79f"),
        ("/home/dev/v1.2.3", "v1-2-3-48fdab3f"),
        (f"/home/dev/{'a' * 39}-bcd", f"{'a' * 39}--33b9ea28"),
        ("C:\\Users\\dev\\My App", "my-app-f32fce39"),
        ("C:\\", "workspace-28f709d7"),
    ],
)
def test_the_key_of_a_canonical_path(path: str, key: str) -> None:
    assert key_of(path, base_name(path)) == key
    assert len(key) <= 49


def test_the_two_spellings_of_an_accent_are_two_keys() -> None:
    composed = unicodedata.normalize("NFC", "/home/dev/Café")
    assert workspace_key(composed) != workspace_key(unicodedata.normalize("NFD", composed))


def test_dots_slashes_and_links_lead_to_the_same_key(tmp_path: Path) -> None:
    real = tmp_path.resolve() / "shop"
    real.mkdir()
    (tmp_path / "link").symlink_to(real)
    keys = {workspace_key(f"{real}{more}") for more in ("", "/", "/.", "/../shop")}
    assert keys | {workspace_key(str(tmp_path / "link"))} == {workspace_key(str(real))}


def test_a_directory_that_is_missing_or_a_loop_has_a_key_all_the_same(tmp_path: Path) -> None:
    (tmp_path / "loop").symlink_to(tmp_path / "loop")
    assert workspace_key(str(tmp_path / "gone")).startswith("gone-")
    assert workspace_key(str(tmp_path / "loop")).startswith("loop-")


@pytest.mark.parametrize(
    ("inside", "temporary"),
    [
        ("helper/workspaces/tmp-1", True),
        ("helper/workspaces/tmp-1/deep/er", True),
        ("helper/workspaces", False),
        ("helper/agent_state", False),
        ("helper/traces/workspaces/x", False),
        ("workspaces/x", False),
        ("", False),
    ],
)
def test_a_workspace_of_an_agent_s_own_is_temporary(inside: str, temporary: bool) -> None:
    assert is_temporary(os.path.join(settings.DATA_DIR, "agents", inside)) is temporary


def test_look_alikes_of_the_agents_directory_are_not_temporary(tmp_path: Path) -> None:
    assert not is_temporary(str(tmp_path / "agents" / "helper" / "workspaces" / "x"))
    assert not is_temporary(f"{settings.DATA_DIR}/agents-old/helper/workspaces/x")


def test_a_project_s_sub_directories_and_worktrees_share_its_scope(project: Project, directory: Path) -> None:
    git = ["git", "-c", "user.name=t", "-c", "user.email=t@example.org"]
    subprocess.run([*git, "init", "-q"], cwd=directory, check=True)
    subprocess.run([*git, "commit", "-q", "--allow-empty", "-m", "first"], cwd=directory, check=True)
    subprocess.run([*git, "worktree", "add", "-q", "../other"], cwd=directory, check=True)
    (directory / "src").mkdir()
    for place in (directory, directory / "src", directory.parent / "other"):
        assert workspace_of(str(place)) == str(directory)


def test_a_directory_outside_any_project_stands_for_itself(db: None, tmp_path: Path) -> None:
    assert workspace_of(str(tmp_path)) == str(tmp_path.resolve())


def test_a_temporary_directory_has_no_workspace_scope(agent: Agent) -> None:
    holder = Holder.of("", os.path.join(settings.DATA_DIR, "agents", "default", "workspaces", "tmp-1"))
    assert set(holder.keys) == {"user"}
    assert holder.scope("workspace") is None


def test_a_client_s_agent_is_the_row_of_its_name_or_the_default_one(agent: Agent) -> None:
    reviewer = Agent.objects.create(slug="reviewer", name="Reviewer")
    assert Agent.objects.of("reviewer") == reviewer
    assert Agent.objects.of("build") == Agent.objects.of("") == agent


def test_a_scope_outlives_its_directory(agent: Agent, tmp_path: Path) -> None:
    gone = tmp_path.resolve() / "gone"
    gone.mkdir()
    scope = Holder.of("", str(gone)).scope("workspace")
    gone.rmdir()
    assert Holder.of("", str(gone)).scope("workspace") == scope


def test_what_was_kept_below_a_project_can_be_moved_to_it(
    agent: Agent, project: Project, directory: Path, by: Author
) -> None:
    (directory / "api").mkdir()
    path = str(directory / "api")
    scope = ensure(agent, workspace_key(path), path)
    Entry.write(scope=scope, by=by, title="Port 8080", body="For the API.")
    apart = str(directory.parent / "shop-two")
    ensure(agent, workspace_key(apart), apart)

    assert below(project) == [scope]
    assert gather(project, scope, by=by) == (1, 0)

    moved = Entry.objects.get()
    assert moved.scope == Scope.objects.get(directory=str(directory))
    assert moved.history.first().history_change_reason == "moved"

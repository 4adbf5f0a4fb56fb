"""Which project a directory belongs to, with real git repositories and worktrees."""

from __future__ import annotations

import os
import subprocess
import unicodedata
from collections.abc import Iterator
from pathlib import Path

import pytest

from openchamber.models import Project
from openchamber.projects import resolve as resolver
from openchamber.projects.resolve import resolve

pytestmark = pytest.mark.django_db


@pytest.fixture(autouse=True)
def _fresh() -> Iterator[None]:
    resolver.forget_checkouts()
    yield
    resolver.forget_checkouts()


@pytest.fixture
def home(tmp_path: Path) -> Path:
    """A real directory to make things in."""
    return tmp_path.resolve()


def git(directory: Path, *words: str) -> None:
    identity = ["-c", "user.name=Test", "-c", "user.email=test@example.org", "-c", "protocol.file.allow=always"]
    subprocess.run(["git", *identity, *words], cwd=directory, check=True, capture_output=True)


def repository(directory: Path) -> Path:
    """A repository with one commit."""
    directory.mkdir(parents=True)
    git(directory, "init", "-q", "-b", "main")
    (directory / "packages" / "web").mkdir(parents=True)
    (directory / "packages" / "web" / "index").write_text("web")
    git(directory, "add", ".")
    git(directory, "commit", "-q", "-m", "Begin")
    return directory


def worktree(repository: Path, directory: Path) -> Path:
    """A linked worktree of `repository`."""
    git(repository, "worktree", "add", "-q", "-b", directory.name, str(directory))
    return directory


def project_at(directory: Path, **more: object) -> Project:
    slug = Project.everything.free_slug(directory.name)
    return Project.objects.create(name=directory.name, slug=slug, directory=str(directory), **more)


def found(directory: Path | str) -> tuple[Project | None, str]:
    resolution = resolve(str(directory))
    return resolution.project, resolution.matched_by


def test_the_project_s_own_directory_is_an_exact_match(home: Path) -> None:
    shop = project_at(home)
    assert found(home) == (shop, "exact")
    assert found(f"{home}/") == (shop, "exact")
    assert found(f"{home}/./x/..") == (shop, "exact")


def test_a_sub_directory_belongs_to_the_longest_ancestor(home: Path) -> None:
    outer, inner = project_at(home), project_at(home / "packages" / "web")
    (home / "packages" / "web" / "src").mkdir(parents=True)
    assert found(home / "packages" / "web" / "src") == (inner, "ancestor")
    assert found(home / "packages") == (outer, "ancestor")


def test_a_name_that_only_begins_alike_is_no_ancestor(home: Path) -> None:
    project_at(home / "shop")
    (home / "shop-old").mkdir()
    assert found(home / "shop-old") == (None, "none")


def test_a_symlink_counts_as_what_it_leads_to(home: Path) -> None:
    (home / "real" / "src").mkdir(parents=True)
    shop = project_at(home / "real")
    (home / "link").symlink_to(home / "real")
    assert found(home / "link") == (shop, "exact")
    assert found(home / "link" / "src") == (shop, "ancestor")


def test_a_link_inside_a_project_that_leads_out_of_it_is_outside(home: Path) -> None:
    (home / "shop").mkdir()
    (home / "elsewhere").mkdir()
    project_at(home / "shop")
    (home / "shop" / "out").symlink_to(home / "elsewhere")
    assert found(home / "shop" / "out") == (None, "none")


def test_a_loop_of_links_ends(home: Path) -> None:
    (home / "a").symlink_to(home / "b")
    (home / "b").symlink_to(home / "a")
    assert found(home / "a" / "x") == (None, "none")


@pytest.mark.parametrize(
    "name", ["with space", " leading", "trailing ", "Ünïcødé", "проєкт", "项目", "a'b\"c", "100%_"]
)
def test_names_with_spaces_and_unicode_match_as_they_are(home: Path, name: str) -> None:
    (home / name / "src").mkdir(parents=True)
    shop = project_at(home / name)
    assert found(home / name) == (shop, "exact")
    assert found(home / name / "src") == (shop, "ancestor")


def test_two_directories_that_differ_in_composition_only_are_two(home: Path) -> None:
    composed, decomposed = (unicodedata.normalize(form, "é") for form in ("NFC", "NFD"))
    for name in (composed, decomposed):
        (home / name).mkdir(exist_ok=True)
    if len(os.listdir(home)) == 1:
        pytest.skip("this file system sees one name")
    shop = project_at(home / composed)
    assert found(home / composed) == (shop, "exact")
    assert found(home / decomposed) == (None, "none")


def test_a_missing_directory_still_has_its_ancestor(home: Path) -> None:
    shop = project_at(home / "shop")
    assert found(home / "shop" / "gone" / "deeper") == (shop, "ancestor")
    assert found(home / "shop") == (shop, "exact")


@pytest.mark.parametrize("directory", ["", "relative/path", ".", "/with\0nul", "/half\ud800", "/" + "x" * 5000])
def test_what_is_no_directory_at_all_belongs_to_nothing(directory: str) -> None:
    assert found(directory) == (None, "none")


def test_the_root_directory_can_be_a_project(home: Path) -> None:
    everything = project_at(Path("/"))
    assert found("/") == (everything, "exact")
    assert found(home) == (everything, "ancestor")


def test_a_removed_project_takes_no_directories(home: Path) -> None:
    project_at(home).remove()
    assert found(home) == (None, "none")


def test_a_directory_outside_any_project_stands_for_itself(home: Path) -> None:
    (home / "link").symlink_to(home)
    assert resolve(str(home / "link")).root == str(home)


def test_a_linked_worktree_belongs_to_the_project_of_its_repository(home: Path) -> None:
    shop = project_at(repository(home / "shop"))
    tree = worktree(home / "shop", home / "trees" / "feature")
    assert found(tree) == (shop, "worktree")
    assert found(tree / "packages" / "web") == (shop, "worktree")
    assert resolve(str(tree)).root == str(home / "shop")


def test_a_worktree_inside_the_project_is_a_sub_directory(home: Path) -> None:
    shop = project_at(repository(home / "shop"))
    assert found(worktree(home / "shop", home / "shop" / ".trees" / "feature")) == (shop, "ancestor")


def test_a_worktree_that_is_a_project_itself_is_its_own(home: Path) -> None:
    project_at(repository(home / "shop"))
    tree = worktree(home / "shop", home / "feature")
    feature = project_at(tree)
    assert found(tree) == (feature, "exact")
    assert found(tree / "packages") == (feature, "ancestor")


def test_a_project_can_keep_its_worktrees_apart(home: Path) -> None:
    project_at(repository(home / "shop"), worktrees_apart=True)
    outside = worktree(home / "shop", home / "feature")
    within = worktree(home / "shop", home / "shop" / ".trees" / "other")
    assert found(outside) == (None, "none")
    assert found(within) == (None, "none")
    assert found(within / "packages") == (None, "none")


def test_worktrees_apart_leaves_sub_directories_and_submodules_alone(home: Path) -> None:
    shop = project_at(repository(home / "shop"), worktrees_apart=True)
    git(home / "shop", "submodule", "add", str(repository(home / "library")), "library")
    assert found(home / "shop" / "packages") == (shop, "ancestor")
    assert found(home / "shop" / "library") == (shop, "ancestor")


def test_a_worktree_of_a_part_goes_with_the_project_of_that_part(home: Path) -> None:
    repository(home / "shop")
    web = project_at(home / "shop" / "packages" / "web")
    tree = worktree(home / "shop", home / "feature")
    assert found(tree / "packages" / "web") == (web, "worktree")
    assert found(tree / "packages") == (None, "none")


def test_a_project_around_the_repository_has_its_worktrees_too(home: Path) -> None:
    code = project_at(home / "code")
    repository(home / "code" / "shop")
    assert found(worktree(home / "code" / "shop", home / "feature")) == (code, "worktree")


def test_a_project_that_is_a_worktree_has_the_main_checkout_and_its_siblings(home: Path) -> None:
    repository(home / "shop")
    feature = project_at(worktree(home / "shop", home / "feature"))
    other = worktree(home / "shop", home / "other")
    assert found(home / "shop") == (feature, "worktree")
    assert found(other) == (feature, "worktree")


def test_of_several_projects_of_one_repository_the_main_checkout_wins(home: Path) -> None:
    repository(home / "shop")
    project_at(worktree(home / "shop", home / "feature"))
    shop = project_at(home / "shop")
    assert found(worktree(home / "shop", home / "other")) == (shop, "worktree")


def test_a_bare_repository_with_worktrees_beside_it(home: Path) -> None:
    git(repository(home / "origin").parent, "clone", "-q", "--bare", str(home / "origin"), str(home / "shop.git"))
    main = project_at(worktree(home / "shop.git", home / "trees" / "one"))
    assert found(worktree(home / "shop.git", home / "trees" / "two")) == (main, "worktree")


def test_a_repository_whose_directory_lies_elsewhere(home: Path) -> None:
    (home / "shop").mkdir()
    git(home / "shop", "init", "-q", "-b", "main", "--separate-git-dir", str(home / "store"))
    git(home / "shop", "commit", "-q", "--allow-empty", "-m", "Begin")
    shop = project_at(home / "shop")
    assert found(worktree(home / "shop", home / "feature")) == (shop, "worktree")


def test_a_worktree_reached_by_a_symlink(home: Path) -> None:
    shop = project_at(repository(home / "shop"))
    tree = worktree(home / "shop", home / "feature")
    (home / "link").symlink_to(tree)
    assert found(home / "link" / "packages") == (shop, "worktree")


def test_a_worktree_with_relative_paths(home: Path) -> None:
    shop = project_at(repository(home / "shop"))
    tree = worktree(home / "shop", home / "feature")
    (tree / ".git").write_text("gitdir: ../shop/.git/worktrees/feature\n")
    (home / "shop" / ".git" / "worktrees" / "feature" / "gitdir").write_text("../../../../feature/.git\n")
    assert found(tree) == (shop, "worktree")


def test_another_repository_of_the_same_name_is_another(home: Path) -> None:
    project_at(repository(home / "one" / "shop"))
    assert found(repository(home / "two" / "shop")) == (None, "none")


def test_a_clone_is_not_a_worktree(home: Path) -> None:
    project_at(repository(home / "shop"))
    git(home, "clone", "-q", str(home / "shop"), str(home / "copy"))
    assert found(home / "copy") == (None, "none")


def test_a_folder_that_only_claims_to_be_a_worktree_is_none(home: Path) -> None:
    project_at(repository(home / "shop"))
    worktree(home / "shop", home / "feature")
    for name, told in {
        "same": home / "shop" / ".git" / "worktrees" / "feature",
        "whole": home / "shop" / ".git",
        "own": home / "own" / "store",
    }.items():
        (home / name).mkdir()
        (home / name / ".git").write_text(f"gitdir: {told}\n")
    (home / "linked").mkdir()
    (home / "linked" / ".git").symlink_to(home / "shop" / ".git")
    (home / "own" / "store").mkdir()
    (home / "own" / "store" / "commondir").write_text(f"{home / 'shop' / '.git'}\n")
    (home / "own" / "store" / "gitdir").write_text(f"{home / 'own' / '.git'}\n")
    for name in ("same", "whole", "own", "linked"):
        assert found(home / name) == (None, "none")


@pytest.mark.parametrize("content", [b"", b"gitdir:", b"gitdir: /nowhere", b"\xff\xfe\x00", b"gitdir: " + b"x" * 9000])
def test_a_broken_git_file_belongs_to_nothing(home: Path, content: bytes) -> None:
    project_at(repository(home / "shop"))
    (home / "broken").mkdir()
    (home / "broken" / ".git").write_bytes(content)
    assert found(home / "broken") == (None, "none")


def test_git_need_not_be_installed(home: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    shop = project_at(repository(home / "shop"))
    tree = worktree(home / "shop", home / "feature")
    monkeypatch.setenv("PATH", str(home))
    assert found(tree) == (shop, "worktree")


def test_the_usual_answer_costs_one_query_however_many_projects(home: Path, django_assert_num_queries) -> None:
    Project.objects.bulk_create(
        Project(name=f"p{number}", slug=f"p{number}", directory=str(home / f"p{number}")) for number in range(200)
    )
    with django_assert_num_queries(1):
        assert found(home / "p7" / "src")[1] == "ancestor"
    with django_assert_num_queries(1):
        assert found(home)[1] == "none"


def test_projects_of_the_same_name_get_slugs_of_their_own(home: Path) -> None:
    assert [project_at(home / parent / "shop").slug for parent in "abc"] == ["shop", "shop-2", "shop-3"]
    assert project_at(home / "42").slug == "project-42"
    assert project_at(home / "项目").slug == "project"

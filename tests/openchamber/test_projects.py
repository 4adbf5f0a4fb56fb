"""Projects in the panel and over the API: added by directory, renamed, shared, removed and brought back."""

from __future__ import annotations

import json
import threading
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from django.contrib.auth.models import User
from django.db import connection
from django.test import Client

from openchamber.models import ApiToken, Project, Session
from openchamber.sessions.rows import find_session

pytestmark = pytest.mark.django_db


@pytest.fixture
def api(owner: User) -> Client:
    """A program with a token that reaches everything."""
    _token, secret = ApiToken.make(name="test", user=owner)
    return Client(headers={"Authorization": f"Bearer {secret}"})


def send(client: Client, method: str, path: str, **body: Any) -> Any:
    return client.generic(method, path, json.dumps(body), content_type="application/json")


# The panel ------------------------------------------------------------------------------


def test_a_project_is_added_by_its_directory(panel: Client, directory: Path, owner: User) -> None:
    answer = panel.post("/projects/", {"directory": str(directory)})
    project = Project.objects.get()
    assert answer.headers["Location"] == f"/projects/{project.slug}/"
    assert (project.name, project.slug, project.directory) == ("shop", "shop", str(directory))
    assert list(project.members.all()) == [owner]


def test_adding_with_htmx_goes_to_the_project_as_a_whole_page(htmx: Client, directory: Path) -> None:
    answer = htmx.post("/projects/", {"directory": str(directory), "name": "The shop"})
    assert answer.headers["HX-Redirect"] == "/projects/the-shop/"


def test_the_same_directory_by_another_way_is_the_same_project(panel: Client, project: Project, tmp_path: Path) -> None:
    (tmp_path / "link").symlink_to(project.directory)
    for way in (project.directory + "/", str(tmp_path / "link"), project.directory + "/../shop"):
        answer = panel.post("/projects/", {"directory": way}, follow=False)
        assert answer.headers["Location"] == "/projects/shop/"
    assert Project.objects.count() == 1


@pytest.mark.parametrize(
    ("written", "sentence"),
    [
        ("", "This field is required"),
        ("shop", "Give the whole path"),
        ("/nowhere/at/all", "There is no directory at /nowhere/at/all"),
        ("/" + "x" * 5000, "at most 4096 characters"),
        ("/etc/passwd", "There is no directory"),
    ],
)
def test_a_directory_that_cannot_be_one_is_refused_in_place(
    panel: Client, htmx: Client, written: str, sentence: str
) -> None:
    page = panel.post("/projects/", {"directory": written})
    assert page.status_code == 422
    assert sentence in page.content.decode()
    fragment = htmx.post("/projects/", {"directory": written})
    assert fragment.status_code == 422
    assert fragment.content.strip().startswith(b'<form class="fields" id="project-form"')
    assert not Project.objects.exists()


def test_a_tilde_is_the_home_directory(panel: Client, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("HOME", str(tmp_path))
    (tmp_path / "code").mkdir()
    panel.post("/projects/", {"directory": "~/code"})
    assert Project.objects.get().directory == str(tmp_path.resolve() / "code")


def test_the_list_names_each_project_and_its_directory(panel: Client, project: Project) -> None:
    page = panel.get("/").content.decode()
    assert project.name in page
    assert project.directory in page
    assert 'href="/projects/shop/"' in page


def test_the_list_costs_the_same_for_2_and_200_projects(
    panel: Client, count_queries: Callable[[Callable[[], Any]], int]
) -> None:
    def make(numbers: range) -> None:
        Project.objects.bulk_create(Project(name=f"P{n}", slug=f"p{n}", directory=f"/p{n}") for n in numbers)

    make(range(2))
    few = count_queries(lambda: panel.get("/"))
    make(range(2, 200))
    assert count_queries(lambda: panel.get("/")) == few


def test_names_are_shown_as_text(panel: Client, project: Project) -> None:
    project.edit(name="<script>alert(1)</script>", worktrees_apart=False)
    for path in ("/", "/projects/shop/edit/"):
        assert b"<script>alert" not in panel.get(path).content


def test_a_user_sees_their_own_projects_only(
    sign_in: Callable[..., Client], member: User, stranger: User, project: Project
) -> None:
    assert project.directory in sign_in(member).get("/").content.decode()
    page = sign_in(stranger)
    assert project.directory not in page.get("/").content.decode()
    for method, path in [
        ("get", "edit/"),
        ("post", "edit/"),
        ("post", "remove/"),
        ("post", "undelete/"),
        ("post", "members/"),
        ("post", f"members/{member.pk}/remove/"),
    ]:
        assert getattr(page, method)(f"/projects/shop/{path}").status_code == 404


def test_only_staff_makes_projects_of_directories(
    sign_in: Callable[..., Client], stranger: User, tmp_path: Path
) -> None:
    answer = sign_in(stranger).post("/projects/", {"directory": str(tmp_path)})
    assert answer.status_code == 403
    assert not Project.objects.exists()


def test_somebody_else_s_directory_is_not_given_away(
    sign_in: Callable[..., Client], stranger: User, project: Project
) -> None:
    stranger.is_staff = True
    stranger.save()
    for _ in range(2):
        answer = sign_in(stranger).post("/projects/", {"directory": project.directory})
        assert answer.status_code == 409
        assert b"somebody else" in answer.content
        assert not project.members.exists()
        project.remove()
    assert not Project.objects.exists()


def test_a_project_is_renamed_and_keeps_its_address(panel: Client, project: Project) -> None:
    answer = panel.post("/projects/shop/edit/", {"name": "The shop", "worktrees_apart": "on"})
    assert answer.status_code == 302
    project.refresh_from_db()
    assert (project.name, project.slug, project.worktrees_apart) == ("The shop", "shop", True)


def test_a_project_needs_a_name(panel: Client, project: Project) -> None:
    page = panel.post("/projects/shop/edit/", {"name": " "})
    assert page.status_code == 422
    assert b'<h1 class="display">Shop</h1>' in page.content
    project.refresh_from_db()
    assert project.name == "Shop"


def test_a_removed_project_comes_back_with_one_click(panel: Client, project: Project) -> None:
    assert panel.post("/projects/shop/remove/").headers["Location"] == "/"
    assert panel.get("/projects/shop/edit/").status_code == 404
    assert b'action="/projects/shop/undelete/"' in panel.get("/").content
    assert panel.post("/projects/shop/undelete/").headers["Location"] == "/projects/shop/"
    assert panel.get("/projects/shop/edit/").status_code == 200


def test_adding_a_removed_project_s_directory_brings_it_back(panel: Client, project: Project) -> None:
    project.remove()
    panel.post("/projects/", {"directory": project.directory, "name": "Other"})
    assert Project.objects.get() == project


def test_sessions_that_were_met_before_go_with_their_project(panel: Client, project: Project, tmp_path: Path) -> None:
    part = Path(project.directory) / "part"
    part.mkdir()
    nowhere, inside = tmp_path.resolve() / "nowhere", part / "deep"
    for name, directory, owned in [("ses_1", nowhere, None), ("ses_2", inside, project), ("ses_3", tmp_path, None)]:
        Session.objects.create(pk=name, directory=str(directory), project=owned)
    nowhere.mkdir()
    for directory in (nowhere, part):
        panel.post("/projects/", {"directory": str(directory)})
    belongs = dict(Session.objects.values_list("pk", "project__slug"))
    assert belongs == {"ses_1": "nowhere", "ses_2": "part", "ses_3": None}


def test_a_session_that_belonged_nowhere_is_looked_at_again(project: Project) -> None:
    Session.objects.create(pk="ses_1", directory=project.directory)
    found = find_session("ses_1")
    assert found is not None
    assert found.project == Session.objects.get(pk="ses_1").project == project


def test_acts_on_projects_are_posts(panel: Client, project: Project) -> None:
    for act in ("remove", "undelete", "members"):
        assert panel.get(f"/projects/shop/{act}/").status_code == 405
    page = panel.get("/projects/")
    assert (page.status_code, page.headers["Allow"]) == (405, "POST")
    assert "There is nothing at this address." in page.content.decode()  # else the browser shows an error of its own


def test_members_are_added_and_taken_out(
    panel: Client, sign_in: Callable[..., Client], stranger: User, project: Project
) -> None:
    panel.post("/projects/shop/members/", {"username": "stranger"})
    assert sign_in(stranger).get("/projects/shop/edit/").status_code == 200
    panel.post(f"/projects/shop/members/{stranger.pk}/remove/")
    assert sign_in(stranger).get("/projects/shop/edit/").status_code == 404


def test_an_unknown_member_is_refused_in_place(panel: Client, project: Project) -> None:
    page = panel.post("/projects/shop/members/", {"username": "nobody"})
    assert page.status_code == 422
    assert b"There is no user of that name" in page.content


def test_who_takes_themselves_out_lands_on_the_list(
    sign_in: Callable[..., Client], member: User, project: Project
) -> None:
    answer = sign_in(member).post(f"/projects/shop/members/{member.pk}/remove/")
    assert answer.headers["Location"] == "/"


# The API --------------------------------------------------------------------------------


def test_post_makes_a_project_once(api: Client, directory: Path) -> None:
    made = send(api, "POST", "/api/projects", directory=str(directory), name="The shop")
    again = send(api, "POST", "/api/projects", directory=f"{directory}/.", name="Other")
    assert (made.status_code, again.status_code) == (201, 200)
    assert made.json() == again.json()
    assert {"id", "slug", "name", "directory"} <= set(made.json())
    assert made.json()["name"] == "The shop"


def test_a_project_is_found_by_id_and_by_slug(api: Client, project: Project) -> None:
    by_id, by_slug = api.get(f"/api/projects/{project.pk}"), api.get("/api/projects/shop")
    assert by_id.json() == by_slug.json()
    assert by_id.json()["id"] == str(project.pk)


@pytest.mark.parametrize("directory", ["", "shop", "/nowhere/at/all", "/etc/passwd", "/a\0b", "x" * 5000])
def test_post_refuses_what_is_no_directory(api: Client, directory: str) -> None:
    answer = send(api, "POST", "/api/projects", directory=directory)
    assert answer.status_code == 422
    assert list(answer.json()["error"]["fields"]) == ["directory"]


def test_patch_changes_what_is_named(api: Client, project: Project) -> None:
    assert send(api, "PATCH", "/api/projects/shop", name="The shop").json()["name"] == "The shop"
    changed = send(api, "PATCH", "/api/projects/shop", worktrees_apart=True).json()
    assert (changed["name"], changed["worktrees_apart"]) == ("The shop", True)
    refused = send(api, "PATCH", "/api/projects/shop", name="")
    assert refused.status_code == 422
    assert list(refused.json()["error"]["fields"]) == ["name"]


def test_delete_removes_and_the_directory_brings_back(api: Client, project: Project) -> None:
    assert api.delete("/api/projects/shop").status_code == 204
    assert api.get("/api/projects/shop").status_code == 404
    assert api.delete("/api/projects/shop").status_code == 404
    back = send(api, "POST", "/api/projects", directory=project.directory)
    assert (back.status_code, back.json()["id"]) == (201, str(project.pk))


def test_a_bound_token_adds_no_projects(owner: User, project: Project, tmp_path: Path) -> None:
    _token, secret = ApiToken.make(name="test", user=owner, projects=[project])
    client = Client(headers={"Authorization": f"Bearer {secret}"})
    assert send(client, "POST", "/api/projects", directory=str(tmp_path)).status_code == 403


def test_resolve_says_how_a_directory_was_matched(api: Client, project: Project, tmp_path: Path) -> None:
    exact = api.get("/api/projects/resolve", {"directory": project.directory}).json()
    below = api.get("/api/projects/resolve", {"directory": f"{project.directory}/src"}).json()
    none = api.get("/api/projects/resolve", {"directory": str(tmp_path)}).json()
    assert (exact["project"]["slug"], exact["root"], exact["matched_by"]) == ("shop", project.directory, "exact")
    assert (below["project"]["slug"], below["root"], below["matched_by"]) == ("shop", project.directory, "ancestor")
    assert none == {"project": None, "root": str(tmp_path.resolve()), "matched_by": "none"}


def test_resolve_does_not_name_somebody_else_s_project(stranger: User, project: Project) -> None:
    _token, secret = ApiToken.make(name="test", user=stranger)
    client = Client(headers={"Authorization": f"Bearer {secret}"})
    answer = client.get("/api/projects/resolve", {"directory": f"{project.directory}/src"}).json()
    assert answer == {"project": None, "root": f"{project.directory}/src", "matched_by": "none"}


@pytest.mark.django_db(transaction=True)
def test_many_who_add_one_directory_at_once_get_one_project(owner: User, directory: Path, rounds: range) -> None:
    for _ in rounds:
        results: list[tuple[Project, bool]] = []

        def add(results: list[tuple[Project, bool]] = results) -> None:
            results.append(Project.add(directory=str(directory), name="shop", by=owner))
            connection.close()

        threads = [threading.Thread(target=add) for _ in range(5)]
        for thread in threads:
            thread.start()
        for thread in threads:
            thread.join()
        assert len(results) == 5
        assert len({project.pk for project, _new in results}) == 1
        assert sum(new for _project, new in results) == 1
        Project.everything.all().delete()


def test_an_empty_form_is_refused_like_a_wrong_one(panel: Client, project: Project) -> None:
    for path in ("/projects/", "/projects/shop/edit/", "/projects/shop/members/"):
        assert panel.post(path).status_code == 422

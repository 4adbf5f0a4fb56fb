"""What every operation of the API has in common: who may ask, the shape of errors, lists and revisions."""

from __future__ import annotations

import html
import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from django.contrib.auth.models import User
from django.http import HttpResponse
from django.test import Client, RequestFactory
from django.utils import timezone

from openchamber import __version__
from openchamber.errors import Malformed
from openchamber.models import ApiToken, Project
from openchamber.paging import Paging, page, page_of
from openchamber.revisions import etag, seen_revision
from tests.environment import MEMORY

pytestmark = pytest.mark.django_db


def bearer(user: User, **options: Any) -> Client:
    """A program's client with a new token of the user's."""
    _token, secret = ApiToken.make(name="test", user=user, **options)
    return Client(headers={"Authorization": f"Bearer {secret}"})


@pytest.fixture
def api(owner: User) -> Client:
    """A program with a token that reaches everything."""
    return bearer(owner)


def error_of(answer: HttpResponse, status: int) -> dict[str, Any]:
    """The error of an answer, after a look at its shape."""
    assert answer.status_code == status
    assert answer.headers["Content-Type"].startswith("application/json")
    body = json.loads(answer.content)
    assert set(body) <= {"error", "current"}
    assert set(body["error"]) <= {"code", "message", "fields"}
    assert body["error"]["message"]
    return body["error"]


# Health ---------------------------------------------------------------------------------


def test_health_answers_anybody(client: Client) -> None:
    answer = client.get("/api/health").json()
    assert answer == {"status": "ok", "version": __version__, "database": answer["database"]}
    assert answer["database"] in {"sqlite", "postgresql"}


def test_health_shows_the_agent_server_to_those_who_are_signed_in(api: Client, panel: Client) -> None:
    assert api.get("/api/health").json()["agent_server"] is None
    assert panel.get("/api/health").json()["agent_server"] is None


def test_health_with_an_agent_server_that_is_gone(api: Client, client: Client) -> None:
    from openchamber.models import AgentServer

    AgentServer.objects.create(url="http://127.0.0.1:9")
    expected = {"url": "http://127.0.0.1:9", "reachable": False, "version": ""}
    assert api.get("/api/health").json()["agent_server"] == expected
    assert "agent_server" not in client.get("/api/health").json()


# Who may ask ----------------------------------------------------------------------------


def test_nobody_is_401(client: Client) -> None:
    assert error_of(client.get("/api/projects"), 401)["code"] == "unauthenticated"


def test_health_answers_a_wrong_token_as_it_answers_a_stranger(owner: User) -> None:
    assert "agent_server" not in Client().get("/api/health", headers={"Authorization": "Bearer x"}).json()
    assert "agent_server" not in bearer(owner, scope="agent").get("/api/health").json()


@pytest.mark.parametrize("header", ["Bearer nonsense", "Bearer ", "bearer oc_", "Bearer é", "Bearer  x y"])
def test_a_wrong_token_is_401_even_for_who_is_signed_in(panel: Client, header: str) -> None:
    error_of(panel.get("/api/projects", headers={"Authorization": header}), 401)


def test_a_token_reaches_the_api_and_its_use_is_noted(api: Client) -> None:
    assert api.get("/api/projects").status_code == 200
    assert ApiToken.objects.get().used_at is not None


def test_a_token_is_noted_once_a_minute(api: Client, django_assert_num_queries: Any) -> None:
    api.get("/api/projects")
    with django_assert_num_queries(2):
        api.get("/api/projects")


def test_a_token_needs_no_csrf_token_and_no_cookie(owner: User, directory: Path) -> None:
    _token, secret = ApiToken.make(name="test", user=owner)
    client = Client(enforce_csrf_checks=True, headers={"Authorization": f"Bearer {secret}"})
    body = json.dumps({"directory": str(directory)})
    answer = client.post("/api/projects", body, content_type="application/json")
    assert answer.status_code == 201
    assert not answer.cookies


def test_a_revoked_token_is_refused(owner: User) -> None:
    client = bearer(owner)
    ApiToken.objects.get().revoke()
    error_of(client.get("/api/projects"), 401)


def test_a_token_of_a_user_who_was_switched_off_is_refused(owner: User) -> None:
    client = bearer(owner)
    owner.is_active = False
    owner.save()
    error_of(client.get("/api/projects"), 401)


def test_only_a_hash_of_a_token_is_stored(owner: User) -> None:
    _token, secret = ApiToken.make(name="test", user=owner)
    assert secret[8:] not in str(list(ApiToken.objects.values()))


def test_the_environment_s_token_speaks_for_the_owner(client: Client, project: Project, settings: Any) -> None:
    settings.ENVIRONMENT_TOKEN = "a-token-from-the-environment"
    headers = {"Authorization": "Bearer a-token-from-the-environment"}
    assert [row["slug"] for row in client.get("/api/projects", headers=headers).json()["results"]] == ["shop"]
    error_of(client.get("/api/projects", headers={"Authorization": "Bearer a-token-from-the-environmen"}), 401)


def test_without_a_token_in_the_environment_an_empty_one_is_refused(client: Client, owner: User, settings: Any) -> None:
    settings.ENVIRONMENT_TOKEN = ""
    error_of(client.get("/api/projects", headers={"Authorization": "Bearer "}), 401)


def test_the_session_reaches_the_api_with_the_csrf_token_only(
    sign_in: Callable[..., Client], owner: User, directory: Path
) -> None:
    client = sign_in(owner, enforce_csrf_checks=True)
    body = json.dumps({"directory": str(directory)})
    assert client.get("/api/projects").status_code == 200
    assert error_of(client.post("/api/projects", body, content_type="application/json"), 403)["code"] == "csrf_failed"
    token = client.get("/settings/").context["csrf_token"]
    answer = client.post("/api/projects", body, content_type="application/json", headers={"X-CSRFToken": str(token)})
    assert answer.status_code == 201


@pytest.mark.parametrize("path", ["/api/projects", "/api/projects/shop", "/api/projects/resolve?directory=/"])
def test_a_token_for_agents_reaches_agents_paths_only(owner: User, project: Project, path: str) -> None:
    error_of(bearer(owner, scope="agent").get(path), 403)


def test_a_token_for_agents_reaches_what_hooks_need(owner: User) -> None:
    answer = bearer(owner, scope="agent").get("/api/context/tools?directory=/")
    assert answer.status_code == 200


@pytest.mark.parametrize("path", ["/api/knowledge/toolbox", "/api/contexts", "/api/context/../projects"])
def test_a_path_that_only_looks_like_an_agent_s_is_not(owner: User, path: str) -> None:
    assert bearer(owner, scope="agent").get(path).status_code in {403, 404}


# Whose data -----------------------------------------------------------------------------


def slugs(client: Client) -> list[str]:
    return [row["slug"] for row in client.get("/api/projects").json()["results"]]


def test_a_user_sees_the_projects_that_they_are_a_member_of(member: User, stranger: User, project: Project) -> None:
    Project.objects.create(name="Other", slug="other", directory="/other")
    assert slugs(bearer(member)) == ["shop"]
    assert slugs(bearer(stranger)) == []
    error_of(bearer(stranger).get(f"/api/projects/{project.pk}"), 404)


def test_a_bound_token_sees_its_projects_only(owner: User, project: Project) -> None:
    other = Project.objects.create(name="Other", slug="other", directory="/other")
    client = bearer(owner, projects=[other])
    assert slugs(client) == ["other"]
    error_of(client.get("/api/projects/shop"), 404)
    error_of(client.delete("/api/projects/shop"), 404)


def test_a_bound_token_whose_project_is_gone_sees_nothing(owner: User, project: Project) -> None:
    other = Project.objects.create(name="Other", slug="other", directory="/other")
    client = bearer(owner, projects=[other])
    other.remove()
    assert slugs(client) == []
    other.delete()
    assert slugs(client) == []


def test_a_bound_token_never_sees_more_than_its_user(member: User, stranger: User, project: Project) -> None:
    client = bearer(member, projects=[project])
    assert slugs(client) == ["shop"]
    project.members.remove(member)
    assert slugs(client) == []


# The shape of errors --------------------------------------------------------------------


@pytest.mark.parametrize("path", ["/api/", "/api/nothing", "/api/projects/", "/api/projects/shop/nothing/at/all"])
def test_an_unknown_path_is_404(api: Client, client: Client, path: str) -> None:
    assert error_of(api.get(path), 404)["code"] == "not_found"
    assert error_of(client.post(path), 404)["code"] == "not_found"


@pytest.mark.skipif(bool(MEMORY), reason="memory is installed")
def test_memory_s_paths_are_unknown_like_any_other_without_memory(api: Client) -> None:
    plain = error_of(api.get("/api/nothing"), 404)
    for path in ("/api/memory/tool", "/api/agents/default/config", "/api/settings"):
        assert error_of(api.get(path), 404) == plain


def test_another_method_is_405_and_says_which_work(api: Client) -> None:
    answer = api.put("/api/projects")
    assert error_of(answer, 405)["code"] == "method_not_allowed"
    assert set(answer.headers["Allow"].split(", ")) == {"GET", "POST"}


@pytest.mark.parametrize("body", [b"{", b"", b"\xff\xfe", b'{"a": NaN}', b'{"a": 1e999}', b"[" * 100_000])
def test_a_body_that_is_no_json_is_400(api: Client, body: bytes) -> None:
    answer = api.post("/api/projects", body, content_type="application/json")
    assert answer.status_code == (422 if body == b"" else 400)
    error_of(answer, answer.status_code)


@pytest.mark.parametrize("body", ["[]", "null", "3", '"x"'])
def test_a_body_that_is_no_object_is_422(api: Client, body: str) -> None:
    error = error_of(api.post("/api/projects", body, content_type="application/json"), 422)
    assert (error["code"], list(error["fields"])) == ("invalid", ["payload"])


@pytest.mark.parametrize("body", ["{}", '{"directory": 3}', '{"directory": null}'])
def test_a_body_of_another_shape_is_422_and_names_the_field(api: Client, body: str) -> None:
    error = error_of(api.post("/api/projects", body, content_type="application/json"), 422)
    assert error["code"] == "invalid"
    assert list(error["fields"]) == ["directory"]


@pytest.mark.parametrize("query", ["limit=x", "limit=0", "limit=-1"])
def test_a_query_that_breaks_a_rule_is_422_and_names_the_field(api: Client, query: str) -> None:
    assert list(error_of(api.get(f"/api/projects?{query}"), 422)["fields"]) == ["limit"]


@pytest.mark.parametrize(
    "path", ["/api/projects/%00", "/api/projects?cursor=%00", "/api/projects/resolve?directory=%00"]
)
def test_nul_is_400_and_no_bug(api: Client, path: str) -> None:
    assert error_of(api.get(path), 400)["code"] == "malformed"


def test_a_body_that_is_too_large_is_413(api: Client, settings: Any) -> None:
    settings.DATA_UPLOAD_MAX_MEMORY_SIZE = 1000
    body = json.dumps({"directory": "/" + "x" * 1000})
    assert error_of(api.post("/api/projects", body, content_type="application/json"), 413)["code"] == "too_large"


def test_a_host_name_that_is_not_ours_is_400(api: Client) -> None:
    assert error_of(api.get("/api/projects", headers={"Host": "evil.example"}), 400)["code"] == "unknown_host"
    page = api.get("/login/", headers={"Host": "evil.example"})
    assert (page.status_code, page.headers["Content-Type"]) == (400, "text/plain; charset=utf-8")


@pytest.mark.parametrize("debug", [False, True])
def test_a_bug_is_500_without_a_traceback(
    owner: User, settings: Any, monkeypatch: pytest.MonkeyPatch, debug: bool
) -> None:
    settings.DEBUG = debug

    def broken(*_arguments: object) -> None:
        raise RuntimeError("the database password is hunter2")

    monkeypatch.setattr("openchamber.projects.api.resolve", broken)
    client = bearer(owner)
    client.raise_request_exception = False
    answer = client.get("/api/projects/resolve?directory=/")
    assert error_of(answer, 500)["code"] == "internal_error"
    assert b"hunter2" not in answer.content
    assert b"Traceback" not in answer.content


def test_an_id_beyond_every_integer_is_404(api: Client) -> None:
    error_of(api.get(f"/api/projects/{'9' * 40}"), 404)


def test_the_schema_describes_the_api(client: Client) -> None:
    schema = client.get("/api/openapi.json").json()
    assert schema["info"] == {
        "title": "OpenChamber",
        "version": __version__,
        "description": schema["info"]["description"],
    }
    assert {"/api/health", "/api/projects", "/api/projects/resolve"} <= set(schema["paths"])
    assert set(schema["components"]["securitySchemes"]) == {"Bearer", "SignedIn"}


def test_the_schema_describes_what_goes_wrong(client: Client) -> None:
    schema = client.get("/api/openapi.json").json()
    assert set(schema["components"]["schemas"]["ProblemOut"]["properties"]) == {"error", "current"}
    for problem in schema["components"]["responses"].values():
        assert problem["content"]["application/json"]["schema"]["$ref"] == "#/components/schemas/ProblemOut"
    contract = {"400", "401", "403", "404", "405", "409", "412", "413", "422", "429", "502", "503"}
    for path in schema["paths"].values():
        for operation in path.values():
            refused = {status for status, told in operation["responses"].items() if "$ref" in told}
            assert refused == contract
            assert any(status.startswith("2") for status in operation["responses"])


def test_the_docs_page_reads_the_schema_out(client: Client, panel: Client) -> None:
    for browser in (client, panel):
        page = browser.get("/api/docs")
        assert page.status_code == 200
        for path in browser.get("/api/openapi.json").json()["paths"]:
            assert f"<code>{path}</code>" in page.content.decode()
        text = html.unescape(page.content.decode())
        assert "curl 'http://testserver/api/projects/resolve?directory=…'" in text
        assert """-H "Content-Type: application/json" -d '{"directory": "…"}'</code>""" in text


# Lists ----------------------------------------------------------------------------------


def all_pages(client: Client, limit: int) -> list[list[str]]:
    pages, cursor = [], ""
    while cursor is not None:
        answer = client.get("/api/projects", {"limit": limit, "cursor": cursor}).json()
        pages.append([row["slug"] for row in answer["results"]])
        cursor = answer["next"]
    return pages


@pytest.fixture
def seven(db: None) -> list[str]:
    """Seven projects that were made in the same moment; their slugs, the newest first."""
    Project.objects.bulk_create(Project(name=f"P{n}", slug=f"p{n}", directory=f"/p{n}") for n in range(7))
    Project.objects.update(created_at=timezone.now())
    return [f"p{n}" for n in reversed(range(7))]


def test_pages_follow_each_other_without_gap_or_repeat(api: Client, seven: list[str]) -> None:
    assert all_pages(api, 3) == [seven[:3], seven[3:6], seven[6:]]
    assert all_pages(api, 7) == [seven]
    assert all_pages(api, 50) == [seven]


def test_what_is_added_meanwhile_neither_hides_nor_repeats_a_row(api: Client, seven: list[str]) -> None:
    first = api.get("/api/projects", {"limit": 3}).json()
    Project.objects.create(name="New", slug="new", directory="/new")
    Project.objects.get(slug=seven[0]).remove()
    rest = api.get("/api/projects", {"limit": 50, "cursor": first["next"]}).json()
    assert [row["slug"] for row in rest["results"]] == seven[3:]


def test_a_page_holds_200_at_most(db: None) -> None:
    Project.objects.bulk_create(Project(name=f"P{n}", slug=f"p{n}", directory=f"/p{n}") for n in range(201))
    assert len(page(Project.objects.all(), Paging(limit=10_000), by=("-pk",))["results"]) == 200
    assert len(page(Project.objects.all(), Paging(), by=("-pk",))["results"]) == 50


def test_a_ranked_list_pages_by_position() -> None:
    first = page_of(list("abcde"), Paging(limit=2))
    second = page_of(list("abcde"), Paging(limit=2, cursor=first["next"]))
    third = page_of(list("abcde"), Paging(limit=2, cursor=second["next"]))
    assert [first["results"], second["results"], third["results"]] == [["a", "b"], ["c", "d"], ["e"]]
    assert third["next"] is None


@pytest.mark.parametrize("cursor", ["x", "eyJ9", "a:b:c", "é", "x" * 5000])
def test_a_cursor_that_we_did_not_make_is_400(api: Client, cursor: str) -> None:
    error_of(api.get("/api/projects", {"cursor": cursor}), 400)


def test_a_cursor_of_another_list_is_refused(seven: list[str]) -> None:
    other = page(Project.objects.all(), Paging(limit=1), by=("name", "pk"))["next"]
    with pytest.raises(Malformed):
        page(Project.objects.all(), Paging(cursor=other), by=("-created_at", "-pk"))


# Revisions ------------------------------------------------------------------------------


def seen(header: str, current: str = "now") -> str:
    request = RequestFactory().get("/", headers={"If-Match": header} if header else None)
    return seen_revision(request, current)


@pytest.mark.parametrize("header", ['"now"', 'W/"now"', "now", ' "zzz" , "now"', '"now","zzz"', '"a", W/"now", "b"'])
def test_if_match_with_the_current_revision_among_its_tags_names_it(header: str) -> None:
    assert seen(header) == "now"


@pytest.mark.parametrize("header", ["*", "", " "])
def test_if_match_that_names_none_takes_any(header: str) -> None:
    assert seen(header) == ""


@pytest.mark.parametrize("header", ['"then"', '"then", "before"', '""', ",", '"*"'])
def test_if_match_without_the_current_revision_is_stale(header: str) -> None:
    assert seen(header) not in {"", "now"}


def test_an_etag_is_read_back_as_its_revision() -> None:
    assert etag(7) == '"7"'
    assert seen(etag("4f1c"), current="4f1c") == "4f1c"


# Methods and the root --------------------------------------------------------------------


@pytest.mark.parametrize("path", ["health", "projects", "projects/shop", "projects/shop/notes", "openapi.json", "docs"])
def test_head_is_get_without_the_body(panel: Client, project: Project, path: str) -> None:
    head, get = panel.head(f"/api/{path}"), panel.get(f"/api/{path}")
    assert (head.status_code, head.content) == (200, b"")
    assert head.headers["Content-Type"] == get.headers["Content-Type"]
    if path != "docs":
        assert head.headers["Content-Length"] == str(len(get.content))


def test_head_knows_the_refusals_of_get(panel: Client, client: Client) -> None:
    assert panel.head("/api/projects/nope").status_code == 404
    assert client.head("/api/projects").status_code == 401
    assert panel.head("/api/context/claim").status_code == 405


def test_the_api_without_a_slash_is_no_page(client: Client, panel: Client) -> None:
    for caller in (client, panel):
        assert error_of(caller.get("/api"), 404)["code"] == "not_found"

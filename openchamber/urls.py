"""Every address: the panel's own pages, those of the installed apps, the admin and the API."""

from importlib import import_module

from django.apps import apps
from django.contrib import admin
from django.urls import URLPattern, URLResolver, include, path
from django.utils.module_loading import module_has_submodule

from openchamber import api, api_page, health_page, languages, middleware
from openchamber.demo import completions, provider
from openchamber.demo import views as demo
from openchamber.projects import archives, settings_page, sign_in, views

handler400 = middleware.bad_request
handler403 = middleware.forbidden
handler404 = middleware.not_found


def urls_of(*dotted_names: str) -> list[URLResolver]:
    """The urls of those packages that have some."""
    found = [name for name in dotted_names if module_has_submodule(import_module(name), "urls")]
    return [path("", include(f"{name}.urls")) for name in found]


ways_in: list[URLPattern | URLResolver] = [
    path("login/", sign_in.sign_in, name="sign-in"),
    path("login/<str:secret>", sign_in.sign_in_link, name="sign-in-link"),
    path("logout/", sign_in.sign_out, name="sign-out"),
]

settings_urls: list[URLPattern | URLResolver] = [
    path("settings/", settings_page.settings_page, name="settings"),
    path("settings/language/", languages.choose_language, name="choose-language"),
    path("settings/health/", health_page.health, name="health"),
    path("settings/tokens/", settings_page.create_token, name="create-token"),
    path("settings/tokens/<int:pk>/revoke/", settings_page.revoke_token, name="revoke-token"),
    path("settings/servers/", settings_page.add_server, name="add-server"),
    path("settings/servers/<int:pk>/remove/", settings_page.remove_server, name="remove-server"),
]

project_urls: list[URLPattern | URLResolver] = [
    path("", views.projects, name="projects"),
    path("projects/", views.add_project, name="add-project"),
    path("projects/import/", views.import_projects, name="import-projects"),
    path("projects/<slug:slug>/", views.project, name="project"),
    path("projects/<slug:slug>/edit/", views.edit_project, name="edit-project"),
    path("projects/<slug:slug>/remove/", views.remove_project, name="remove-project"),
    path("projects/<slug:slug>/undelete/", views.restore_project, name="restore-project"),
    path("projects/<slug:slug>/archive/", archives.download_archive, name="download-archive"),
    path("projects/<slug:slug>/archive/take-in/", archives.take_in_archive, name="take-in-archive"),
    path("projects/<slug:slug>/members/", views.add_member, name="add-member"),
    path("projects/<slug:slug>/members/<int:pk>/remove/", views.remove_member, name="remove-member"),
]

demo_urls: list[URLPattern | URLResolver] = [
    path(f"{provider.PATH.removeprefix('/')}/chat/completions", completions.chat_completions, name="demo-completions"),
    path("demo/", demo.start_demo, name="start-demo"),
]

panel: list[URLPattern | URLResolver] = [
    path("api/docs", api_page.api_docs, name="api-docs"),
    *ways_in,
    *settings_urls,
    *demo_urls,
    *project_urls,
    *urls_of("openchamber.sessions", "openchamber.search"),
]


urlpatterns = [
    path("", include((panel, "openchamber"))),
    *urls_of(*(app for app in api.APPS if apps.is_installed(app))),
    path("admin/login/", sign_in.admin_sign_in),
    path("admin/", admin.site.urls),
    path("api", api.root),
    path("api/", include((api.patterns(), "ninja"), namespace="api")),
]

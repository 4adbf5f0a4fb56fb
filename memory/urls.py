"""The pages of agents' memory, grouped per thing."""

from django.urls import path

from memory.views import entries, pulse, tab

app_name = "memory"

agent_urls = [
    path("agents/", tab.agents, name="agents"),
    path("agents/<slug:agent>/memory/", tab.agent_memory, name="agent-memory"),
    path("agents/<slug:agent>/memory/switch/", tab.switch_memory, name="switch-memory"),
    path("agents/<slug:agent>/memory/seen/", tab.see_scopes, name="see-scopes"),
]

entry_urls = [
    path("agents/<slug:agent>/memory/<int:pk>/", entries.entry, name="entry"),
    path("agents/<slug:agent>/memory/<int:pk>/judge/", entries.judge_entry, name="judge-entry"),
    path("agents/<slug:agent>/memory/<int:pk>/approve/", entries.approve_entry, name="approve-entry"),
    path("agents/<slug:agent>/memory/<int:pk>/settle/", entries.settle_entry, name="settle-entry"),
    path("agents/<slug:agent>/memory/<int:pk>/delete/", entries.delete_entry, name="delete-entry"),
    path("agents/<slug:agent>/memory/<int:pk>/undelete/", entries.undelete_entry, name="undelete-entry"),
    path("agents/<slug:agent>/memory/<int:pk>/move/", entries.move_entry, name="move-entry"),
    path("agents/<slug:agent>/memory/<int:pk>/history/", entries.entry_history, name="entry-history"),
    path(
        "agents/<slug:agent>/memory/<int:pk>/history/<int:version>/restore/",
        entries.restore_version,
        name="restore-version",
    ),
]

project_urls = [
    path("projects/<slug:slug>/memory/", tab.project_memory, name="project-memory"),
    path("projects/<slug:slug>/memory/gather/<int:pk>/", tab.gather_scope, name="gather-scope"),
]

urlpatterns = [
    path("memory/review/", tab.review, name="review"),
    path("memory/pulse/", pulse.pulse, name="pulse"),
    path("memory/switches/", tab.change_switches, name="change-switches"),
    *agent_urls,
    *entry_urls,
    *project_urls,
]

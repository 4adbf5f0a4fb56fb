"""The seams between the apps: every signal is a question or an event, never a side effect.

`openchamber` sends; `knowledge` and `memory` answer or listen. Questions are asked with
`send_robust`, so that one app that raises never takes another's answer with it.
"""

from django.dispatch import Signal

# Questions ----------------------------------------------------------------------------

# What must a session hold? Arguments: project (Project or None), session (Session), agent (str,
# the agent server's name for it, "" when unknown). Answer: (items, failures), a list of
# `sessions.context.Item` and a list of key prefixes (`memory:default:user`) whose items could
# not be read. A receiver that raises fails its whole app, named by its top-level package.
context_wanted = Signal()

# What stands for all that an app wants in a session, without reading it? Arguments: as for `context_wanted`.
# Answer: a string that changes whenever the answer to `context_wanted` may have changed; it may depend on the
# project, the session's directory and the agent alone. Whoever answers that one answers this one.
context_version_wanted = Signal()

# What matches a search? Arguments: projects (QuerySet[Project]), query (str), kind (str or ""),
# limit (int). Answer: a list of `openchamber.search.Hit`; `Incomplete` with one where some of it could not be read.
search_wanted = Signal()

# Which sections has a project's panel? Arguments: project. Answer: a list of `openchamber.panel.Section`.
panel_sections = Signal()

# Which entries has the main menu besides its own? Arguments: request. Answer: a list of `openchamber.panel.Place`.
panel_places = Signal()

# Which rows has the settings page? Arguments: request. Answer: a list of (template name, context).
settings_rows = Signal()

# Which acts does a message's menu offer? Arguments: project, session, message.
# Answer: a list of `openchamber.panel.Act`.
message_actions = Signal()

# What may a session ride with, beyond what it wants now (detached items, for instance)?
# Arguments: project, session. Answer: a list of `sessions.context.Choice`.
choices_wanted = Signal()

# A person chose for one session: whose is this key? Arguments: session, key (`knowledge:note:41`),
# attached (bool). Answer: True by the app whose key it is and that keeps the choice, else None.
choice_made = Signal()

# Empty the bin. Arguments: before (datetime). Answer: {kind: how many rows were removed}.
purge_wanted = Signal()

# Put a whole project into an archive, or take it out. Arguments: project, archive. Answer: None.
archive_wanted = Signal()

# Events -------------------------------------------------------------------------------

# A session exists. Arguments: session.
session_started = Signal()

# A session went idle. Arguments: session.
session_idle = Signal()

# A session's conversation was compacted. Arguments: server (AgentServer), session_id (str), directory (str).
session_compacted = Signal()

# Something that a project owns changed; open pages follow. Arguments: project.
knowledge_changed = Signal()

"""The categories of threats, under the names that are stored; the panel shows them in its language."""

from django.utils.translation import gettext_noop

DISPLACED = gettext_noop("displaced instructions")
IDENTITY = gettext_noop("reassigned identity")
TURNS = gettext_noop("forged turns")
GUARDRAILS = gettext_noop("guardrails")
SECRECY = gettext_noop("secrecy")
EXFILTRATION = gettext_noop("exfiltration")
REMOTE = gettext_noop("remote code")
HIDDEN = gettext_noop("hidden text")
CREDENTIALS = gettext_noop("credentials")
CATEGORIES = (DISPLACED, IDENTITY, TURNS, GUARDRAILS, SECRECY, EXFILTRATION, REMOTE, HIDDEN, CREDENTIALS)

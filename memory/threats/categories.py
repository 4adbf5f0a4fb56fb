"""The categories of threats, under the names that are stored and shown."""

DISPLACED = "displaced instructions"
IDENTITY = "reassigned identity"
TURNS = "forged turns"
GUARDRAILS = "guardrails"
SECRECY = "secrecy"
EXFILTRATION = "exfiltration"
REMOTE = "remote code"
HIDDEN = "hidden text"
CREDENTIALS = "credentials"
CATEGORIES = (DISPLACED, IDENTITY, TURNS, GUARDRAILS, SECRECY, EXFILTRATION, REMOTE, HIDDEN, CREDENTIALS)

"""What the demo's model answers: an exact account of what it was sent, and nothing that it was not. Pure.

In English: a request does not say which language the person reads.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from openchamber.demo.hearing import BLOCK, Heard, Told, text_of

# How the hidden agents of OpenCode 1.18 introduce themselves.
TITLE_REQUEST = "You are a title generator"
SUMMARY_REQUEST = "You are a context summarization agent"
EXCERPT = 160
KINDS = {"message": "pinned message", "memory": "memory", "note": "note", "plan": "plan"}

HELLO = (
    "I am OpenChamber’s demo and no language model: I understand nothing and can do nothing. "
    "I read out what this request told me, and nothing of it left this machine."
)
SUMMARY = (
    "Summary by OpenChamber’s demo, which is no language model. {turns} and their answers stood here. "
    "What OpenChamber had told is left out on purpose: what is pinned must come back from OpenChamber, "
    "not from a summary."
)


def answer(messages: Sequence[Mapping[str, Any]]) -> str:
    """The answer to a chat completions request with these messages."""
    system = "\n".join(text_of(message) for message in messages if message["role"] == "system")
    asked = "\n".join(text_of(message) for message in messages if message["role"] == "user")
    if TITLE_REQUEST in system:
        return title(asked)
    if SUMMARY_REQUEST in system:
        return SUMMARY.format(turns=_count(max(1, asked.count("[User]:")), "message"))
    return account(Heard.listen(messages))


def title(asked: str) -> str:
    """A session's title: the user's own last line, short."""
    lines = [line.strip() for line in BLOCK.sub("", asked).splitlines() if line.strip()]
    return f"Demo: {_short(lines[-1], 50)}" if lines else "Demo"


def account(heard: Heard) -> str:
    """What was heard, for a person: Markdown."""
    return "\n\n".join(part for part in (HELLO, _told(heard), _held(heard), _talk(heard)) if part)


def _told(heard: Heard) -> str:
    """What came since the last answer."""
    if not heard.blocks:
        return f"**With this message OpenChamber told me nothing.** {_why_nothing(heard)}"
    lines = [
        *(_line("new", told) for told in heard.new),
        *(_line("changed", told) for told in heard.changed),
        *(_line("told again", told) for told in heard.again),
        *(f"- no longer applies: {_name(told)}" for told in heard.gone),
    ]
    if heard.more:
        lines.append(f"- and {heard.more} more, of which I was told only the number")
    return f"**With this message OpenChamber told me** ({_how(heard)}):\n\n" + "\n".join(lines)


def _why_nothing(heard: Heard) -> str:
    if heard.held:
        return "I still hold what it told me before, so it had no need to."
    return "Nothing is pinned here. Pin a note, and it rides with your next message."


def _how(heard: Heard) -> str:
    whole = "everything that I should hold" if heard.full else "changes only"
    return f"{whole}, since the conversation was compacted" if heard.restored else whole


def _held(heard: Heard) -> str:
    """All that is held, where that is more than what was just told."""
    if len(heard.held) <= len(heard.new) + len(heard.changed) + len(heard.again):
        return ""
    return "**I now hold:**\n\n" + "\n".join(f"- {_name(told)}" for told in heard.held.values())


def _talk(heard: Heard) -> str:
    said = f"**You said:** {_quoted(heard.said, EXCERPT)}" if heard.said else ""
    seen = f"I see {_count(heard.messages, 'message')} in this request."
    if heard.compacted:
        seen += " The conversation was compacted: of what was said before I see a summary alone."
    return f"{said}\n\n{seen}".strip()


def _line(change: str, told: Told) -> str:
    return f"- {change}: {_name(told)}" + (f": {_quoted(told.text, EXCERPT)}" if _adds(told) else "")


# A title is its text without what Markdown puts around words.
MARKS = str.maketrans("", "", "*_`#")


def _adds(told: Told) -> bool:
    """Whether the text says more than the title."""
    text, title = (" ".join(words.translate(MARKS).split()) for words in (told.text, told.title))
    return bool(title) and text != title


def _name(told: Told) -> str:
    return f"{KINDS.get(told.kind, told.kind)} {_quoted(told.title or told.text, 80)}"


def _short(text: str, length: int) -> str:
    line = " ".join(text.split())
    return line if len(line) <= length else line[: length - 1].rstrip() + "…"


def _quoted(text: str, length: int) -> str:
    """Somebody's words inside Markdown, letter for letter: a code span that its own backticks cannot end."""
    line = _short(text, length)
    fence = "`"
    while fence in line:
        fence += "`"
    return f"{fence} {line} {fence}" if "`" in line else f"`{line}`"


def _count(number: int, noun: str) -> str:
    return f"{number} {noun}" if number == 1 else f"{number} {noun}s"

"""A process that saves and deletes through the tool until it is told to stop, and says what was answered."""

from __future__ import annotations

import sys

import django


def main(name: str, directory: str, rounds: int) -> None:
    """Save `rounds` facts, delete every third, and correct one that all processes share."""
    django.setup()
    from memory.holders import Holder
    from memory.models import Author, Through
    from memory.saving import Draft, memory_save
    from memory.tool import memory_delete

    by = Author(Through.TOOL, session=name, agent="build", client="test")

    def say(*words: object) -> None:
        print(*words, flush=True)  # noqa: T201

    for number in range(rounds):
        title = f"Fact {name} {number}"
        holder = Holder.of("build", directory)
        memory_save(holder, "workspace", Draft(title, f"What {name} knows, {number}."), by=by)
        say("saved", number)
        memory_save(holder, "workspace", Draft("Shared", f"The last word of {name}, {number}."), by=by)
        if number % 3 == 0:
            say("deleting", number)
            memory_delete(holder, "workspace", title=title, by=by)
            say("deleted", number)
    say("done")


if __name__ == "__main__":
    main(sys.argv[1], sys.argv[2], int(sys.argv[3]))

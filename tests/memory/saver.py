"""A process that saves and deletes through the tool until it is told to stop, and says what was answered."""

from __future__ import annotations

import sys
from collections.abc import Callable

import django


def main(name: str, directory: str, rounds: int) -> None:
    """Save `rounds` facts, delete every third, and correct one that all processes share."""
    django.setup()
    from django.db import OperationalError

    from memory.holders import Holder
    from memory.models import Author, Through
    from memory.saving import Draft, memory_save
    from memory.tool import memory_delete

    by = Author(Through.TOOL, session=name, agent="build", client="test")

    def say(*words: object) -> None:
        print(*words, flush=True)  # noqa: T201

    def call(act: Callable[..., object], *args: object, **more: object) -> None:
        """Call the tool, and again where the store is busy: its caller is told that nothing was saved."""
        while True:
            try:
                act(Holder.of("build", directory), "workspace", *args, **more, by=by)
                return
            except OperationalError as error:
                if "locked" not in str(error):
                    raise

    for number in range(rounds):
        title = f"Fact {name} {number}"
        call(memory_save, Draft(title, f"What {name} knows, {number}."))
        say("saved", number)
        call(memory_save, Draft("Shared", f"The last word of {name}, {number}."))
        if number % 3 == 0:
            say("deleting", number)
            call(memory_delete, title=title)
            say("deleted", number)
    say("done")


if __name__ == "__main__":
    main(sys.argv[1], sys.argv[2], int(sys.argv[3]))

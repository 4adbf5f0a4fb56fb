"""Marks: the shapes that threaten, per category. Pure data; every expression is bounded."""

from memory.threats.marks import commands, departures, keys, turns

# Those that are enough come first, so that the others are looked for only where they matter.
SHAPES = sorted(
    [*turns.MARKS, *departures.MARKS, *commands.MARKS, *keys.MARKS],
    key=lambda mark: -mark.weight,
)

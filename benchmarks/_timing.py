"""How benchmarks take time and tell it."""

from __future__ import annotations

import statistics
import time
from collections.abc import Callable
from typing import Any


def milliseconds(values: list[float]) -> str:
    """p50 and p95 of seconds, in ms."""
    ordered = sorted(values)
    return f"p50 {statistics.median(ordered) * 1000:.1f} ms, p95 {ordered[int(len(ordered) * 0.95) - 1] * 1000:.1f} ms"


def timed(act: Callable[[], Any]) -> float:
    """Seconds that `act` takes."""
    started = time.perf_counter()
    act()
    return time.perf_counter() - started

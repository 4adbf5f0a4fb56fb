"""What the scanner of memory entries finds, holds back without need, and costs.

    python benchmarks/scanner.py [corpus]

Without an argument it measures with the corpus of the tests. `corpus` is a directory with `malicious.jsonl` and
`benign.jsonl` (an object a line: `text`, `tier`); it is then measured too, per tier.
"""

from __future__ import annotations

import json
import os
import sys
import tempfile
import time
from collections import Counter
from collections.abc import Iterable
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parent.parent))
os.environ["OPENCHAMBER_DATA_DIR"] = tempfile.mkdtemp(prefix="openchamber-benchmark-")
os.environ.setdefault("DJANGO_SETTINGS_MODULE", "openchamber.settings")

from memory.threats import SCANNER_VERSION, scan
from tests.memory.corpus import attacks, ordinary
from tests.memory.test_threats import slow_inputs


def share(title: str, texts: Iterable[tuple[str, str]]) -> None:
    """Print how many of the (group, text) pairs are held back, per group."""
    total: Counter[str] = Counter()
    held_back: Counter[str] = Counter()
    for group, text in texts:
        total[group] += 1
        held_back[group] += bool(scan(text))
    print(f"\n{title:<28}{'texts':>8}{'held back':>12}{'share':>9}")
    for group in [*sorted(total), "all"]:
        count = total[group] if group != "all" else sum(total.values())
        found = held_back[group] if group != "all" else sum(held_back.values())
        print(f"{group:<28}{count:>8}{found:>12}{found / count:>9.3f}")


def speed() -> None:
    """Print what entries of 2 KB and the slowest inputs of a million characters cost."""
    text = "\n".join(ordinary())
    entries = [text[at : at + 2_048] for at in range(0, len(text) - 2_048, 2_048)] * 4
    costs = sorted(seconds(entry) for entry in entries)
    print(
        f"\n2 KB entry: median {costs[len(costs) // 2] * 1e3:.2f} ms, p95 {costs[len(costs) * 95 // 100] * 1e3:.2f} ms"
    )
    slowest = sorted(((seconds(text), name) for name, text in slow_inputs(1_000_000).items()), reverse=True)[:5]
    for cost, name in slowest:
        print(f"a million characters, {name[:16]!r}: {cost:.2f} s")


def seconds(text: str) -> float:
    """What one scan costs this thread."""
    start = time.thread_time()
    scan(text)
    return time.thread_time() - start


def read(path: Path) -> list[tuple[str, str]]:
    """(tier, text) of a corpus."""
    rows = map(json.loads, path.read_text(encoding="utf-8").rstrip("\n").split("\n"))
    return [(row["tier"], row["text"]) for row in rows]


def main() -> None:
    """Measure and print."""
    print(f"scanner {SCANNER_VERSION}")
    share("own attacks, by category", ((attack.category, attack.text) for attack in attacks()))
    share("own attacks, by language", ((attack.language, attack.text) for attack in attacks()))
    share("own ordinary entries", (("ordinary", text) for text in ordinary()))
    for corpus in map(Path, sys.argv[1:]):
        share(f"{corpus.name}: malicious", read(corpus / "malicious.jsonl"))
        share(f"{corpus.name}: benign", read(corpus / "benign.jsonl"))
    speed()


if __name__ == "__main__":
    main()

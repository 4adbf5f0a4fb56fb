"""Threats: orders to an agent inside what is stored for it. Patterns, no model; see docs/threats.md."""

from memory.threats.categories import CATEGORIES
from memory.threats.fold import visible
from memory.threats.scan import SCANNER_VERSION, Match, scan

__all__ = ["CATEGORIES", "SCANNER_VERSION", "Match", "scan", "visible"]

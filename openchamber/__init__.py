"""OpenChamber: what a coding agent must know, owned by the user and told on time."""

__version__ = "0.1.0"

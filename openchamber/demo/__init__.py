"""The demo: an offline model that reads out what it was told, for a machine without any other."""

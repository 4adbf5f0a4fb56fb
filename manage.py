#!/usr/bin/env python
"""OpenChamber's command line, as `python manage.py ...` in a checkout."""

from openchamber.__main__ import main

if __name__ == "__main__":
    main()

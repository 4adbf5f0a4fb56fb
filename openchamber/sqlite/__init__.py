"""Django's SQLite backend, with one change: the threads of this process write in turn."""

"""``bayplan scheduler``: informers, engine and writer, wired together."""

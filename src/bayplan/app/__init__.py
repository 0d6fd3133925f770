"""The live services, one folder each: configuration, engine or controller, and the edges wired together.  ``shell`` is shared."""

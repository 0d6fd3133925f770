"""A live cluster in the terminal: ``bayplan top``."""

"""A live cluster as documents: for ``bayplan snapshot`` and for questions to a live cluster."""

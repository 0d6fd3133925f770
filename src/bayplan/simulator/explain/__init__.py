"""``bayplan explain``: what was asked about, the engine's decision as a document, and its text."""

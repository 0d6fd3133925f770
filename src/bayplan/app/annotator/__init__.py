"""``bayplan annotator`` as a process."""

"""Recorded clusters: the file, and the engine's decisions about what was recorded."""

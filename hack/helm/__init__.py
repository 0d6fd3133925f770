"""Helm, built from its Go module: what the charts are tested with."""

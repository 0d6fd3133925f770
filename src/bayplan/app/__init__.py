"""Wiring, and only wiring: configuration to registry to profiles to engine to the edges."""

"""Tests mirror the source: tests/objects/test_quantity.py belongs to src/bayplan/objects/quantity.py."""

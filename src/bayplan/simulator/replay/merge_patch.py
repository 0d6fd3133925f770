"""
What changed between two versions of a document, as a JSON merge patch (RFC 7386): what a recording keeps of a change.
"""

from __future__ import annotations

from typing import Any


def difference(old: dict[str, Any], new: dict[str, Any]) -> dict[str, Any]:
    """The patch that makes the new one of the old one; empty if they are equal.  Lists are replaced as a whole."""
    patch: dict[str, Any] = {key: None for key in old if key not in new}
    for key, value in new.items():
        before = old.get(key)
        if isinstance(value, dict) and isinstance(before, dict):
            changed = difference(before, value)
            if changed:
                patch[key] = changed
        elif key not in old or before != value:
            patch[key] = value
    return patch


def merged(old: dict[str, Any], patch: dict[str, Any]) -> dict[str, Any]:
    """The old one with the patch in it; the old one stays as it is."""
    new = dict(old)
    for key, value in patch.items():
        if value is None:
            new.pop(key, None)
        elif isinstance(value, dict):
            before = new.get(key)
            new[key] = merged(before if isinstance(before, dict) else {}, value)
        else:
            new[key] = value
    return new

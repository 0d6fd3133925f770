"""
Variants of a configuration as they are written: ``--weights`` of ``bayplan compare``.
"""

from __future__ import annotations

import re

from bayplan.errors import InputError

MAX_WEIGHT = 100_000
_DIGITS = re.compile(r"[0-9]{1,9}")


def read_weights(text: str) -> dict[str, int]:
    """``NodeResourcesFit=5,ImageLocality=2``."""
    found: dict[str, int] = {}
    for part in text.split(","):
        name, equals, number = (each.strip() for each in part.partition("="))
        if not (name and equals and _DIGITS.fullmatch(number) and 0 < int(number) <= MAX_WEIGHT):
            fix = f"write such as NodeResourcesFit=5,ImageLocality=2, each of 1 to {MAX_WEIGHT}"
            raise InputError(f'"{part}" is no weight', field="--weights", fix=fix)
        if name in found:
            raise InputError(f"{name} has two weights", field="--weights", fix="leave one of them out")
        found[name] = int(number)
    return found

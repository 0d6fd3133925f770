"""Semantic versions: `semver("1.2.3").isLessThan(semver("v2", true))`."""

from __future__ import annotations

import re
from functools import lru_cache
from typing import Any

from bayplan.cel import costs
from bayplan.cel.errors import EvaluationError
from bayplan.cel.functions import function

_NUMBER = r"(0|[1-9]\d*)"
_FORM = re.compile(
    rf"{_NUMBER}\.{_NUMBER}\.{_NUMBER}(?:-([0-9A-Za-z-]+(?:\.[0-9A-Za-z-]+)*))?(?:\+([0-9A-Za-z-]+(?:\.[0-9A-Za-z-]+)*))?",
    re.ASCII,
)
_DIGITS = "0123456789"
_LARGEST = 2**64 - 1


class Version:
    """Two versions are equal if they compare as equal; what follows a plus does not count."""

    __slots__ = ("major", "minor", "patch", "order")
    cel_type = "kubernetes.Semver"
    is_unhashable = True

    def __init__(self, major: int, minor: int, patch: int, extra: str | None) -> None:
        self.major, self.minor, self.patch = major, minor, patch
        parts = [_part(each) for each in extra.split(".")] if extra else []
        self.order = (major, minor, patch, not parts, parts)

    def __eq__(self, other: object) -> bool:
        return isinstance(other, Version) and self.order == other.order

    __hash__ = None  # type: ignore[assignment]  # as in Kubernetes, where a version cannot be a key


def _part(text: str) -> tuple[bool, int, str]:
    """Numbers come before words, and by value."""
    if text.isdecimal():
        if len(text) > 1 and text[0] == "0":
            raise EvaluationError(f'Numeric PreRelease version must not contain leading zeroes "{text}"')
        return (False, int(text[:40]), "")
    return (True, 0, text)


@lru_cache(maxsize=4096)
def version(text: str, normalize: bool = False) -> Version:
    """EvaluationError if the text is none. `normalize` allows a leading v, leading zeros and missing parts."""
    plain = _normalized(text) if normalize else text
    match = _FORM.fullmatch(plain)
    if match is None or any(int(each[:40]) > _LARGEST for each in match.groups()[:3]):
        raise EvaluationError(_problem(plain))
    major, minor, patch = (int(each) for each in match.groups()[:3])
    return Version(major, minor, patch, match[4])


def _problem(text: str) -> str:
    if not text:
        return "Version string empty"
    parts = text.split(".", 2)
    if len(parts) != 3:
        return "No Major.Minor.Patch elements found"
    for name, part in zip(("major", "minor"), parts, strict=False):
        if not (part.isdecimal() and part.isascii()):
            return f'Invalid character(s) found in {name} number "{part}"'
        if len(part) > 1 and part[0] == "0":
            return f'{name.capitalize()} number must not contain leading zeroes "{part}"'
    patch = re.split(r"[+-]", parts[2])[0]
    if not (patch.isdecimal() and patch.isascii()):
        return f'Invalid character(s) found in patch number "{patch}"'
    if len(patch) > 1 and patch[0] == "0":
        return f'Patch number must not contain leading zeroes "{patch}"'
    return f"Invalid version {text}"


def _normalized(text: str) -> str:
    parts = text.removeprefix("v").split(".", 2)
    for index, part in enumerate(parts):
        if len(part.encode()) > 1:
            rest = part.lstrip("0")
            parts[index] = rest if rest[:1] in _DIGITS and rest else f"0{rest}"
    if len(parts) < 3 and any(sign in parts[-1] for sign in "+-"):
        raise EvaluationError("short version cannot contain PreRelease/Build meta data")
    return ".".join(parts + ["0"] * (3 - len(parts)))


def _is_version(text: str, normalize: bool = False) -> bool:
    try:
        version(text, normalize)
    except EvaluationError:
        return False
    return True


def _order(left: Any, right: Any) -> int:
    return int(left.order > right.order) - int(left.order < right.order)


FUNCTIONS = (
    function(
        "semver",
        ("string_to_semver", "(string) -> semver", version),
        ("string_bool_to_semver", "(string, bool) -> semver", version),
        cost=costs.traversal,
    ),
    function(
        "isSemver",
        ("is_semver_string", "(string) -> bool", _is_version),
        ("is_semver_string_bool", "(string, bool) -> bool", _is_version),
        cost=costs.traversal,
    ),
    function("isGreaterThan", ("semver_is_greater_than", "semver.(semver) -> bool", lambda a, b: _order(a, b) > 0)),
    function("isLessThan", ("semver_is_less_than", "semver.(semver) -> bool", lambda a, b: _order(a, b) < 0)),
    function("compareTo", ("semver_compare_to", "semver.(semver) -> int", _order)),
    function("major", ("semver_major", "semver.() -> int", lambda given: given.major)),
    function("minor", ("semver_minor", "semver.() -> int", lambda given: given.minor)),
    function("patch", ("semver_patch", "semver.() -> int", lambda given: given.patch)),
)

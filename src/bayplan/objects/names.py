"""What names of things look like to an API server: labels, subdomains, qualified names, ports.

`validating` and `created` ask; each check gives the mistake in a field, if there is one.
"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterable

from bayplan.errors import InputError
from bayplan.objects.mistakes import Mistakes, mistake

_LABEL = re.compile(r"[a-z0-9]([-a-z0-9]*[a-z0-9])?")
_SUBDOMAIN = re.compile(r"[a-z0-9]([-a-z0-9]*[a-z0-9])?(\.[a-z0-9]([-a-z0-9]*[a-z0-9])?)*")
_PORT = re.compile(r"(?=.{1,15}$)(?=.*[a-z])(?!.*--)[a-z0-9]([-a-z0-9]*[a-z0-9])?")
_MAX_LABEL, _MAX_SUBDOMAIN = 63, 253


def is_label(name: str) -> bool:
    return len(name) <= _MAX_LABEL and _LABEL.fullmatch(name) is not None


def is_subdomain(name: str) -> bool:
    return len(name) <= _MAX_SUBDOMAIN and _SUBDOMAIN.fullmatch(name) is not None


def label(field: str, name: str) -> Mistakes:
    """Names of parts: containers, volumes, namespaces."""
    if not is_label(name):
        yield _no_name(field, name, f'lower-case letters, digits and "-", at most {_MAX_LABEL}')


def subdomain(field: str, name: str) -> Mistakes:
    """Names of most objects."""
    if not is_subdomain(name):
        yield _no_name(field, name, 'lower-case letters, digits, "-" and ".", such as web-1')


def port(field: str, name: str) -> Mistakes:
    if not _PORT.fullmatch(name):
        yield _no_name(field, name, 'at most 15 lower-case letters, digits and single "-", one of them a letter')


def unique(field: str, names: Iterable[str]) -> Mistakes:
    for name, count in Counter(names).items():
        if count > 1:
            yield mistake(field, f'"{name}" is there {count} times', "give each a name of its own")


def _no_name(field: str, name: str, wanted: str) -> InputError:
    if not name:
        return mistake(field, "empty", f"write a name: {wanted}")
    return mistake(field, f'"{name}" is not a name', f"write {wanted}")

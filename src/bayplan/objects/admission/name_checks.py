"""Names in the fields of an object: each check gives the mistake in a field, if there is one."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable

from bayplan.errors import InputError
from bayplan.objects.mistakes import Mistakes, mistake
from bayplan.objects.names import MAX_LABEL, is_label, is_port_name, is_subdomain


def label(field: str, name: str) -> Mistakes:
    """Names of parts: containers, volumes, namespaces."""
    if not is_label(name):
        yield _no_name(field, name, f'lower-case letters, digits and "-", at most {MAX_LABEL}')


def subdomain(field: str, name: str) -> Mistakes:
    """Names of most objects."""
    if not is_subdomain(name):
        yield _no_name(field, name, 'lower-case letters, digits, "-" and ".", such as web-1')


def port(field: str, name: str) -> Mistakes:
    if not is_port_name(name):
        yield _no_name(field, name, 'at most 15 lower-case letters, digits and single "-", one of them a letter')


def unique(field: str, names: Iterable[str]) -> Mistakes:
    for name, count in Counter(names).items():
        if count > 1:
            yield mistake(field, f'"{name}" is there {count} times', "give each a name of its own")


def _no_name(field: str, name: str, wanted: str) -> InputError:
    if not name:
        return mistake(field, "empty", f"write a name: {wanted}")
    return mistake(field, f'"{name}" is not a name', f"write {wanted}")

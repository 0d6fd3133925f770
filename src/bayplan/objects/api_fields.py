"""Which fields the API server knows, and which of a manifest's fields it does not: those are misspelt.

`loading` asks about what comes from files. The structs hold only what scheduling reads, so they cannot tell; the names
of all fields are in `api_fields.txt`, and a test compares that file with a real API server.
"""

from __future__ import annotations

from collections.abc import Iterator
from functools import cache
from pathlib import Path
from typing import Any

from bayplan.errors import InputError
from bayplan.objects.mistakes import mistake, nearest

PATH = Path(__file__).with_suffix(".txt")

_FEW = 6
_CONTAINERS = {
    "Pod": ("spec", "containers"),
    **dict.fromkeys(
        ("DaemonSet", "Deployment", "Job", "ReplicaSet", "ReplicationController", "StatefulSet"),
        ("spec", "template", "spec", "containers"),
    ),
    "CronJob": ("spec", "jobTemplate", "spec", "template", "spec", "containers"),
}

Fields = dict[str, "Fields | None"]
"""The fields of a type, and the fields of those that have some."""
_NOT_THERE: Fields = {}


def check_fields(kind: str, raw: dict[str, Any]) -> list[InputError]:
    """Every field of an object of a built-in kind that the API server does not know."""
    fields = _types()[kind]
    if _fits(raw, fields):
        return []
    return [mistake(path, "unknown field", _advice(name, known)) for path, name, known in _unknown(raw, fields, "")]


def check_containers(kind: str, raw: dict[str, Any]) -> list[InputError]:
    """A pod, and whatever makes pods, has a container."""
    path = _CONTAINERS.get(kind)
    if path is None:
        return []
    part: Any = raw
    for step in path:
        part = part.get(step) if isinstance(part, dict) else None
    if part:
        return []
    return [mistake(".".join(path), "there are none", "write at least one, with a name and an image")]


@cache
def _types() -> dict[str, Fields]:
    lines = PATH.read_text(encoding="utf-8").splitlines()
    written = {name: fields for name, *fields in (line.split() for line in lines if not line.startswith("#"))}
    types: dict[str, Fields] = {name: {} for name in written}
    for name, fields in written.items():
        for field in fields:
            word, _, inner = field.partition(":")
            types[name][word] = types[inner] if inner else None
    return types


def _fits(raw: dict[str, Any], fields: Fields) -> bool:
    """Are all fields known?  Nearly always, so this is quick and does not remember where it is."""
    for name, value in raw.items():
        inner = fields.get(name, _NOT_THERE)
        if inner is None:
            continue
        if inner is _NOT_THERE:
            return False
        if type(value) is dict:
            if not _fits(value, inner):
                return False
        elif type(value) is list:
            for each in value:
                if type(each) is dict and not _fits(each, inner):
                    return False
    return True


def _unknown(raw: dict[str, Any], fields: Fields, above: str) -> Iterator[tuple[str, str, Fields]]:
    """Where each unknown field stands, its name, and what is known there."""
    for name, value in raw.items():
        path = f"{above}.{name}" if above else str(name)
        if name not in fields:
            yield path, str(name), fields
            continue
        inner = fields[name]
        if inner is None:
            continue
        if isinstance(value, list):
            for index, each in enumerate(value):
                if isinstance(each, dict):
                    yield from _unknown(each, inner, f"{path}[{index}]")
        elif isinstance(value, dict):
            yield from _unknown(value, inner, path)


def _advice(name: str, known: Fields) -> str:
    guess = nearest(name, known)
    if guess:
        return f'did you mean "{guess}"?'
    return f"known here: {', '.join(known)}" if len(known) <= _FEW else "correct its name, or remove it"

"""Which fields the API server knows, and which of a manifest's fields it does not: those are misspelt.

`loading` asks about what comes from files, `placement` about what stands in annotations. The structs hold only what
scheduling reads, so they cannot tell; the names of all fields are in tables. Tests compare `api_fields.txt` with a real
API server, and `custom_fields.txt` with the definitions of the custom resources.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from functools import cache
from pathlib import Path
from typing import Any

from bayplan.errors import InputError
from bayplan.objects.admission.replaced_fields import INSTEAD
from bayplan.objects.kinds import Kind, is_built_in
from bayplan.objects.mistakes import mistake, nearest
from bayplan.objects.third_party import kosmos, kubevirt, placement

PATH = Path(__file__).with_suffix(".txt")
_TABLES = (PATH, PATH.with_name("custom_fields.txt"), PATH.with_name("kubevirt_fields.txt"))
_GROUPS = (kosmos.GROUP, kubevirt.GROUP, placement.GROUP)

_FEW = 6
_DEEP = 2
_OTHERS = "*"
EACH = "@"
"""Before a type: the field is a map, and each of its values is of that type."""
_NEAR = 0.8
_INDEX = re.compile(r"\[\d+\]")
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


def knows(kind: Kind) -> bool:
    """Whether all fields of a kind are known: of those that every API server has, and of the policies read here."""
    return is_built_in(kind) or (kind.group in _GROUPS and kind.name in _types())


def check_fields(type_name: str, raw: dict[str, Any]) -> list[InputError]:
    """Every field that the API server does not know; the type of an object is its kind."""
    fields = _types()[type_name]
    if _fits(raw, fields):
        return []
    found = []
    for path, name, value, known in _unknown(raw, fields, ""):
        instead = INSTEAD.get(f"{type_name}.{_INDEX.sub('', path)}")
        advice = instead.replace("VALUE", str(value)) if instead else _advice(name, known)
        found.append(mistake(path, "unknown field", advice))
    return found


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
    lines = [line for table in _TABLES for line in table.read_text(encoding="utf-8").splitlines()]
    written = {name: fields for name, *fields in (line.split() for line in lines if not line.startswith("#"))}
    types: dict[str, Fields] = {name: {} for name in written}
    for name, fields in written.items():
        for field in fields:
            word, _, inner = field.partition(":")
            fields_of = types[inner.removeprefix(EACH)] if inner else None
            types[name][word] = {EACH: fields_of} if inner.startswith(EACH) else fields_of
    return types


def _fits(raw: dict[str, Any], fields: Fields) -> bool:
    """Are all fields known?  Nearly always, so this is quick and does not remember where it is."""
    for name, value in raw.items():
        inner = fields.get(name, _NOT_THERE)
        if inner is _NOT_THERE:
            inner = fields.get(EACH, _NOT_THERE)
        if inner is None:
            continue
        if inner is _NOT_THERE:
            # A table with others is rare; `_unknown` looks closer.
            return False
        if type(value) is dict:
            if not _fits(value, inner):
                return False
        elif type(value) is list:
            for each in value:
                if type(each) is dict and not _fits(each, inner):
                    return False
    return True


def _unknown(raw: dict[str, Any], fields: Fields, above: str) -> Iterator[tuple[str, str, Any, Fields]]:
    """Where each unknown field stands, its name, what it says, and what is known there."""
    for name, value in raw.items():
        path = f"{above}.{name}" if above else str(name)
        if name not in fields and EACH not in fields:
            if _OTHERS not in fields or nearest(str(name), fields, cutoff=_NEAR):
                yield path, str(name), value, fields
            continue
        inner = fields.get(name, fields.get(EACH))
        if inner is None:
            continue
        if isinstance(value, list):
            for index, each in enumerate(value):
                if isinstance(each, dict):
                    yield from _unknown(each, inner, f"{path}[{index}]")
        elif isinstance(value, dict):
            yield from _unknown(value, inner, path)


def _advice(name: str, known: Fields) -> str:
    guess = nearest(name, known, cutoff=_NEAR)
    deeper = [] if guess else [*_places(name, known, _DEEP)]
    if len(deeper) == 1:
        return f"write it under {deeper[0]}"
    guess = guess or nearest(name, known)
    if guess:
        return f'did you mean "{guess}"?'
    is_short = len(known) <= _FEW and _OTHERS not in known
    return f"known here: {', '.join(known)}" if is_short else "correct its name, or remove it"


def _places(name: str, known: Fields, depth: int) -> Iterator[str]:
    """The fields below which a field of this name would be right."""
    for field, inner in known.items():
        if inner and name in inner:
            yield field
        elif inner and depth > 1:
            yield from (f"{field}.{below}" for below in _places(name, inner, depth - 1))

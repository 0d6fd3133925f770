"""
A plan of moves as ``bayplan fit --shrink`` and ``--make-room`` write it: nodes to close, and pods to move off them.

``bayplan rebalancer --plan`` reads it here; ``plan_run`` carries it out.
"""

from __future__ import annotations

import re
from dataclasses import dataclass
from typing import Any

import msgspec
import yaml

from bayplan.errors import InputError
from bayplan.objects.files import file_reading

FIX = "give what bayplan fit --shrink -o yaml or --make-room -o yaml prints"
_PLACE = re.compile(r" - at `\$\.?(.*)`$")


class PlannedMove(msgspec.Struct, frozen=True, kw_only=True):
    """One pod to evict, as the plan has it."""

    step: int
    namespace: str
    name: str
    uid: str
    controller: str
    """``Kind/name`` of who makes another in its place."""
    source: str = msgspec.field(name="from")
    target: str = msgspec.field(name="to")

    @property
    def key(self) -> str:
        return f"{self.namespace}/{self.name}"


class _Written(msgspec.Struct, frozen=True, kw_only=True):
    """What is read of the document."""

    moves: tuple[PlannedMove, ...]
    schedulers: tuple[str, ...]
    empty: tuple[str, ...] | None = None
    close: tuple[str, ...] | None = None
    stopped: str = ""


@dataclass(frozen=True, slots=True)
class MovePlan:
    """What is to be done."""

    nodes: tuple[str, ...]
    """Closed before the first move."""
    moves: tuple[PlannedMove, ...]
    opens: bool = False
    """Whether the nodes are opened again when the moves have been made: they were to make room."""
    schedulers: tuple[str, ...] = ()
    """Whose pods they are."""


def read_plan(path: str) -> MovePlan:
    """The plan in a file; ``InputError`` with what is wrong."""
    source = file_reading.shown(path)
    try:
        loader = getattr(yaml, "CSafeLoader", yaml.SafeLoader)
        found = yaml.load(file_reading.text_of(path), Loader=loader)
    except (yaml.YAMLError, ValueError) as error:
        problem = f"is not YAML: {' '.join(str(error).split())}"
        raise InputError(problem, source=source, fix=FIX) from None
    try:
        return plan_of(found)
    except InputError as error:
        raise error.located(source) from None


def plan_of(document: Any) -> MovePlan:
    if not isinstance(document, dict) or document.get("kind") != "Fit":
        raise InputError("is not a plan", fix=FIX)
    if "empty" not in document and "close" not in document:
        raise InputError("is an answer of bayplan fit without a plan", fix=FIX)
    try:
        written = msgspec.convert(document, _Written)
    except msgspec.ValidationError as error:
        text = str(error)
        place = _PLACE.search(text)
        problem = _PLACE.sub("", text).replace("`", '"')
        raise InputError(problem, field=place[1] if place else "", fix=FIX) from None
    _check(written, document)
    nodes = written.empty if written.empty is not None else written.close
    return MovePlan(nodes or (), written.moves, written.empty is None, written.schedulers)


def _check(written: _Written, document: dict[str, Any]) -> None:
    if written.stopped:
        raise InputError(f"the run that made it was stopped: {written.stopped}", field="stopped", fix="plan again")
    if written.empty is None and not (document.get("room") or {}).get("node"):
        raise InputError("says that no moves make room", field="room.node", fix="there is nothing to carry out")
    nodes = written.empty if written.empty is not None else written.close or ()
    seen: set[str] = set()
    for number, move in enumerate(written.moves):
        if move.source not in nodes:
            name = "empty" if written.empty is not None else "close"
            problem = f'"{move.source}" is not among the nodes of the plan'
            raise InputError(problem, field=f"moves[{number}].from", fix=f"name it under {name}, or plan again")
        if not move.uid or move.uid in seen:
            problem = "two moves are of the same pod" if move.uid else "is empty"
            raise InputError(problem, field=f"moves[{number}].uid", fix="plan again")
        seen.add(move.uid)

"""Ways to make a document wrong: by its structure, and by its text."""

from __future__ import annotations

import copy
import json
from collections.abc import Iterator
from random import Random
from typing import Any

import yaml

VALUES: tuple[Any, ...] = (
    None, True, False, 0, -1, 1, 3, 1.5, -0.5, 2**31, 2**31 - 1, -(2**31) - 1, 2**63, 2**64, 10**30, 1e300, "", " ", "x",
    "-1", "0", "1e9", "1e400", "NaN", "5%", "101%", "50.5%", "1Gi", "-1Gi", "9" * 50, "5m", "-5m", "9999999h", "null",
    "a" * 300, "ü", "\u202e", "💥", "a b", "../../etc", "{}", "[", "A" * 70, "2026-01-31T10:00:00Z", "0001-01-01T00:00:00Z",
    "9999-12-31T23:59:59+23:59", [], {}, [[]], [None], {"": ""}, {"a": None}, [{}], ["a", "a"], {"x": {"y": {"z": []}}},
)  # fmt: skip
MANY = frozenset(("replicas", "parallelism", "completions", "numberOfClusters", "decisionsPerDecisionGroup"))
"""Numbers of things that are really made: of those it is either few or too many."""
_FEW = 50
_TYPED = (*"{}[]:,-#&*!|>'\"%@`\t\n\\?", "<<: ", "&a ", "*a ", "---\n", "\ufeff", "\x00", "!!int ")
Path = list[tuple[Any, Any]]


def mutated(rng: Random, documents: tuple[dict[str, Any], ...]) -> list[Any]:
    """The documents with one to three things wrong."""
    made: list[Any] = copy.deepcopy(list(documents))
    for _ in range(rng.choice((1, 1, 1, 2, 3))):
        if not made:
            break
        rng.choice(_CHANGES)(rng, made)
    return made


def text_of(rng: Random, documents: list[Any]) -> str:
    """As YAML, as JSON, or as text in which somebody mistyped."""
    how = rng.random()
    if how < 0.5:
        return "\n".join(json.dumps(each) for each in documents)
    if how < 0.6:
        return json.dumps({"apiVersion": "v1", "kind": "List", "items": documents})
    text: str = yaml.dump_all(documents, Dumper=getattr(yaml, "CSafeDumper", yaml.SafeDumper), sort_keys=False)
    return text if how < 0.8 else mistyped(rng, text)


def mistyped(rng: Random, text: str) -> str:
    at = rng.randrange(len(text) + 1)
    end = min(len(text), at + rng.choice((1, 1, 5, 40)))
    lines = text.split("\n")
    line = rng.randrange(len(lines))
    return rng.choice((
        lambda: text[:at] + text[end:],
        lambda: text[:at] + rng.choice(_TYPED) + text[at:],
        lambda: text[:at],
        lambda: "\n".join([*lines[:line], lines[line], *lines[line:]]),
        lambda: "\n".join([*lines[:line], f" {lines[line]}", *lines[line + 1 :]]),
        lambda: text[:at] + text[at:end] * 3 + text[end:],
    ))()  # fmt: skip


def _places(value: Any, path: Path) -> Iterator[Path]:
    items = value.items() if isinstance(value, dict) else enumerate(value) if isinstance(value, list) else ()
    for key, each in list(items):
        here = [*path, (value, key)]
        yield here
        yield from _places(each, here)


def _any(rng: Random, documents: list[Any]) -> tuple[Any, Any] | None:
    places = list(_places(documents, []))
    return rng.choice(places)[-1] if places else None


def _set(holder: Any, key: Any, value: Any) -> None:
    if key in MANY and isinstance(value, int | float) and _FEW < value < 2**31:
        value = _FEW
    holder[key] = value


def _drop(rng: Random, documents: list[Any]) -> None:
    if (found := _any(rng, documents)) is not None:
        del found[0][found[1]]


def _retype(rng: Random, documents: list[Any]) -> None:
    if (found := _any(rng, documents)) is not None:
        _set(*found, copy.deepcopy(rng.choice(VALUES)))


def _wrap(rng: Random, documents: list[Any]) -> None:
    if (found := _any(rng, documents)) is not None:
        holder, key = found
        old = holder[key]
        _set(holder, key, rng.choice(([old], {"a": old}, [old, old], str(old), json.dumps(old))))


def _misspell(rng: Random, documents: list[Any]) -> None:
    maps = [path[-1] for path in _places(documents, []) if isinstance(path[-1][0], dict)]
    if maps:
        holder, key = rng.choice(maps)
        at = rng.randrange(len(str(key)) + 1)
        name = rng.choice(
            (str(key)[:at] + str(key)[at + 1 :], str(key)[:at] + "x" + str(key)[at:], str(key).upper(), "")
        )
        holder[name] = holder.pop(key)


def _repeat(rng: Random, documents: list[Any]) -> None:
    lists = [path[-1][0] for path in _places(documents, []) if isinstance(path[-1][0], list)]
    if lists:
        chosen = rng.choice(lists)
        if len(chosen) < _FEW:
            chosen.insert(rng.randrange(len(chosen) + 1), copy.deepcopy(rng.choice(chosen)))


def _swap(rng: Random, documents: list[Any]) -> None:
    """What stands at one place stands at another, too."""
    first, second = _any(rng, documents), _any(rng, documents)
    if first is not None and second is not None:
        value = copy.deepcopy(second[0][second[1]])
        if len(json.dumps(value, default=str)) < 5000:
            _set(*first, value)


def _annotate(rng: Random, documents: list[Any]) -> None:
    objects = [each for each in documents if isinstance(each, dict) and isinstance(each.get("metadata"), dict)]
    if objects:
        notes = rng.choice(objects)["metadata"].setdefault("annotations", {})
        if isinstance(notes, dict):
            key = rng.choice(ANNOTATIONS)
            notes[key] = rng.choice((str(rng.choice(VALUES)), *NOTES))


ANNOTATIONS = (
    "simulation.bayplan.io/at", "simulation.bayplan.io/until", "simulation.bayplan.io/usage", "bayplan.io/usage",
    "placement.bayplan.io/spread", "placement.bayplan.io/replicas", "cpu_usage_avg_5m", "node_hot_value",
    "bayplan.io/spare-capacity", "controller.kubernetes.io/pod-deletion-cost", "example.com/anything",
    "deployment.kubernetes.io/desired-replicas", "volume.kubernetes.io/selected-node", "pv.kubernetes.io/bind-completed",
)  # fmt: skip
NOTES = (
    "5m", "0.65,2026-01-31T10:00:00Z", "NaN,2026-01-31T10:00:00Z", "0.65,", ",", "{}", "[]", "[[", '{"replicas": 3}',
    '{"maxMoves": -1}', "0s: cpu=100m, memory=1Gi", "cpu=-1", '{"cpuMilli": 1e400}', "&a [*a]", "1: 2: 3", "3", "true",
    "spreadConstraints: [{topologyKey: region, maxSkew: 0}]", "60m: cpu=1; 5m: cpu=2",
)  # fmt: skip
_CHANGES = (_drop, _retype, _retype, _retype, _wrap, _misspell, _repeat, _swap, _annotate)

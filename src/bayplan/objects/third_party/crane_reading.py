"""A DynamicSchedulerPolicy from a file or from the text in a ConfigMap, with every mistake in it told at once.

The annotator and the Dynamic plugin call `load_policy`, `parse_policy` and `policy_in_config_map`.
"""

from __future__ import annotations

import difflib
import json
import math
import re
from collections.abc import Callable, Iterator, Mapping
from pathlib import Path
from typing import Any, TypeVar

from bayplan.errors import InputError, InputErrors
from bayplan.objects.duration import parse_duration
from bayplan.objects.files import yaml_reading
from bayplan.objects.files.file_reading import text_of
from bayplan.objects.mistakes import mistake, told
from bayplan.objects.third_party import crane
from bayplan.objects.third_party.crane import DynamicSchedulerPolicy, HotValueRule, LoadLimit, LoadWeight, SyncRule
from bayplan.objects.third_party.crane_annotations import HOT_VALUE

LIMIT, LIMIT_ALIAS = "maxLimitPecent", "maxLimitPercent"
"""The published spelling, and the right one; both are accepted."""
_LISTS = ("syncPolicy", "predicate", "priority", "hotValue")
_METRIC = re.compile(r"[A-Za-z0-9]([A-Za-z0-9_]*[A-Za-z0-9])?", re.ASCII)
_MAX_NAME = 63
_MAX_WEIGHT = 1_000_000
_MIN_SPAN_S = 1.0
"""Annotations hold whole seconds, and Prometheus is not asked more often than that."""
_Rule = TypeVar("_Rule")


def load_policy(path: str | Path) -> DynamicSchedulerPolicy:
    """The policy in a file. InputError for one mistake, InputErrors for more."""
    return parse_policy(text_of(path), str(path))


def policy_in_config_map(data: Mapping[str, str] | None, source: str, key: str = "") -> DynamicSchedulerPolicy:
    """The policy under `key`; without one, under the only key there is."""
    given = data or {}
    if not key and len(given) == 1:
        (key,) = given
    if key not in given:
        named = ", ".join(sorted(given)) or "none"
        problem = f'there is no key "{key}"' if key else "several keys, or none, could hold the policy"
        raise InputError(f"{problem} (keys: {named})", source=source, field="data", fix="name the key that holds it")
    return parse_policy(given[key], f"{source}: {key}")


def parse_policy(text: str, source: str) -> DynamicSchedulerPolicy:
    """The policy in YAML or JSON text."""
    documents = list(yaml_reading.documents(text, source))
    if len(documents) != 1:
        problem = f"expected one {crane.KIND}, found {len(documents)} documents"
        raise InputError(problem, source=source, fix="keep one of them" if documents else "write one")
    reader = _Reader()
    policy = reader.policy(documents[0].value)
    if reader.mistakes:
        found = [each.located(source) for each in reader.mistakes]
        raise found[0] if len(found) == 1 else InputErrors(found)
    return policy


class _Reader:
    """Goes through one document and keeps the mistakes it meets."""

    def __init__(self) -> None:
        self.mistakes: list[InputError] = []

    def policy(self, raw: Any) -> DynamicSchedulerPolicy:
        if not isinstance(raw, dict):
            self._wrong("", f"expected a {crane.KIND}, found {_shown(raw)}", "begin with apiVersion, kind and spec")
            return DynamicSchedulerPolicy()
        self._exactly("apiVersion", raw.get("apiVersion"), crane.API_VERSION)
        self._exactly("kind", raw.get("kind"), crane.KIND)
        self._known("", raw, ("apiVersion", "kind", "spec"))
        spec = self._mapping("spec", raw.get("spec"))
        self._known("spec", spec, _LISTS)
        made = DynamicSchedulerPolicy(
            sync_policy=self._rules(spec, "syncPolicy", self._sync_rule),
            predicate=self._rules(spec, "predicate", self._limit),
            priority=self._rules(spec, "priority", self._weight),
            hot_value=self._rules(spec, "hotValue", self._hot_value),
        )
        self._agree(spec)
        return made

    # -- the four lists --

    def _sync_rule(self, at: str, raw: dict[str, Any]) -> SyncRule:
        self._known(at, raw, ("name", "period"))
        return SyncRule(self._metric(at, raw), self._span(f"{at}.period", raw.get("period"), "3m"))

    def _limit(self, at: str, raw: dict[str, Any]) -> LoadLimit:
        self._known(at, raw, ("name", LIMIT, LIMIT_ALIAS))
        if LIMIT in raw and LIMIT_ALIAS in raw:
            self._wrong(f"{at}.{LIMIT_ALIAS}", f"{LIMIT} says the same", "keep one of them")
        field = LIMIT_ALIAS if LIMIT_ALIAS in raw and LIMIT not in raw else LIMIT
        limit = self._number(f"{at}.{field}", raw.get(field), "0.65")
        if limit is not None and not 0 <= limit <= 1:
            meant = f" such as {limit / 100:g}" if 1 < limit <= 100 else ""
            self._wrong(f"{at}.{field}", f"{limit:g} is not a fraction", f"write a number from 0 to 1{meant}")
        return LoadLimit(self._metric(at, raw), limit or 0.0)

    def _weight(self, at: str, raw: dict[str, Any]) -> LoadWeight:
        self._known(at, raw, ("name", "weight"))
        weight = self._number(f"{at}.weight", raw.get("weight"), "0.2")
        if weight is not None and not 0 <= weight <= _MAX_WEIGHT:
            what = "less than nothing" if weight < 0 else "too much"
            self._wrong(f"{at}.weight", f"{weight:g} is {what}", f"write a number from 0 to {_MAX_WEIGHT}")
        return LoadWeight(self._metric(at, raw), weight or 0.0)

    def _hot_value(self, at: str, raw: dict[str, Any]) -> HotValueRule:
        self._known(at, raw, ("timeRange", "count"))
        span = self._span(f"{at}.timeRange", raw.get("timeRange"), "5m")
        count = raw.get("count")
        if isinstance(count, bool) or not isinstance(count, int):
            self._wrong(f"{at}.count", _not("a whole number", count), "write 1 or more, without quotes")
        elif count < 1:
            self._wrong(f"{at}.count", f"{count} pods cannot make a node hotter", "write 1 or more")
        return HotValueRule(span, count if isinstance(count, int) else 1)

    def _agree(self, spec: dict[str, Any]) -> None:
        """What the lists say about each other."""
        names = {field: [*_names(spec.get(field))] for field in ("syncPolicy", "predicate", "priority")}
        for field, named in names.items():
            seen: dict[str, int] = {}
            for index, name in named:
                if seen.setdefault(name, index) != index:
                    problem = f'"{name}" is at spec.{field}[{seen[name]}] already'
                    self._wrong(f"spec.{field}[{index}].name", problem, "keep one of them")
        measured = {name for _, name in names["syncPolicy"]}
        for field in ("predicate", "priority"):
            for index, name in names[field]:
                if name not in measured:
                    guess = difflib.get_close_matches(name, measured, n=1, cutoff=0.8)
                    fix = f'write "{guess[0]}", or add it to' if guess else "add it, with a period, to"
                    at = f"spec.{field}[{index}].name"
                    self._wrong(at, f'"{name}" is never measured', f"{fix} spec.syncPolicy")
        priority = spec.get("priority")
        listed = priority if isinstance(priority, list) else ()
        weights = [each.get("weight") for each in listed if isinstance(each, dict)]
        if weights and all(isinstance(each, int | float) and each == 0 for each in weights):
            self._wrong("spec.priority", "the weights are all 0", "write one above 0, or leave the list out")

    # -- single values --

    def _metric(self, at: str, raw: dict[str, Any]) -> str:
        """A name that Prometheus knows a metric by, and that a node can carry as an annotation."""
        name = raw.get("name")
        field = f"{at}.name"
        if not isinstance(name, str) or not name:
            self._wrong(field, _not("the name of a metric", name), "write one such as cpu_usage_avg_5m")
            return ""
        if len(name) > _MAX_NAME or not _METRIC.fullmatch(name) or name[0].isdigit():
            fix = f"write at most {_MAX_NAME} letters, digits and inner underscores, not beginning with a digit"
            self._wrong(field, f'"{name}" cannot be both a metric and an annotation', fix)
        elif name == HOT_VALUE:
            self._wrong(field, f'"{name}" is the annotation of the hot value', "write another name")
        return name

    def _span(self, field: str, written: Any, example: str) -> float:
        if not isinstance(written, str):
            self._wrong(field, _not("a duration", written), f'write a number and a unit, such as "{example}"')
            return 1.0
        try:
            seconds = parse_duration(written)
        except ValueError as error:
            self.mistakes.append(told(field, error))
            return 1.0
        if seconds <= 0:
            self._wrong(field, f'"{written}" is no time at all', f'write more than 0, such as "{example}"')
        elif seconds < _MIN_SPAN_S:
            self._wrong(field, f'"{written}" is less than a second', f'write "1s" or more, such as "{example}"')
        return seconds

    def _number(self, field: str, written: Any, example: str) -> float | None:
        if isinstance(written, bool) or not isinstance(written, int | float):
            self._wrong(field, _not("a number", written), f"write one such as {example}, without quotes")
            return None
        try:
            return float(written)
        except OverflowError:  # a whole number with hundreds of digits
            return math.inf if written > 0 else -math.inf

    # -- the shape --

    def _rules(
        self, spec: dict[str, Any], name: str, make: Callable[[str, dict[str, Any]], _Rule]
    ) -> tuple[_Rule, ...]:
        written = spec.get(name)
        if written is None:
            return ()
        if not isinstance(written, list):
            self._wrong(f"spec.{name}", _not("a list", written), 'begin each entry with "- "')
            return ()
        made = []
        for index, entry in enumerate(written):
            at = f"spec.{name}[{index}]"
            if isinstance(entry, dict):
                made.append(make(at, entry))
            else:
                self._wrong(at, _not("a mapping", entry), "write its fields below each other")
        return tuple(made)

    def _mapping(self, field: str, written: Any) -> dict[str, Any]:
        if isinstance(written, dict):
            return written
        self._wrong(field, _not("a mapping", written), f"write {', '.join(_LISTS)} below it")
        return {}

    def _known(self, at: str, raw: dict[str, Any], fields: tuple[str, ...]) -> None:
        for name in raw:
            if name not in fields:
                guess = difflib.get_close_matches(name, fields, n=1)
                fix = f"write {guess[0]}" if guess else f"known here: {', '.join(fields)}"
                self._wrong(f"{at}.{name}" if at else name, "unknown field", fix)

    def _exactly(self, field: str, written: Any, expected: str) -> None:
        if written != expected:
            self._wrong(field, _not(expected, written), f"write {field}: {expected}")

    def _wrong(self, field: str, problem: str, fix: str) -> None:
        self.mistakes.append(mistake(field, problem, fix))


def _names(written: Any) -> Iterator[tuple[int, str]]:
    for index, entry in enumerate(written if isinstance(written, list) else ()):
        name = entry.get("name") if isinstance(entry, dict) else None
        if isinstance(name, str) and name:
            yield index, name


def _not(expected: str, written: Any) -> str:
    return "is missing" if written is None else f"{_shown(written)} is not {expected}"


def _shown(written: Any) -> str:
    text = json.dumps(written, default=str, ensure_ascii=False)
    return text if len(text) <= 40 else f"{text[:37]}..."

"""
What a ``kind: Sweep`` file says: the cluster, the grid of scenarios, and what to measure beside the usual.

``bayplan sweep`` calls ``read``; ``scenarios`` makes the grid.
"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Mapping
from math import inf
from pathlib import Path
from typing import Annotated, Any, TypeVar

from pydantic import (
    AfterValidator,
    BaseModel,
    BeforeValidator,
    ConfigDict,
    Field,
    ValidationError,
    field_validator,
    model_validator,
)

from bayplan.errors import InputError, InputErrors
from bayplan.framework.config.mistakes import found_by_pydantic, shown
from bayplan.objects.duration import parse_duration
from bayplan.objects.files import yaml_reading
from bayplan.objects.files.file_reading import text_of
from bayplan.objects.times import parse_time

API_VERSION = "bayplan.io/v1alpha1"
KIND = "Sweep"
NOW = "2026-01-01T00:00:00Z"
"""When virtual time begins, where the file says nothing: the same rows tomorrow."""
MOST_SCENARIOS = 1_000_000
DEFAULT = "default"
"""The configuration of a run without one."""

_SPAN = re.compile(r"([0-9]{1,18}):([0-9]{1,18})")

T = TypeVar("T")


class _Part(BaseModel):
    model_config = ConfigDict(extra="forbid", frozen=True, strict=True)


def _seeds(written: object) -> object:
    """``42:52`` is 42 to 51; a list is itself."""
    found = _SPAN.fullmatch(written) if isinstance(written, str) else None
    if found is None:
        if isinstance(written, str):
            raise ValueError(f"{shown(written)} is no span; write one such as 0:10, or a list of numbers")
        return written
    first, end = map(int, found.groups())
    if end - first > MOST_SCENARIOS:
        raise ValueError(f"{shown(written)} are too many; write at most {MOST_SCENARIOS}")
    if first >= end:
        raise ValueError(f"{shown(written)} has no seed in it; write the end behind the first, such as 0:10")
    return list(range(first, end))


def _named(written: object) -> object:
    """A list stands for itself: each entry is called as it is written, a file by its name without the suffix."""
    if not isinstance(written, list):
        return written
    called: dict[str, object] = {}
    for each in written:
        name = str(each)
        if isinstance(each, str) and each.endswith((".yaml", ".yml", ".json")):
            name = Path(each).stem
        if isinstance(each, Mapping):
            raise ValueError("give each of these a name: write NAME: {...} instead of a list")
        if name in called:
            raise ValueError(f'there are two called "{name}"; write NAME: VALUE for each')
        called[name] = None if each == DEFAULT else each
    return called


def _each_once(seeds: list[int]) -> list[int]:
    twice = next((seed for seed, count in Counter(seeds).items() if count > 1), None)
    if twice is not None:
        raise ValueError(f"{twice} is there twice; leave one of them out")
    return seeds


def _sizes(written: object) -> object:
    """Said here in one line each, since what is wrong could be meant as a factor or as sizes."""
    called = _named(written)
    for name, each in called.items() if isinstance(called, Mapping) else ():
        numbers = each.values() if isinstance(each, Mapping) else [each]
        if any(isinstance(one, bool) or not isinstance(one, int | float) or not 0 <= one < inf for one in numbers):
            raise ValueError(f"{name}: {shown(each)} is no size; write a factor such as 1.5, or {{deployment/web: 20}}")
    return called


Seeds = Annotated[list[int], BeforeValidator(_seeds), Field(min_length=1), AfterValidator(_each_once)]
Files = Annotated[dict[str, str | None], BeforeValidator(_named), Field(min_length=1)]
Factor = Annotated[float, Field(ge=0, strict=False)]
Scales = Annotated[dict[str, Factor | dict[str, Annotated[int, Field(ge=0)]]], BeforeValidator(_sizes)]
Outages = Annotated[dict[str, str | None], BeforeValidator(_named), Field(min_length=1)]


class Grid(_Part):
    """Every combination of these is a scenario."""

    trace: Files = Field(default_factory=dict, validate_default=False)
    """More files, one at a time: traces, or whole clusters."""
    config: Files = Field(default_factory=dict, validate_default=False)
    """Scheduler configurations; ``default`` is that of a run without one."""
    weights: dict[str, dict[str, Annotated[int, Field(ge=1)]]] = Field(default_factory=dict)
    """Weights of score plugins, in every profile."""
    outage: Outages = Field(default_factory=dict, validate_default=False)
    """Nodes that are not there: the name of one, or a selector; ``none`` for all of them there."""
    scale: Scales = Field(default_factory=dict, validate_default=False)
    """Replicas of every workload times a number, or of some as they are named: ``deployment/web: 20``."""
    seed: Seeds = Field(default_factory=lambda: [0])

    @field_validator("outage", mode="after")
    @classmethod
    def _none_is_nothing(cls, outages: dict[str, str | None]) -> dict[str, str | None]:
        return {name: None if value in (None, "none") else value for name, value in outages.items()}


class Measure(_Part):
    """How much of a resource is allocated when pods that asked for so much of the capacity have come."""

    resource: str
    atArrival: int = Field(ge=1, le=1000)
    """In percent of what nodes have."""


class Plot(_Part):
    """A picture: a bar for each value of one column."""

    column: str
    by: str = ""
    """The axis to compare; the first that has more than one value if it is not said."""


class SweepSpec(_Part):
    files: list[str] = Field(default_factory=list)
    recursive: bool = False
    plugins: list[str] = Field(default_factory=list)
    """``module:Class`` of plugins that configurations name."""
    now: str = NOW
    for_: str | None = Field(default=None, alias="for")
    grid: Grid = Grid()
    measures: dict[str, Measure] = Field(default_factory=dict)
    plot: Plot | None = None

    @model_validator(mode="after")
    def _agree(self) -> SweepSpec:
        if not self.files and not self.grid.trace:
            raise ValueError("there is no cluster; write files, or grid.trace")
        for axis in Grid.model_fields:
            if axis in self.measures:
                raise ValueError(f'measures: "{axis}" is the name of an axis; give it another')
        if parse_duration(self.for_ or "0s") < 0:
            raise ValueError(f"for: {self.for_} is less than nothing; write a duration such as 10m")
        moment = parse_time(self.now)
        if moment is None:
            raise ValueError("now is empty; write a time such as 2026-01-31T10:00:00Z")
        return self

    @property
    def started_at(self) -> float:
        moment = parse_time(self.now)
        assert moment is not None
        return moment

    @property
    def run_for_s(self) -> float | None:
        return None if self.for_ is None else parse_duration(self.for_)


class _Metadata(_Part):
    name: str = Field(min_length=1)


class Sweep(_Part):
    """The file."""

    apiVersion: str
    kind: str
    metadata: _Metadata
    spec: SweepSpec


def read(path: Path) -> Sweep:
    """The sweep of a file; ``InputError`` with a line for every mistake."""
    source = str(path)
    found = [*yaml_reading.documents(text_of(path), source)]
    if len(found) != 1 or not isinstance(found[0].value, dict):
        raise InputError("a sweep is one mapping", source=source, fix="write apiVersion, kind, metadata and spec")
    return parse(found[0].value, source)


def parse(raw: dict[str, Any], source: str) -> Sweep:
    if raw.get("kind") != KIND or raw.get("apiVersion") != API_VERSION:
        told = f"{raw.get('apiVersion') or 'no apiVersion'}, {raw.get('kind') or 'no kind'}"
        raise InputError(
            f"this is no sweep: {told}", source=source, fix=f"write apiVersion: {API_VERSION}, kind: {KIND}"
        )
    try:
        return Sweep.model_validate(raw)
    except ValidationError as error:
        mistakes = [InputError(each.text, source=source, field=each.path) for each in found_by_pydantic(error, Sweep)]
        raise mistakes[0] if len(mistakes) == 1 else InputErrors(mistakes) from None

"""Small plugins for tests of the configuration, the registry and profiles; none of them decides anything."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path
from typing import Any

import pytest
import yaml

from bayplan.errors import ConfigError
from bayplan.framework.config.loading import load_config
from bayplan.framework.config.model import SchedulerConfig
from bayplan.framework.plugin import (
    BindPlugin,
    FilterPlugin,
    Plugin,
    PostBindPlugin,
    PreBindPlugin,
    PreFilterPlugin,
    PreScorePlugin,
    QueueSortPlugin,
    ReservePlugin,
    ScorePlugin,
)
from bayplan.framework.profile import DefaultPlugin
from bayplan.framework.registry import Registry

CONFIGS = Path(__file__).parent / "configs"


class _QueueSort(QueueSortPlugin):
    def queue_key(self, queued: Any) -> Any:
        return queued


class _PreFilter(PreFilterPlugin):
    def pre_filter(self, state: Any, pod: Any, nodes: Any) -> None:
        return None


class _Filter(FilterPlugin):
    def filter_node(self, state: Any, pod: Any, node: Any) -> None:
        return None


class _PreScore(PreScorePlugin):
    def pre_score(self, state: Any, pod: Any, nodes: Any, feasible: Any) -> None:
        return None


class _Score(ScorePlugin):
    def score_node(self, state: Any, pod: Any, node: Any) -> int:
        return 0


class _Reserve(ReservePlugin):
    def reserve(self, state: Any, pod: Any, node_name: str) -> None:
        return None

    def unreserve(self, state: Any, pod: Any, node_name: str) -> None:
        return None


class _PreBind(PreBindPlugin):
    def pre_bind(self, state: Any, pod: Any, node_name: str) -> None:
        return None


class _Bind(BindPlugin):
    def bind(self, state: Any, pod: Any, node_name: str) -> None:
        return None


class _PostBind(PostBindPlugin):
    def post_bind(self, state: Any, pod: Any, node_name: str) -> None:
        return None


KINDS: dict[str, type[Plugin]] = {
    "queue_sort": _QueueSort,
    "pre_filter": _PreFilter,
    "filter": _Filter,
    "pre_score": _PreScore,
    "score": _Score,
    "reserve": _Reserve,
    "pre_bind": _PreBind,
    "bind": _Bind,
    "post_bind": _PostBind,
}


def plugin(name: str, *points: str, **attributes: Any) -> type[Plugin]:
    """A plugin class that takes part in these points."""
    return type(name, tuple(KINDS[point] for point in points), {"name": name, **attributes})


@dataclass(frozen=True)
class LoadArgs:
    cpu_limit: float = 0.65
    max_age: int = 300

    def __post_init__(self) -> None:
        if not 0 < self.cpu_limit <= 1:
            raise ValueError(f"cpu_limit must be in (0, 1]: {self.cpu_limit}")


SORT = plugin("Sort", "queue_sort")
OTHER_SORT = plugin("OtherSort", "queue_sort", accepts_any_args=True)
FIT = plugin("Fit", "pre_filter", "filter", "pre_score", "score")
TAINT = plugin("Taint", "filter", "pre_score", "score")
VOLUME = plugin("Volume", "pre_filter", "filter", "reserve", "pre_bind")
BINDER = plugin("Binder", "bind")
MINE = plugin("Mine", "filter", "score")
YOURS = plugin("Yours", "filter", "score")
LOAD = plugin("Load", "filter", "score", Args=LoadArgs)

DEFAULTS = (
    DefaultPlugin("Sort"),
    DefaultPlugin("Taint", 3),
    DefaultPlugin("Fit"),
    DefaultPlugin("Volume"),
    DefaultPlugin("Binder"),
)


def registry(*more: type[Plugin]) -> Registry:
    return Registry([SORT, OTHER_SORT, FIT, TAINT, VOLUME, BINDER, MINE, YOURS, LOAD, *more])


def config(text: str, version: str = "v1") -> SchedulerConfig:
    """A configuration from YAML without its head."""
    return loaded(text, version)[0]


def loaded(text: str, version: str = "v1") -> tuple[SchedulerConfig, list[str]]:
    head = {"apiVersion": f"kubescheduler.config.k8s.io/{version}", "kind": "KubeSchedulerConfiguration"}
    return load_config(head | (yaml.safe_load(text) or {}), "cfg.yaml")


def from_file(name: str) -> tuple[SchedulerConfig, list[str]]:
    with (CONFIGS / name).open() as file:
        return load_config(yaml.safe_load(file), name)


def complaints(text: str, version: str = "v1") -> list[str]:
    """The lines about a configuration that cannot be loaded, without the file in front."""
    with pytest.raises(ConfigError) as caught:
        loaded(text, version)
    found = str(caught.value).splitlines()
    assert all(line.startswith("cfg.yaml: ") for line in found)
    return [line.removeprefix("cfg.yaml: ") for line in found]

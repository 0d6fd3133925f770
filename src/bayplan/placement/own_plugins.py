"""Plugins that do not come with Bayplan: found, given their args, and run as filters and prioritizers.

`bayplan place` and the hub controller call `own_plugins` once; `plan` asks which of them a placement has, and
`registry` gives them to whoever filters and scores.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import Any

import numpy as np

from bayplan.errors import GO_THROUGH, BayplanError, InputError
from bayplan.framework.args import read_args
from bayplan.framework.config.mistakes import did_you_mean, one_line
from bayplan.framework.registry import ClassRegistry
from bayplan.objects.third_party import placement as api
from bayplan.placement import options
from bayplan.placement.cluster_plugin import ClusterFilterPlugin, ClusterPlugin, ClusterScorePlugin
from bayplan.placement.fleet import Fleet
from bayplan.placement.plan import Plan
from bayplan.placement.plugin import (
    ALL,
    DROPPED,
    MAX_SCORE,
    PASSED,
    ClusterFilter,
    ClusterScorer,
    Moment,
    Rows,
    Verdict,
)
from bayplan.placement.table import Mask, Numbers

GROUP = "bayplan.placement_plugins"
RESERVED = frozenset(
    {"Predicate", "TaintToleration", "Balance", "Steady", "Spread", "AddOn"}
    | {"ResourceAllocatableCPU", "ResourceAllocatableMemory"}
)
"""The names of Bayplan's own."""


class ClusterPluginError(BayplanError):
    """A plugin raised, or answered with something else than it should."""

    def __init__(self, plugin: str, point: str, cluster: str, cause: BaseException | str) -> None:
        told = cause if isinstance(cause, str) else one_line(cause)
        super().__init__(f"plugin {plugin} failed in {point} for cluster {cluster}: {told}")


class OwnPlugins(ClassRegistry[ClusterPlugin]):
    """All plugins there are; `everywhere` are the filters that every placement has, because `--plugin` named them."""

    group = GROUP

    def __init__(self, classes: Iterable[type[ClusterPlugin]] = (), everywhere: Iterable[str] = ()) -> None:
        super().__init__(classes)
        self.everywhere = tuple(everywhere)

    def problem_of(self, cls: Any) -> str:
        if not isinstance(cls, type) or not issubclass(cls, ClusterPlugin):
            shown = f"class {cls.__name__}" if isinstance(cls, type) else repr(cls)
            return f"{shown} is no plugin for placements; derive it from ClusterFilterPlugin or ClusterScorePlugin"
        name = getattr(cls, "name", None)
        if not isinstance(name, str) or not name:
            return f'class {cls.__name__} has no name; add the line name = "{cls.__name__}" to it'
        if name in RESERVED:
            return f'class {cls.__name__}: "{name}" is the name of one of Bayplan\'s own; take another'
        missing = sorted(getattr(cls, "__abstractmethods__", ()))
        if missing:
            return f"class {cls.__name__} is abstract; define {', '.join(missing)}"
        if not issubclass(cls, (ClusterFilterPlugin, ClusterScorePlugin)):
            return f"class {cls.__name__} neither filters nor scores; derive it from ClusterFilterPlugin or the like"
        if not isinstance(cls.reads, tuple) or not all(isinstance(each, str) for each in cls.reads):
            return f'class {cls.__name__}: reads is {cls.reads!r}; write a tuple, such as (label("region"),)'
        fresh: object = cls.fresh_for
        if fresh is not None and (isinstance(fresh, bool) or not isinstance(fresh, (int, float)) or fresh <= 0):
            return f"class {cls.__name__}: fresh_for is {fresh!r}; write seconds, or None"
        return ""

    @property
    def scorers(self) -> tuple[str, ...]:
        """The names that may stand under `builtIn`."""
        return tuple(each.name for each in self if issubclass(each.cls, ClusterScorePlugin))

    def of(self, placement: api.Placement) -> tuple[tuple[ClusterPlugin, ...], list[InputError]]:
        """The plugins of a placement, made with its args, and what is wrong with what it writes."""
        if not len(self) and api.PLUGINS_ANNOTATION not in placement.annotations:
            return (), []
        written, mistakes = _written(placement)
        for name in written:
            if name not in self:
                problem = f'unknown plugin "{name}"{did_you_mean(name, self.names)}'
                mistakes.append(InputError(problem, field=options.annotation_field(api.PLUGINS_ANNOTATION)))
        scored = {
            each.score_coordinate.built_in
            for each in placement.spec.prioritizer_policy.configurations or ()
            if each.score_coordinate is not None
        }
        wanted = [name for name in self.names if name in written or name in self.everywhere or name in scored]
        made = [self._made(name, written.get(name), mistakes) for name in wanted]
        return tuple(each for each in made if each is not None), mistakes

    def _made(self, name: str, raw: Any, mistakes: list[InputError]) -> ClusterPlugin | None:
        cls, field = self.get(name), options.annotation_field(api.PLUGINS_ANNOTATION, name)
        args, wrong = read_args(cls, raw, field)
        if wrong:
            mistakes += [InputError(str(each)) for each in wrong]
            return None
        try:
            return cls(args)
        except GO_THROUGH:
            raise
        except Exception as error:
            mistakes.append(InputError(f"{name} cannot be made: {one_line(error)}", field=field))
            return None


NONE = OwnPlugins()


def own_plugins(specs: Sequence[str] = ()) -> OwnPlugins:
    """Those of installed packages, which placements must name, and those of `--plugin`, which all placements have."""
    found = OwnPlugins()
    found.discover()
    found.everywhere = tuple(found.load_spec(spec).name for spec in specs)
    return found


def _written(placement: api.Placement) -> tuple[dict[str, Any], list[InputError]]:
    try:
        return options.plugin_args(placement), []
    except InputError as error:
        return {}, [*getattr(error, "errors", (error,))]


class OwnFilter(ClusterFilter):
    """A plugin's filter, asked about one cluster after the other."""

    def __init__(self, plugin: ClusterFilterPlugin) -> None:
        self._plugin = plugin
        self.name = plugin.name  # type: ignore[misc]  # each instance stands for another plugin

    def filter(self, plan: Plan, fleet: Fleet, mask: Mask, moment: Moment) -> Mask:
        passed = mask.copy()
        for row in np.flatnonzero(mask).tolist():
            passed[row] = self._passes(plan, fleet, row)
        return passed

    def filter_row(self, plan: Plan, fleet: Fleet, row: int, now: float) -> Verdict:
        return PASSED if self._passes(plan, fleet, row) else DROPPED

    def _passes(self, plan: Plan, fleet: Fleet, row: int) -> bool:
        cluster = fleet.table.clusters[row]
        if cluster is None:
            return False
        try:
            passes = self._plugin.filter(cluster, plan.placement)
        except GO_THROUGH:
            raise
        except Exception as error:
            raise ClusterPluginError(self.name, "filter", cluster.name, error) from error
        if not isinstance(passes, bool):
            raise ClusterPluginError(self.name, "filter", cluster.name, f"it gave {passes!r}; give True or False")
        return passes


class OwnScorer(ClusterScorer):
    """A plugin's score, asked about one cluster after the other."""

    def __init__(self, plugin: ClusterScorePlugin) -> None:
        self._plugin = plugin
        self.name = plugin.name  # type: ignore[misc]  # each instance stands for another plugin

    def score(self, plan: Plan, fleet: Fleet, moment: Moment, scale: object, rows: Rows = ALL) -> Numbers:
        wanted = np.arange(len(moment.eligible))[rows]
        scores = np.zeros(len(wanted), np.int64)
        for index, row in enumerate(wanted.tolist()):
            if moment.eligible[row]:
                scores[index] = self._score(plan, fleet, row)
        return scores

    def _score(self, plan: Plan, fleet: Fleet, row: int) -> int:
        cluster = fleet.table.clusters[row]
        if cluster is None:
            return 0
        try:
            score = self._plugin.score(cluster, plan.placement)
        except GO_THROUGH:
            raise
        except Exception as error:
            raise ClusterPluginError(self.name, "score", cluster.name, error) from error
        if isinstance(score, bool) or not isinstance(score, int) or not -MAX_SCORE <= score <= MAX_SCORE:
            raise ClusterPluginError(
                self.name, "score", cluster.name, f"it gave {score!r}; give a whole number from -100 to 100"
            )
        return score

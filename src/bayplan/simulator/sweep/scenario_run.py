"""
One scenario from beginning to end: the same function for a run here, in another process and on another machine.

``Clusters`` is what a worker keeps of a sweep: each cluster is read once, whatever the number of its scenarios.
"""

from __future__ import annotations

import gc
from dataclasses import replace
from functools import cached_property
from threading import Lock

from bayplan.bounded_cache import BoundedCache
from bayplan.errors import InputError
from bayplan.framework.config.loading import load_config
from bayplan.framework.config.model import SchedulerConfig
from bayplan.framework.profile import build_profiles
from bayplan.objects.node import Node
from bayplan.objects.resources import CPU, MEMORY
from bayplan.plugins.defaults import DEFAULT_PLUGINS
from bayplan.plugins.plugin_set import Plugins, mistakes_of, registry
from bayplan.simulator import loading, simulation
from bayplan.simulator.load.simulated_load import LoadOptions
from bayplan.simulator.loading import Given
from bayplan.simulator.sweep import measures, variants
from bayplan.simulator.sweep.measures import Value
from bayplan.simulator.sweep.payload import Payload
from bayplan.simulator.sweep.scenarios import Scenario
from bayplan.simulator.weights import reweighted
from bayplan.simulator.world import assemble

MOST_SWEEPS = 4
"""How many a worker of a long-lived scheduler remembers."""


class Result:
    """A row, and what there was to say on the way."""

    __slots__ = ("values", "warnings")

    def __init__(self, values: dict[str, Value], warnings: list[str]) -> None:
        self.values = values
        self.warnings = warnings


class Clusters:
    """What is read of a payload, once."""

    def __init__(self, payload: Payload) -> None:
        self._payload = payload
        self._given: dict[str, Given] = {}
        self._configs: dict[str, tuple[SchedulerConfig, list[str]] | None] = {}

    @cached_property
    def plugins(self) -> Plugins:
        """Known to configurations, which say where they take part."""
        return registry(self._payload.plugins)._replace(extra=())

    def given(self, trace: str) -> Given:
        found = self._given.get(trace)
        if found is None:
            files = self._payload.clusters[trace]
            found = loading.load(files.documents, None, self.plugins, strict=True)
            found = self._given[trace] = replace(found, arrangements=files.arrangements)
        return found

    def scenario(self, scenario: Scenario) -> Given:
        """The cluster of a scenario; ``InputError`` for what cannot be done to it."""
        grid = self._payload.grid
        given = self.given(scenario.trace)
        outage, scale = grid.outage.get(scenario.outage), grid.scale.get(scenario.scale)
        if outage is not None:
            given = variants.without_nodes(given, outage)
        if scale is not None:
            given = variants.scaled(given, scale)
        return self._configured(given, scenario)

    def check(self, scenario: Scenario) -> None:
        """Whatever can be found out about a scenario without running it."""
        given = self.scenario(scenario)
        if self._payload.measures and (given.ends or given.later):
            problem = "pods come or go later, so that arrivals do not say what is allocated"
            raise InputError(problem, field="measures", fix="leave out measures, or arrival and duration")
        if given.config is not None:
            build_profiles(given.config, given.plugins.known, DEFAULT_PLUGINS, extra_enabled=given.plugins.extra)

    def resources(self, trace: str) -> list[str]:
        """The resources that nodes have: CPU and memory, and extended ones in the order of the alphabet."""
        nodes = (each for each in self.given(trace).objects if isinstance(each, Node))
        return [CPU, MEMORY, *sorted({name for node in nodes for name in node.allocatable.scalars})]

    def _configured(self, given: Given, scenario: Scenario) -> Given:
        written = self._config(scenario.config)
        config = written[0] if written is not None else given.config
        weights = self._payload.grid.weights.get(scenario.weights)
        warnings = given.warnings if written is None else [*given.warnings, *written[1]]
        configured = replace(given, config=config, warnings=warnings)
        return reweighted(configured, weights, "spec.grid.weights") if weights else configured

    def _config(self, name: str) -> tuple[SchedulerConfig, list[str]] | None:
        if name not in self._configs:
            written = self._payload.configs[name]
            self._configs[name] = (
                None if written is None else load_config(written.raw, written.source, mistakes_of(self.plugins))
            )
        return self._configs[name]


_known: BoundedCache[str, Clusters] = BoundedCache(MOST_SWEEPS)
_one_at_a_time = Lock()
"""A worker may have several threads; a run is for one."""


def run_scenario(payload: Payload, scenario: Scenario, resources: list[str]) -> Result:
    """The row of a scenario."""
    with _one_at_a_time:
        clusters = _known.get(payload.digest)
        if clusters is None:
            clusters = Clusters(payload)
            _known[payload.digest] = clusters
        return _run(clusters, payload, scenario, resources)


def _run(clusters: Clusters, payload: Payload, scenario: Scenario, resources: list[str]) -> Result:
    warnings: list[str] = []
    load = None if payload.run_for_s is None else LoadOptions()
    given = clusters.scenario(scenario)
    world = assemble(given, seed=scenario.seed, now=payload.started_at, load=load, warn=warnings.append)
    # Nothing that lives through a run is garbage, and looking for some takes a third of the time.
    collects = gc.isenabled()
    gc.disable()
    try:
        stopped = simulation.run(world, payload.run_for_s)
    finally:
        if collects:
            gc.enable()
    return Result(measures.values(world, stopped, resources, payload.measures), warnings)

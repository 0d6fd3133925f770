"""Worlds that were run with their history kept; for the tests of views."""

from __future__ import annotations

from typing import Any

from bayplan.plugins.plugin_set import registry
from bayplan.simulator import simulation
from bayplan.simulator.loading import documents_of, load
from bayplan.simulator.world import World, assemble
from bayplan.view.documents import Origin
from tests.simulator.support import START, Manifest

ORIGIN = Origin("simulate", "bayplan simulate -f cluster.yaml", START)


def ran(*manifests: Manifest, run_for_s: float | None = None, keeps_history: bool = True, **options: Any) -> World:
    given = load(documents_of(manifests), None, registry((), False))
    world = assemble(given, now=START, keeps_history=keeps_history, **options)
    assert simulation.run(world, run_for_s) == ""
    return world

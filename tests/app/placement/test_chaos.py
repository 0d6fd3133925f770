"""Whatever people do to a hub, and in whatever order: when they stop, what is written is what would be decided."""

from __future__ import annotations

import asyncio
import contextlib
import random
from typing import Any

import pytest

from bayplan.objects import kinds
from bayplan.objects.third_party import placement as objects
from bayplan.placement import decision_writes
from bayplan.placement.state import PlacementState
from tests.app.placement.hub import GROUP, KINDS, NAMESPACE, add_cluster, add_placement, deciding, eventually, spread
from tests.support.api import Api, ApiError
from tests.support.control_plane import ControlPlane

pytestmark = pytest.mark.kube

ACTS = 80


class Vandal:
    """Does one random thing after the other, sensible or not."""

    def __init__(self, api: Api, seed: int) -> None:
        self._api, self._random = api, random.Random(seed)

    def act(self) -> None:
        # Many things it wants to change are not there, or there already.
        with contextlib.suppress(ApiError):
            clusters = (self._cluster, self._cluster, self._no_cluster, self._taint, self._taint)
            others = (self._placement, self._no_placement, self._edit, self._spoil, self._unbind)
            self._random.choice((*clusters, *others))()

    def _name(self) -> str:
        return f"c{self._random.randrange(12):02d}"

    def _cluster(self) -> None:
        add_cluster(self._api, self._name(), self._random.choice(("eu", "us", "asia")))

    def _no_cluster(self) -> None:
        self._api.delete("ManagedCluster", self._name())

    def _taint(self) -> None:
        taints = [{"key": "t", "effect": self._random.choice(("NoSelect", "NoSelectIfNew", "PreferNoSelect"))}]
        body = {"spec": {"taints": self._random.choice((taints, None))}}
        self._api.patch("ManagedCluster", self._name(), body)

    def _placement(self) -> None:
        name = self._random.choice(("web", "db", "cache"))
        spec = self._random.choice(({}, spread(3), {"numberOfClusters": 2}))
        # Balance would be read again by somebody who starts anew, and so might move something.
        steady = {"mode": "Exact", "configurations": [{"scoreCoordinate": {"builtIn": "Steady"}}]}
        add_placement(self._api, name, **spec, prioritizerPolicy=steady)

    def _no_placement(self) -> None:
        name = self._random.choice(("web", "db", "cache"))
        self._api.delete("Placement", name, NAMESPACE)
        for page in self._pages(name):
            # Nobody collects garbage here.
            self._api.delete("PlacementDecision", page, NAMESPACE)

    def _edit(self) -> None:
        spec = self._random.choice(
            (
                {"numberOfClusters": self._random.randrange(5)},
                {"spreadPolicy": {"spreadConstraints": [{"topologyKey": "a", "topologyKeyType": "Label"}] * 2}},
                {"spreadPolicy": None},
                {
                    "decisionStrategy": {
                        "groupStrategy": {"clustersPerDecisionGroup": self._random.choice((1, 2, "50%"))}
                    }
                },
                {"clusterSets": self._random.choice((None, ["nobody"], ["all"]))},
            )
        )
        self._api.patch("Placement", self._random.choice(("web", "db", "cache")), {"spec": spec}, NAMESPACE)

    def _spoil(self) -> None:
        pages = self._pages()
        if pages:
            page = self._random.choice(pages)
            if self._random.random() < 0.4:
                self._api.delete("PlacementDecision", page, NAMESPACE)
            elif self._random.random() < 0.5:
                body = {"status": {"decisions": [{"clusterName": self._name(), "reason": "mine"}]}}
                self._api.patch("PlacementDecision", page, body, NAMESPACE, "status")
            else:
                self._api.patch("PlacementDecision", page, {"metadata": {"labels": None}}, NAMESPACE)

    def _unbind(self) -> None:
        if self._random.random() < 0.5:
            self._api.delete("ManagedClusterSetBinding", "all", NAMESPACE)
        else:
            bind(self._api)

    def _pages(self, name: str = "") -> list[str]:
        listed = (each["metadata"]["name"] for each in self._api.list("PlacementDecision", NAMESPACE))
        return sorted(each for each in listed if each.startswith(name))


def bind(api: Api) -> None:
    meta = {"name": "all", "namespace": NAMESPACE}
    kind = {"apiVersion": f"{GROUP}/v1beta2", "kind": "ManagedClusterSetBinding"}
    with contextlib.suppress(ApiError):
        api.create({**kind, "metadata": meta, "spec": {"clusterSet": "all"}})


def left_to_do(api: Api) -> list[Any]:
    """What somebody who sees all of this for the first time would write."""
    things = []
    for kind in (*KINDS, "PlacementDecision"):
        things += [kinds.decode(each) for each in api.list(kind)]
    state = PlacementState()
    state.load(things)
    found: list[Any] = []
    for each in things:
        if isinstance(each, objects.Placement):
            pages = [page for page in things if isinstance(page, objects.PlacementDecision)]
            ours = [page for page in pages if page.placement == each.key]
            found += decision_writes.writes_for(state.evaluation(each.key), each, ours, "2026-01-01T00:00:00Z")
    return found


@pytest.mark.parametrize("seed", range(3))
async def test_after_all_of_it_nothing_is_left_to_do(api: Api, control_plane: ControlPlane, seed: int) -> None:
    vandal = Vandal(api, seed)
    async with deciding(control_plane):
        for _ in range(ACTS):
            await asyncio.to_thread(vandal.act)
        bind(api)
        await eventually(lambda: not left_to_do(api), f"nothing to be left, not {left_to_do(api)}")
        await asyncio.sleep(0.3)
        assert left_to_do(api) == []

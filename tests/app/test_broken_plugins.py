"""A plugin that raises, at every extension point in turn: it fails its pod, never the scheduler nor other pods.

One plugin takes part everywhere and raises where the pod's label ``raise-at`` says so, until it is repaired.
"""

from __future__ import annotations

import asyncio
from typing import Any, ClassVar

import pytest

from bayplan.framework import (
    BindPlugin,
    CycleState,
    FilterPlugin,
    On,
    PermitPlugin,
    PostBindPlugin,
    PostFilterPlugin,
    PreBindPlugin,
    PreEnqueuePlugin,
    PreFilterPlugin,
    PreScorePlugin,
    QueueSortPlugin,
    ReservePlugin,
    ScorePlugin,
)
from bayplan.framework.config.model import SchedulerConfig
from bayplan.framework.events import Change
from bayplan.framework.plugin import QueuedPod
from bayplan.framework.status import SKIP, unschedulable
from bayplan.objects.pod import Pod
from tests.support.faults import Answer
from tests.support.live import Cluster, config_of, running, until
from tests.support.witness import Witness

pytestmark = pytest.mark.kube

# The point, and what the pod's condition says; nothing where the pod does not get as far as a condition.
POINTS = {
    "pre-enqueue": "",
    "pre-filter": 'running PreFilter plugin "Troublemaker": plugin Troublemaker failed in PreFilter',
    "filter": 'running "Troublemaker" filter plugin: plugin Troublemaker failed in Filter',
    "pre-score": 'running PreScore plugin "Troublemaker": plugin Troublemaker failed in PreScore',
    "score": 'plugin "Troublemaker" failed with: plugin Troublemaker failed in Score',
    "normalize": "running Normalize on Score plugins: plugin Troublemaker failed in NormalizeScore",
    "reserve": 'running Reserve plugin "Troublemaker": plugin Troublemaker failed in Reserve',
    "permit": 'running Permit plugin "Troublemaker": plugin Troublemaker failed in Permit',
    "pre-bind": 'running PreBind plugin "Troublemaker": plugin Troublemaker failed in PreBind',
    "pre-bind-async": 'running PreBind plugin "Troublemaker": plugin Troublemaker failed in PreBind',
    "bind": 'running Bind plugin "Troublemaker": plugin Troublemaker failed in Bind',
}


class Troublemaker(
    PreEnqueuePlugin,
    PreFilterPlugin,
    FilterPlugin,
    PostFilterPlugin,
    PreScorePlugin,
    ScorePlugin,
    ReservePlugin,
    PermitPlugin,
    PreBindPlugin,
    BindPlugin,
    PostBindPlugin,
):
    name = "Troublemaker"
    is_repaired: ClassVar[bool] = False
    error: ClassVar[type[BaseException]] = ZeroDivisionError

    def _maybe(self, pod: Pod, *points: str) -> None:
        if not Troublemaker.is_repaired and pod.labels.get("raise-at") in points:
            raise self.error(f"at {points[0]}")

    def requeue_on(self) -> tuple[On, ...]:
        return (On("Pod", Change.ANY, self._hint), On("Node", Change.ANY, self._hint))

    def _hint(self, pod: Pod, old: Any, new: Any) -> bool:
        self._maybe(pod, "hint")
        return True

    def pre_enqueue(self, pod: Pod) -> None:
        self._maybe(pod, "pre-enqueue")

    def pre_filter(self, state: CycleState, pod: Pod, nodes: Any) -> None:
        self._maybe(pod, "pre-filter")

    def filter_node(self, state: CycleState, pod: Pod, node: Any) -> None:
        self._maybe(pod, "filter")

    def post_filter(self, state: CycleState, pod: Pod, diagnosis: Any) -> Any:
        self._maybe(pod, "post-filter")
        return unschedulable("no help here")

    def pre_score(self, state: CycleState, pod: Pod, nodes: Any, feasible: Any) -> None:
        self._maybe(pod, "pre-score")

    def score_node(self, state: CycleState, pod: Pod, node: Any) -> int:
        self._maybe(pod, "score")
        return 0

    def normalize(self, state: CycleState, pod: Pod, scores: Any, feasible: Any) -> Any:
        self._maybe(pod, "normalize")
        return scores

    def reserve(self, state: CycleState, pod: Pod, node_name: str) -> None:
        self._maybe(pod, "reserve")

    def unreserve(self, state: CycleState, pod: Pod, node_name: str) -> None:
        self._maybe(pod, "unreserve")

    def permit(self, state: CycleState, pod: Pod, node_name: str) -> None:
        self._maybe(pod, "permit")

    async def pre_bind(self, state: CycleState, pod: Pod, node_name: str) -> None:
        self._maybe(pod, "pre-bind")
        await asyncio.sleep(0)
        self._maybe(pod, "pre-bind-async")

    def bind(self, state: CycleState, pod: Pod, node_name: str) -> Any:
        self._maybe(pod, "bind")
        return SKIP

    def post_bind(self, state: CycleState, pod: Pod, node_name: str) -> None:
        self._maybe(pod, "post-bind")


@pytest.fixture
def broken(monkeypatch: pytest.MonkeyPatch) -> type[Troublemaker]:
    monkeypatch.setattr(Troublemaker, "is_repaired", False)
    return Troublemaker


def _at(point: str) -> dict[str, Any]:
    return {"labels": {"raise-at": point}}


@pytest.mark.parametrize("error", [ZeroDivisionError, SystemExit])
async def test_a_plugin_that_raises_fails_its_pod_and_nothing_else(
    cluster: Cluster,
    witness: Witness,
    broken: type[Troublemaker],
    error: type[BaseException],
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr(Troublemaker, "error", error)
    await cluster.nodes(2)
    async with running(cluster.plane, plugins=[broken], config=_first_to_bind()) as run:
        await asyncio.gather(*(cluster.pod(point, metadata=_at(point)) for point in POINTS))
        await cluster.pods(3)
        await asyncio.gather(*(cluster.bound(f"p{number}") for number in (1, 2, 3)))
        for point, text in POINTS.items():
            if text:
                condition = await cluster.unschedulable(point)
                assert (point, condition["reason"]) == (point, "SchedulerError")
                assert text in condition["message"], point
                assert f"{error.__name__}: at " in condition["message"], point
        assert not run.task.done()
        Troublemaker.is_repaired = True
        await cluster.node("n3")
        bound = await cluster.all_bound(len(POINTS) + 3)
    assert len(bound) == len(POINTS) + 3


async def test_a_plugin_that_raises_after_the_bind_changes_nothing(
    cluster: Cluster, witness: Witness, broken: type[Troublemaker]
) -> None:
    await cluster.node()
    async with running(cluster.plane, plugins=[broken]):
        await cluster.pod("p1", metadata=_at("post-bind"))
        await cluster.bound("p1")
        await cluster.event("p1", "Scheduled")


async def test_a_plugin_that_raises_while_undoing_does_not_keep_the_room(
    cluster: Cluster, witness: Witness, broken: type[Troublemaker]
) -> None:
    await cluster.node("n1", cpu="1")
    async with running(cluster.plane, plugins=[broken]) as run:
        run.faults.on("POST", "/p1/binding$", Answer(400, "no"))
        await cluster.pod("p1", cpu="800m", metadata=_at("unreserve"))
        await cluster.unschedulable("p1")
        await cluster.pod("p2", cpu="800m")
        await cluster.bound("p2")


async def test_a_plugin_that_raises_when_no_node_fits_leaves_the_reasons_readable(
    cluster: Cluster, witness: Witness, broken: type[Troublemaker]
) -> None:
    await cluster.node("n1", cpu="1")
    async with running(cluster.plane, plugins=[broken]):
        await cluster.pod("p1", cpu="2", metadata=_at("post-filter"))
        condition = await cluster.unschedulable("p1")
        assert condition["reason"] == "Unschedulable"
        assert condition["message"].startswith("0/1 nodes are available: 1 Insufficient cpu.")
        await cluster.node("n2")
        assert await cluster.bound("p1") == "n2"


async def test_a_hint_that_raises_counts_as_yes(cluster: Cluster, witness: Witness, broken: type[Troublemaker]) -> None:
    await cluster.node("n1", cpu="1")
    async with running(cluster.plane, plugins=[broken]) as run:
        await cluster.pod("p1", cpu="2", metadata=_at("hint"))
        await cluster.unschedulable("p1")
        await cluster.node("n2")
        assert await cluster.bound("p1") == "n2"
        assert all(informer.bad_objects == 0 for informer in run.live.informers)
        await until(lambda: run.live.engine.cache.assumed_count == 0, "the bind to be confirmed")


class BadSort(QueueSortPlugin):
    """Raises for a pod with the label ``raise-at``."""

    name = "BadSort"

    def queue_key(self, queued: QueuedPod) -> tuple[int, float]:
        return -queued.pod.priority // (0 if "raise-at" in queued.pod.labels else 1), queued.timestamp


async def test_a_queue_sort_that_raises_leaves_its_pod_out_until_it_changes(cluster: Cluster, witness: Witness) -> None:
    await cluster.node()
    sort = {"enabled": [{"name": "BadSort"}], "disabled": [{"name": "*"}]}
    config = config_of(profiles=[{"schedulerName": "bayplan", "plugins": {"queueSort": sort}}])
    async with running(cluster.plane, plugins=[BadSort], config=config) as run:
        await cluster.pod("bad", metadata=_at("queue-sort"))
        await cluster.pods(3)
        await cluster.all_bound(3)
        assert "nodeName" not in (await cluster.get("bad"))["spec"]
        assert not run.task.done()
        repaired = {"metadata": {"labels": {"raise-at": None}}}
        await asyncio.to_thread(cluster.api.patch, "Pod", "bad", repaired, cluster.namespace)
        await cluster.bound("bad")


def _first_to_bind() -> SchedulerConfig:
    """Asked before DefaultBinder, so that its Bind is reached."""
    bind = {"enabled": [{"name": "Troublemaker"}, {"name": "DefaultBinder"}], "disabled": [{"name": "*"}]}
    plugins = {"multiPoint": {"enabled": [{"name": "Troublemaker"}]}, "bind": bind}
    return config_of(profiles=[{"schedulerName": "bayplan", "plugins": plugins}])

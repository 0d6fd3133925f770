"""Shows generated clusters to the real kube-scheduler and records what it decides, as cases.

``__main__`` and the parity tests call ``Oracle.record``. Everything that is there before the first pending pod is in
the API server before kube-scheduler starts, and it starts anew for every cluster (a quarter of a second), so its
caches are complete when it judges. Then pods come one at a time. All they change travels through one watch, that of
pods, hence in order. A case is dropped if the log shows that another pod was attempted in between.
"""

from __future__ import annotations

import time
from collections.abc import Callable, Iterable, Iterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager
from random import Random
from typing import TypeVar

from tests.parity.case import Case, Object, Result
from tests.parity.generating import Cluster
from tests.parity.resetting import reset
from tests.parity.scheduler_log import VMODULE, Attempt, SchedulerLog
from tests.support.api import Api
from tests.support.control_plane import ControlPlane

CONFIG = {"podInitialBackoffSeconds": 1, "podMaxBackoffSeconds": 1, "percentageOfNodesToScore": 100}
# What a scheduler reads and pods do not change while a cluster is judged.
STILL_KINDS = (
    "Namespace",
    "PriorityClass",
    "Node",
    "Service",
    "ReplicationController",
    "ReplicaSet",
    "StatefulSet",
    "PodDisruptionBudget",
)
HOLD = [{"name": "bayplan.io/hold"}]
GATED = "SchedulingGated"
PATIENCE_S = 20.0
T = TypeVar("T")


class Oracle:
    """The real kube-scheduler, asked about clusters."""

    def __init__(self, plane: ControlPlane) -> None:
        self._plane = plane
        self._api = plane.api()
        reset(self._api)

    def record(self, cluster: Cluster) -> list[Case]:
        """Judge every pending pod of the cluster; afterwards the API server is empty again."""
        try:
            self._set_up(cluster)
            still = [clean(one) for kind in STILL_KINDS for one in self._api.list(kind)]
            with self._scheduler() as log:
                session = Session(self._api, log, still, cluster)
                return [case for pod in cluster.pending for case in session.judge(pod)]
        finally:
            reset(self._api)

    def _set_up(self, cluster: Cluster) -> None:
        names_first = [one for one in cluster.objects if "namespace" not in one["metadata"]]
        rest = [one for one in cluster.objects if "namespace" in one["metadata"]]
        for batch in (names_first, rest, cluster.bound):
            in_parallel(self._create, batch)
        in_parallel(lambda key: self._api.delete("Pod", key[1], key[0]), cluster.terminating)

    def _create(self, document: Object) -> None:
        """Create; the server ignores the status of most kinds at first, so it is written in a second call."""
        self._api.create(document)
        if "status" in document and document["kind"] != "Node":
            name, namespace = document["metadata"]["name"], document["metadata"]["namespace"]
            self._api.patch(document["kind"], name, {"status": document["status"]}, namespace, "status")

    @contextmanager
    def _scheduler(self) -> Iterator[SchedulerLog]:
        with self._plane.start_kube_scheduler(CONFIG, verbosity=2, vmodule=VMODULE) as server:
            yield SchedulerLog(server.log)


class Session:
    """One cluster in front of one kube-scheduler."""

    def __init__(self, api: Api, log: SchedulerLog, still: list[Object], cluster: Cluster) -> None:
        self._api = api
        self._log = log
        self._still = still
        self._cluster = cluster
        self._rng = Random(f"oracle-{cluster.name}")
        self._has_waiting_preemptor = False
        self._count = 0
        self._running = 0

    def judge(self, pod: Object) -> list[Case]:
        """One case for the pod, or two where it first preempts and then runs; none if something interfered."""
        self._settle()
        before = len(self._log.read())
        others = self._list_pods()
        stored = self._submit(pod)
        case = self._conclude(stored, others, before)
        return [one for one in (case, self._clear_up(stored, case)) if one is not None]

    def _submit(self, pod: Object) -> Object:
        """Create the pod; returns it as stored. One that shall start out nominated is held back by a gate first."""
        if "status" not in pod:
            return self._api.create(pod)
        name, namespace = pod["metadata"]["name"], pod["metadata"]["namespace"]
        self._api.create(pod | {"spec": pod["spec"] | {"schedulingGates": HOLD}})
        self._api.patch("Pod", name, {"status": pod["status"]}, namespace, "status")
        return self._api.patch("Pod", name, {"spec": {"schedulingGates": None}}, namespace)

    def _conclude(self, stored: Object, others: list[Object], before: int) -> Case | None:
        """Wait for the outcome and write it down."""
        metadata = stored["metadata"]
        name, namespace = metadata["name"], metadata["namespace"]
        judged = self._api.wait_for(
            lambda: _if_decided(self._api.get("Pod", name, namespace)), PATIENCE_S, f"a decision on {namespace}/{name}"
        )
        attempt = self._wait_for_log(f"{namespace}/{name}", bool(judged["spec"].get("nodeName")))
        attempts = self._log.attempts[before:]
        if any(one.pod != attempt.pod for one in attempts):
            return None
        self._count += 1
        return Case(
            name=f"{self._cluster.name}-{self._count:02}-{name}",
            style=self._cluster.style,
            namespace=namespace,
            pod=name,
            objects=[*self._still, *others, clean(stored)],
            result=make_result(stored, judged, attempt),
        )

    def _wait_for_log(self, pod: str, is_bound: bool) -> Attempt:
        """The log may lag behind the API by a moment, and evictions happen in the background."""

        def complete() -> Attempt | None:
            self._log.read()
            attempt = self._log.last_attempt(pod)
            if attempt is None or not attempt.outcome or (is_bound and attempt.feasible_count is None):
                return None
            is_evicting = attempt.target is not None and not attempt.preemption_finished
            if is_evicting and not (attempt.terminating and self._nothing_to_evict(attempt)):
                return None
            return attempt

        return self._api.wait_for(complete, PATIENCE_S, f"the log of {pod}")

    def _nothing_to_evict(self, attempt: Attempt) -> bool:
        """All victims were terminating already: then no eviction starts, so none will be reported as finished."""
        time.sleep(0.2)
        self._log.read()
        return not attempt.evicted and not attempt.preemption_started

    def _clear_up(self, stored: Object, case: Case | None) -> Case | None:
        """Leave the cluster so that nothing is retried by itself while the next pod is judged."""
        metadata = stored["metadata"]
        name, namespace = metadata["name"], metadata["namespace"]
        result = case.result if case else Result(None)
        if result.node is not None:
            self._report_running(stored)
            return None
        choice = self._rng.choice(["delete", "delete", "wait", "run"])
        if not result.victims or choice == "delete" or case is None:
            self._api.delete("Pod", name, namespace, grace_s=0)
            self._remove(result.victims)
            return None
        if choice == "wait":
            # It stays nominated and its victims stay terminating, so later pods must leave it its room.
            self._has_waiting_preemptor = True
            return None
        return self._let_it_run(name, namespace, result.victims)

    def _let_it_run(self, name: str, namespace: str, victims: list[str]) -> Case | None:
        """The victims go; the preemptor is tried again, on its nominated node first."""
        before = len(self._log.read())
        # Looked at before the victims go, since the scheduler is quicker than another look.
        others = [one for one in self._list_pods() if _key(one) not in {(namespace, name), *map(_split, victims)}]
        nominated = self._api.get("Pod", name, namespace)
        self._remove(victims)
        try:
            self._api.wait_for(
                lambda: self._api.get("Pod", name, namespace)["spec"].get("nodeName"), 4.0, "the preemptor"
            )
        except TimeoutError:
            self._api.delete("Pod", name, namespace, grace_s=0)
            return None
        case = self._conclude(nominated, others, before)
        self._report_running(nominated)
        return case

    def _remove(self, victims: Iterable[str]) -> None:
        """As the kubelet would when the containers have stopped."""
        for namespace, name in map(_split, victims):
            self._api.patch("Pod", name, {"metadata": {"finalizers": None}}, namespace)
            self._api.delete("Pod", name, namespace, grace_s=0)

    def _report_running(self, stored: Object) -> None:
        """As the kubelet would; preemption compares start times, so each pod gets its own."""
        metadata = stored["metadata"]
        self._running += 1
        started = f"2026-01-01T11:{self._running // 60:02}:{self._running % 60:02}Z"
        status = {"status": {"phase": "Running", "startTime": started}}
        self._api.patch("Pod", metadata["name"], status, metadata["namespace"], "status")

    def _settle(self) -> None:
        """A waiting preemptor may be tried again when something changes. Wait until that is over."""
        while self._has_waiting_preemptor:
            seen = len(self._log.read())
            time.sleep(0.1)
            if len(self._log.read()) == seen:
                return

    def _list_pods(self) -> list[Object]:
        return [clean(one) for one in self._api.list("Pod")]


def make_result(stored: Object, judged: Object, attempt: Attempt) -> Result:
    """What the API and the log say about the attempt, together."""
    node = judged["spec"].get("nodeName")
    condition = _scheduled_condition(judged)
    if node is not None:
        nominated = stored.get("status", {}).get("nominatedNodeName")
        is_shortcut = not attempt.scores and nominated == node
        feasible = sorted(next(iter(attempt.scores.values()))) if attempt.scores else [node]
        return Result(node, feasible=None if is_shortcut else feasible, scores=attempt.scores or None)
    return Result(
        None,
        message=condition.get("message", ""),
        reason=condition.get("reason", ""),
        feasible=[],
        nominated_node=attempt.target,
        victims=sorted([*attempt.evicted, *attempt.terminating]),
        evicted=sorted(attempt.evicted),
    )


def clean(document: Object) -> Object:
    """The object without the bookkeeping of the server."""
    metadata = {key: value for key, value in document["metadata"].items() if key != "managedFields"}
    return document | {"metadata": metadata}


def in_parallel(act: Callable[[T], object], items: Iterable[T]) -> None:
    with ThreadPoolExecutor(8) as pool:
        list(pool.map(act, items))


def _key(pod: Object) -> tuple[str, str]:
    return pod["metadata"]["namespace"], pod["metadata"]["name"]


def _split(namespaced: str) -> tuple[str, str]:
    namespace, name = namespaced.split("/")
    return namespace, name


def _scheduled_condition(pod: Object) -> Object:
    conditions: list[Object] = pod.get("status", {}).get("conditions", [])
    return next((one for one in conditions if one["type"] == "PodScheduled"), {})


def _if_decided(pod: Object) -> Object | None:
    condition = _scheduled_condition(pod)
    is_refused = condition.get("status") == "False" and condition.get("reason") != GATED
    return pod if pod["spec"].get("nodeName") or is_refused else None

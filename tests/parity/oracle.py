"""Shows generated clusters to the real kube-scheduler and records what it decides, as cases.

``__main__`` and the parity tests call ``Oracle.record``. Everything that is there before the first pending pod is in
the API server before kube-scheduler starts, and it starts anew for every cluster (a quarter of a second), so its
caches are complete when it judges. Then pods come one at a time. All they change travels through one watch, that of
pods, hence in order. A case is dropped if the log shows that another pod was attempted first.
"""

from __future__ import annotations

import time
from collections.abc import Callable, Iterable, Iterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager, suppress
from dataclasses import replace
from random import Random
from typing import TypeVar

from tests.parity.case import Case, Object, Result
from tests.parity.device_driving import FREED, TAINT_RULE_GATE, allocations, report_prepared
from tests.parity.generating import Cluster
from tests.parity.resetting import reset
from tests.parity.scheduler_log import FAILED, VMODULE, Attempt, SchedulerLog
from tests.parity.volume_controlling import SELECTED_NODE, bind_claims, claim_names
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
    "StorageClass",
    "CSINode",
    "CSIDriver",
    "CSIStorageCapacity",
    "VolumeAttachment",
    "DeviceClass",
    "ResourceSlice",
)
TAINT_RULE = "DeviceTaintRule"
# What changes beside the pods, where there is any.
VOLUME_KINDS = ("PersistentVolume", "PersistentVolumeClaim")
DEVICE_KINDS = ("ResourceClaim",)
HOLD = [{"name": "bayplan.io/hold"}]
GATED = "SchedulingGated"
PATIENCE_S = 20.0
T = TypeVar("T")


class Oracle:
    """The real kube-scheduler, asked about clusters."""

    def __init__(self, plane: ControlPlane, *, has_taint_rules: bool = False) -> None:
        """With taint rules the plane must have been started with their flags."""
        self._plane = plane
        self._api = plane.api()
        self._more_kinds = (TAINT_RULE,) if has_taint_rules else ()
        reset(self._api, *self._more_kinds)

    def record(self, cluster: Cluster) -> list[Case]:
        """Judge every pending pod of the cluster; afterwards the API server is empty again."""
        try:
            self._set_up(cluster)
            still = [clean(one) for kind in (*STILL_KINDS, *self._more_kinds) for one in self._api.list(kind)]
            with self._scheduler() as log:
                session = Session(self._api, log, still, cluster)
                return [case for pod in cluster.pending for case in session.judge(pod)]
        finally:
            reset(self._api, *self._more_kinds)

    def _set_up(self, cluster: Cluster) -> None:
        names_first = [one for one in cluster.objects if "namespace" not in one["metadata"]]
        rest = [one for one in cluster.objects if "namespace" in one["metadata"]]
        for batch in (names_first, rest, cluster.bound):
            in_parallel(self._create, batch)
        for pod in cluster.bound:
            for claim in cluster.own_claims.get(pod["metadata"]["name"], ()):
                self._create(
                    owned_by(claim, self._api.get("Pod", pod["metadata"]["name"], claim["metadata"]["namespace"]))
                )
        in_parallel(lambda key: self._api.delete("Pod", key[1], key[0]), cluster.terminating)
        in_parallel(lambda key: self._api.delete(key[0], key[2], key[1]), cluster.deleting)

    def _create(self, document: Object) -> None:
        """Create; the server ignores the status of most kinds at first, so it is written in a second call."""
        self._api.create(document)
        if "status" in document and document["kind"] != "Node":
            name, namespace = document["metadata"]["name"], document["metadata"].get("namespace")
            self._api.patch(document["kind"], name, {"status": document["status"]}, namespace, "status")

    @contextmanager
    def _scheduler(self) -> Iterator[SchedulerLog]:
        flags = (TAINT_RULE_GATE,) if self._more_kinds else ()
        with self._plane.start_kube_scheduler(CONFIG, verbosity=2, vmodule=VMODULE, flags=flags) as server:
            yield SchedulerLog(server.log)


class Session:
    """One cluster in front of one kube-scheduler."""

    def __init__(self, api: Api, log: SchedulerLog, still: list[Object], cluster: Cluster) -> None:
        self._api = api
        self._log = log
        self._still = still
        self._cluster = cluster
        has_volumes = any(one["kind"] in VOLUME_KINDS for one in cluster.objects) or bool(cluster.own_claims)
        self._has_devices = any(one["kind"] == "ResourceSlice" for one in cluster.objects)
        more = DEVICE_KINDS if self._has_devices else VOLUME_KINDS if has_volumes else ()
        self._moving_kinds = ("Pod", *more)
        self._rng = Random(f"oracle-{cluster.name}")
        self._has_waiting_preemptor = False
        self._count = 0
        self._running = 0

    def judge(self, pod: Object) -> list[Case]:
        """One case for the pod, or two where it first preempts and then runs; none if something interfered."""
        self._settle()
        before = len(self._log.read())
        held = self._hold(pod)
        others = [one for one in self._list_moving() if _key(one) != _key(pod)]
        stored = self._api.create(pod) if held is None else self._let_go(held)
        case = self._conclude(stored, others, before)
        return [one for one in (case, self._clear_up(stored, case)) if one is not None]

    def _hold(self, pod: Object) -> Object | None:
        """A pod that shall start out nominated, or has claims of its own, is created behind a gate first."""
        name, namespace = pod["metadata"]["name"], pod["metadata"]["namespace"]
        claims = self._cluster.own_claims.get(name, [])
        if "status" not in pod and not claims:
            return None
        held = self._api.create(pod | {"spec": pod["spec"] | {"schedulingGates": HOLD}})
        if "status" in pod:
            self._api.patch("Pod", name, {"status": pod["status"]}, namespace, "status")
        for claim in claims:
            self._api.create(owned_by(claim, held))
        if claims:
            # The scheduler hears of claims and of pods on different watches.
            time.sleep(0.1)
        return held

    def _let_go(self, held: Object) -> Object:
        metadata = held["metadata"]
        return self._api.patch("Pod", metadata["name"], {"spec": {"schedulingGates": None}}, metadata["namespace"])

    def _conclude(self, stored: Object, others: list[Object], before: int) -> Case | None:
        """Wait for the outcome of the first attempt since ``before`` and write it down.

        The pod may be tried again at once, for instance when its nomination changed; only the first attempt saw
        what ``others`` holds. None if another pod was tried before it.
        """
        name, namespace = stored["metadata"]["name"], stored["metadata"]["namespace"]
        selected = {one["metadata"]["uid"] for one in others if SELECTED_NODE in one["metadata"].get("annotations", {})}

        def decided() -> bool:
            pod = self._api.get("Pod", name, namespace)
            if claim_names(pod) and not _is_decided(pod):
                bind_claims(self._api, pod, selected)
            if self._has_devices and not _is_decided(pod):
                report_prepared(self._api, pod)
            return _is_decided(pod)

        self._api.wait_for(decided, PATIENCE_S, f"a decision on {namespace}/{name}")
        attempt = self._wait_for_log(f"{namespace}/{name}", before)
        if self._log.attempts[before] is not attempt:
            return None
        if attempt.message.startswith("running PreBind plugin"):
            # It had been placed, and the node was forgotten again; a claim that is mounted twice is written twice, say.
            return None
        self._count += 1
        return Case(
            name=f"{self._cluster.name}-{self._count:02}-{name}",
            style=self._cluster.style,
            namespace=namespace,
            pod=name,
            objects=[*self._still, *others, clean(stored)],
            result=replace(make_result(stored, attempt), allocations=self._allocations(stored, attempt)),
        )

    def _allocations(self, stored: Object, attempt: Attempt) -> dict[str, Object] | None:
        if attempt.node is None or not self._has_devices:
            return None
        return allocations(self._api, self._api.get("Pod", stored["metadata"]["name"], stored["metadata"]["namespace"]))

    def _wait_for_log(self, pod: str, before: int) -> Attempt:
        """The log may lag behind the API by a moment, and evictions happen in the background."""

        def complete() -> Attempt | None:
            attempt = next((one for one in self._log.read()[before:] if one.pod == pod), None)
            if attempt is None or not attempt.outcome:
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
        name, namespace = stored["metadata"]["name"], stored["metadata"]["namespace"]
        if case and FREED in case.result.message:
            self._let_it_settle(name, namespace)
        if self._api.get("Pod", name, namespace)["spec"].get("nodeName"):
            self._report_running(stored)
            return None
        victims = case.result.victims if case else []
        choice = self._rng.choice(["delete", "delete", "wait", "run"])
        if choice == "wait" and victims:
            # It stays nominated and its victims stay terminating, so later pods must leave it its room.
            self._has_waiting_preemptor = True
            return None
        # With several victims it could be tried while some of them are still there.
        if choice == "run" and len(victims) == 1:
            return self._let_it_run(name, namespace, victims)
        self._api.delete("Pod", name, namespace, grace_s=0)
        self._remove(victims)
        return None

    def _let_it_settle(self, name: str, namespace: str) -> None:
        """A claim was freed for it, so it is tried again at once, and perhaps once more."""

        def is_settled() -> bool:
            pod = self._api.get("Pod", name, namespace)
            report_prepared(self._api, pod)
            return bool(pod["spec"].get("nodeName")) or FREED not in _scheduled_condition(pod).get("message", FREED)

        with suppress(TimeoutError):
            self._api.wait_for(is_settled, PATIENCE_S, f"{namespace}/{name} to be tried again")

    def _let_it_run(self, name: str, namespace: str, victims: list[str]) -> Case | None:
        """The victim goes; the preemptor is tried again, on its nominated node first."""
        self._settle()
        before = len(self._log.read())
        # Looked at before the victim goes, since the scheduler is quicker than another look.
        leaving = {("Pod", namespace, name), *(("Pod", *_split(victim)) for victim in victims)}
        others = [one for one in self._list_moving() if _key(one) not in leaving]
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

    def _list_moving(self) -> list[Object]:
        return [clean(one) for kind in self._moving_kinds for one in self._api.list(kind)]


def make_result(stored: Object, attempt: Attempt) -> Result:
    """What the log says about the attempt; the message there is the one of the PodScheduled condition."""
    if attempt.node is not None:
        is_shortcut = not attempt.scores and stored.get("status", {}).get("nominatedNodeName") == attempt.node
        feasible = sorted(next(iter(attempt.scores.values()))) if attempt.scores else [attempt.node]
        return Result(attempt.node, feasible=None if is_shortcut else feasible, scores=attempt.scores or None)
    return Result(
        None,
        message=attempt.message,
        reason="SchedulerError" if attempt.outcome == FAILED else "Unschedulable",
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


def owned_by(claim: Object, pod: Object) -> Object:
    """The claim as made for this pod."""
    metadata = claim["metadata"]
    owners = [one | {"uid": pod["metadata"]["uid"]} for one in metadata.get("ownerReferences", [])]
    return claim | {"metadata": metadata | ({"ownerReferences": owners} if owners else {})}


def _key(document: Object) -> tuple[str, str, str]:
    return document["kind"], document["metadata"].get("namespace", ""), document["metadata"]["name"]


def _split(namespaced: str) -> tuple[str, str]:
    namespace, name = namespaced.split("/")
    return namespace, name


def _scheduled_condition(pod: Object) -> Object:
    conditions: list[Object] = pod.get("status", {}).get("conditions", [])
    return next((one for one in conditions if one["type"] == "PodScheduled"), {})


def _is_decided(pod: Object) -> bool:
    condition = _scheduled_condition(pod)
    is_refused = condition.get("status") == "False" and condition.get("reason") != GATED
    return bool(pod["spec"].get("nodeName")) or is_refused

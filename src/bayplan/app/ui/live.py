"""
A live cluster to look at: informers feed an engine that never schedules, as in ``app.shadow.live``.

Nothing is written.  Every pod has a row that it keeps as long as it is there, so that a bind changes a few numbers of a
view and not all rows behind it.
"""

from __future__ import annotations

import asyncio
import time
from collections import Counter
from collections.abc import Collection
from dataclasses import replace
from typing import Any

import structlog

from bayplan.app.scheduler.informers import EngineInformers, kinds_for
from bayplan.app.shell.metrics import SERVICE_GAUGES, Declared, PrometheusMetrics
from bayplan.app.shell.service import Service
from bayplan.app.ui import picture, placements
from bayplan.app.ui.feed import Feed
from bayplan.app.ui.picture import Attempts
from bayplan.app.ui.placements import Placements
from bayplan.app.ui.rights import Rights
from bayplan.clock import SystemClock
from bayplan.controllers.rebalancer.observed import POLICY, Observed
from bayplan.controllers.shadow.read_only import ReadOnly
from bayplan.engine import gc_tuning
from bayplan.engine.events import Event, PodAdded, PodChanged, PodDeleted
from bayplan.engine.scheduler import MakeProfiles, Scheduler
from bayplan.framework.ports import NoMetrics
from bayplan.kube.client import Client
from bayplan.kube.informer import SILENCE_S
from bayplan.objects.kinds import those
from bayplan.objects.pod import Pod
from bayplan.objects.times import format_time
from bayplan.simulator.rebalance_plan import plan_observed
from bayplan.simulator.report.simulation_report import BOUND, GATED, PENDING
from bayplan.view.cluster_view import PodRow
from bayplan.view.documents import Origin, pod_facts, view
from bayplan.view.policies import moves_of, policies_of

log = structlog.get_logger()

PLAN_EVERY_S = 5.0
"""Planning moves may take a while, and policies change seldom."""
GAUGES = {
    "bayplan_ui_followers": Declared("Pages that follow the stream."),
    "bayplan_ui_pods": Declared("Pods that are known."),
    **SERVICE_GAUGES,
}


class PodRows:
    """Every pod in a row of its own; where one goes, the last one takes its place."""

    def __init__(self) -> None:
        self._rows: list[PodRow] = []
        self._at: dict[str, int] = {}
        self._keys: dict[str, str] = {}
        self._namespaces: Counter[str] = Counter()

    def __len__(self) -> int:
        return len(self._rows)

    def all(self) -> list[PodRow]:
        return self._rows

    def namespaces(self) -> Collection[str]:
        return self._namespaces.keys()

    def find(self, key: str) -> PodRow | None:
        uid = self._keys.get(key)
        return None if uid is None else self._rows[self._at[uid]]

    def put(self, row: PodRow) -> None:
        pod = row.pod
        at = self._at.get(pod.uid)
        if at is None:
            self._at[pod.uid] = len(self._rows)
            self._rows.append(row)
            self._namespaces[pod.namespace] += 1
        else:
            self._rows[at] = row
        self._keys[pod.key] = pod.uid

    def drop(self, pod: Pod) -> None:
        at = self._at.pop(pod.uid, None)
        if at is None:
            return
        if self._keys.get(pod.key) == pod.uid:
            del self._keys[pod.key]
        last = self._rows.pop()
        if at < len(self._rows):
            self._rows[at] = last
            self._at[last.pod.uid] = at
        self._namespaces[pod.namespace] -= 1
        if not self._namespaces[pod.namespace]:
            del self._namespaces[pod.namespace]


class LiveCluster(Service):
    """A ``Source`` that follows a cluster."""

    name = "live"

    def __init__(self, client: Client, make: MakeProfiles, command: str, silence_s: float = SILENCE_S) -> None:
        super().__init__(None, PrometheusMetrics({}, GAUGES, {}))
        nobody = ReadOnly()
        self.engine = Scheduler(make, clock=SystemClock(), writer=nobody, events=nobody)
        self._observed = Observed(self.engine)
        self._placements = Placements(self.engine.cache.objects)
        self._command = command
        self._rows = PodRows()
        self._plan: dict[str, Any] = {"policies": []}
        self._plan_due = 0.0
        self.revision = 0
        self.feed = Feed(self)
        following = EngineInformers(client, self._tell, NoMetrics(), silence_s)
        read = {kind.called for kind in kinds_for(self.engine.profiles.values())}
        # A cluster need not have policies, nor be a hub; if it has none, that is no mistake.
        shown = those({POLICY, *placements.KINDS} - read)
        optional = (replace(kind, is_optional=True) for kind in shown)
        self.informers = [following.informer(kind) for kind in (*those(read), *optional)]

    # -- a service --

    def publish(self) -> None:
        self.metrics.gauge("bayplan_ui_followers", self.feed.followers)
        self.metrics.gauge("bayplan_ui_pods", len(self._rows))

    async def prepare(self) -> None:
        await self.sync()
        self.revision += 1
        gc_tuning.settle()
        log.info("synced", nodes=len(self.engine.cache.nodes), pods=len(self._rows))

    async def work(self) -> None:
        await asyncio.gather(self.feed.run(), self._catch_up())

    async def stop(self, lost: bool) -> None:
        return None

    async def _catch_up(self) -> None:
        """For ever: what was put off is shown in the end, also if nothing else happens."""
        while True:
            await asyncio.sleep(PLAN_EVERY_S)
            if self._observed.has_news or self._placements.is_behind(time.time()):
                self.revision += 1

    def _tell(self, event: Event) -> None:
        self.engine.handle(event)
        self._observed.note(event)
        match event:
            case PodAdded(pod) | PodChanged(_, pod):
                self._rows.put(self._row(pod))
            case PodDeleted(pod):
                self._rows.drop(pod)
        self.revision += 1

    # -- a source --

    @property
    def problem(self) -> str:
        return "" if self.is_synced() else "the cluster is still being read"

    def namespaces(self) -> Collection[str]:
        return {*self._rows.namespaces(), *self._placements.namespaces()}

    def view(self, rights: Rights) -> dict[str, Any]:
        shown = picture.cluster(self.engine, self._rows.all(), rights)
        plan = self._planned()
        seen = [each for each in plan["policies"] if rights.sees_policies(each["namespace"])]
        moves = [{**move, "namespace": each["namespace"]} for each in seen for move in each["moves"]]
        now = time.time()
        facts, placed = self._placements.shown(now, rights) if self.is_synced() else ([], [])
        return view(
            Origin(self.name, self._command, now),
            facts=[*pod_facts(shown["summary"]), *facts],
            clusters=[shown],
            placements=placed,
            policies=policies_of(seen, self.engine),
            moves=moves_of(moves) if rights.nodes else (),
        )

    def pod(self, rights: Rights, key: str, attempts: Attempts) -> dict[str, Any] | None:
        row = self._rows.find(key)
        if row is None or not rights.sees_pods(row.pod.namespace):
            return None
        return picture.pod_page(self._observed, row, rights, attempts or _last_attempt(row))

    def _planned(self) -> dict[str, Any]:
        now = time.monotonic()
        if self._observed.has_news and now >= self._plan_due and self.is_synced():
            self._observed.take_news()
            self._plan = plan_observed(self._observed, self._owner, time.time())
            self._plan_due = time.monotonic() + PLAN_EVERY_S
        return self._plan

    def _row(self, pod: Pod) -> PodRow:
        condition = pod.condition("PodScheduled")
        told = "" if pod.node_name or condition is None else condition.message
        state = BOUND if pod.node_name else GATED if pod.spec.scheduling_gates else PENDING
        return PodRow(pod, state, told, self._owner(pod) or "")

    def _owner(self, pod: Pod) -> str | None:
        owner = pod.controller
        if owner is None:
            return None
        if owner.kind == "ReplicaSet":
            made = self.engine.cache.objects.get("ReplicaSet", pod.namespace, owner.name)
            owner = (made.controller if made is not None else None) or owner
        return f"{owner.kind}/{owner.name}"


def _last_attempt(row: PodRow) -> Attempts:
    """What the pod's status says of its last attempt, where no scheduler is asked."""
    condition = row.pod.condition("PodScheduled")
    if condition is None:
        return ()
    at = condition.last_transition_time
    return (
        {
            "at": format_time(at) if isinstance(at, float) else at or "",
            "result": condition.reason or ("Scheduled" if row.pod.node_name else ""),
            "node": row.pod.node_name or None,
            "message": condition.message,
        },
    )

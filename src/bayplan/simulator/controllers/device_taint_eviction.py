"""
What the device taint eviction controller does: pods go from devices with a NoExecute taint that their claim does not
tolerate, or not for longer.

A ``Timetable`` of every simulation with devices.  Pods are deleted, not evicted by the API: no budget keeps them.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

from bayplan.clock import Clock
from bayplan.objects.devices.device_class import DeviceTaintRule
from bayplan.objects.devices.resource_claim import DeviceRequestAllocationResult, ResourceClaim
from bayplan.objects.devices.resource_slice import ResourceSlice
from bayplan.objects.pod import Pod
from bayplan.objects.times import parse_time
from bayplan.objects.toleration import NO_EXECUTE, Taint, Toleration, tolerates
from bayplan.simulator.cluster import EVICTED, SimulatedCluster
from bayplan.simulator.controllers.resource_claims import CLAIM, claim_names
from bayplan.simulator.controllers.taint_eviction import MOST_EVICTIONS, shown

DeviceKey = tuple[str, str, str]


@dataclass(frozen=True, slots=True)
class _Due:
    at: float
    taint: Taint
    device: DeviceKey


class DeviceTaintEvictions:
    """Who is to go, and when."""

    def __init__(self, cluster: SimulatedCluster, clock: Clock) -> None:
        self._cluster = cluster
        self._clock = clock
        self._due: dict[str, _Due] = {}
        self._first_seen: dict[tuple[DeviceKey, Taint], float] = {}
        """Since when a taint counts that does not say it."""
        self._seen = -1

    @property
    def is_endless(self) -> bool:
        """A pod that is given the device that it is evicted from again goes and comes for ever."""
        self._look()
        records = self._cluster.records
        return all(records[uid].evictions >= MOST_EVICTIONS for uid in self._due)

    def next_at(self) -> float | None:
        self._look()
        return min((each.at for each in self._due.values()), default=None)

    async def happen(self, now: float) -> None:
        self._look()
        for uid, due in list(self._due.items()):
            if due.at <= now:
                del self._due[uid]
                driver, pool, device = due.device
                why = f"evicted from device {driver}/{pool}/{device}: taint {shown(due.taint)}"
                self._cluster.end(self._cluster.records[uid].pod, EVICTED, why)

    def _look(self) -> None:
        """Work out anew who is to go, if anything has changed."""
        if self._cluster.revision == self._seen:
            return
        self._seen = self._cluster.revision
        taints, rules = self._taints(), [*self._rules()]
        self._due = {}
        if not taints and not rules:
            return
        for pod in self._cluster.living():
            if pod.node_name and not pod.is_terminal and pod.spec.resource_claims:
                times = [*self._times(pod, taints, rules)]
                if times:
                    self._due[pod.uid] = min(times, key=lambda due: due.at)

    def _taints(self) -> dict[DeviceKey, list[Taint]]:
        """Taints that evict, by device, as the newest slices of each pool have them."""
        objects = self._cluster.objects
        slices: list[ResourceSlice] = [objects.get(*key) for key in objects if key[0] == "ResourceSlice"]
        newest: dict[tuple[str, str], int] = {}
        for each in slices:
            newest[each.pool_key] = max(each.spec.pool.generation, newest.get(each.pool_key, 0))
        found: dict[DeviceKey, list[Taint]] = {}
        for each in slices:
            for device in each.devices if each.spec.pool.generation == newest[each.pool_key] else ():
                evicting = [taint for taint in device.taints or () if taint.effect == NO_EXECUTE]
                if evicting:
                    found[*each.pool_key, device.name] = evicting
        return found

    def _rules(self) -> Iterator[DeviceTaintRule]:
        """Those that evict; one without a selector keeps pods off all devices, and evicts none."""
        objects = self._cluster.objects
        for key in objects:
            if key[0] == "DeviceTaintRule":
                rule: DeviceTaintRule = objects.get(*key)
                if rule.spec.taint.effect == NO_EXECUTE and rule.spec.device_selector is not None:
                    yield rule

    def _times(self, pod: Pod, taints: dict[DeviceKey, list[Taint]], rules: list[DeviceTaintRule]) -> Iterator[_Due]:
        for name in claim_names(pod):
            claim: ResourceClaim | None = self._cluster.objects.get(CLAIM, pod.namespace, name)
            for result in claim.results if claim is not None and claim.is_reserved_for(pod.uid) else ():
                ruled = [each.spec.taint for each in rules if each.matches(*result.device_key)]
                for taint in (*taints.get(result.device_key, ()), *ruled):
                    seconds = _tolerated_s(result, taint)
                    if seconds is not None:
                        yield _Due(self._since(result.device_key, taint) + seconds, taint, result.device_key)

    def _since(self, device: DeviceKey, taint: Taint) -> float:
        written = parse_time(taint.time_added)
        return self._first_seen.setdefault((device, taint), self._clock.now()) if written is None else written


def _tolerated_s(result: DeviceRequestAllocationResult, taint: Taint) -> float | None:
    """For how long; None for ever.  Only tolerations that name the effect count, and the shortest of them."""
    suiting: list[Toleration] = [
        each for each in result.tolerations or () if each.effect == NO_EXECUTE and tolerates(each, taint)
    ]
    if any(each.toleration_seconds is None for each in suiting):
        return None
    return float(min((max(0, each.toleration_seconds or 0) for each in suiting), default=0))

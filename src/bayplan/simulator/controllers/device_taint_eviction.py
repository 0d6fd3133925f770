"""
What the device taint eviction controller does: pods go from devices with a NoExecute taint that their claim does not
tolerate, or not for longer.

A ``Timetable`` of every simulation with devices.
"""

from __future__ import annotations

from collections.abc import Iterator

from bayplan.clock import Clock
from bayplan.objects.devices.device_class import DeviceTaintRule
from bayplan.objects.devices.resource_claim import DeviceRequestAllocationResult, ResourceClaim
from bayplan.objects.devices.resource_slice import ResourceSlice
from bayplan.objects.pod import Pod
from bayplan.objects.times import parse_time
from bayplan.objects.toleration import NO_EXECUTE, Taint, Toleration, tolerates
from bayplan.simulator.cluster import SimulatedCluster
from bayplan.simulator.controllers.evictions import Due, Evictions, shown
from bayplan.simulator.controllers.resource_claims import CLAIM, claim_names

DeviceKey = tuple[str, str, str]


class DeviceTaintEvictions(Evictions):
    """Who is to go from the devices, and when."""

    def __init__(self, cluster: SimulatedCluster, clock: Clock) -> None:
        super().__init__(cluster, clock)
        self._first_seen: dict[tuple[DeviceKey, Taint], float] = {}
        """Since when a taint counts that does not say it."""

    def _all_due(self) -> dict[str, Due]:
        taints, rules = self._taints(), [*self._rules()]
        found: dict[str, Due] = {}
        for pod in self._cluster.living() if taints or rules else ():
            if pod.node_name and not pod.is_terminal and pod.spec.resource_claims:
                times = [*self._times(pod, taints, rules)]
                if times:
                    found[pod.uid] = min(times, key=lambda due: due.at)
        return found

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

    def _times(self, pod: Pod, taints: dict[DeviceKey, list[Taint]], rules: list[DeviceTaintRule]) -> Iterator[Due]:
        for name in claim_names(pod):
            claim: ResourceClaim | None = self._cluster.objects.get(CLAIM, pod.namespace, name)
            for result in claim.results if claim is not None and claim.is_reserved_for(pod.uid) else ():
                ruled = [each.spec.taint for each in rules if each.matches(*result.device_key)]
                for taint in (*taints.get(result.device_key, ()), *ruled):
                    seconds = _tolerated_s(result, taint)
                    if seconds is not None:
                        why = f"evicted from device {'/'.join(result.device_key)}: taint {shown(taint)}"
                        yield Due(self._since(result.device_key, taint) + seconds, why)

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

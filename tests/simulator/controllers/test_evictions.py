"""What evictions by taints have in common: each pod goes at its time, and a run does not wait for those who come back."""

from __future__ import annotations

import asyncio

from bayplan.simulator.controllers.evictions import MOST_EVICTIONS, Due, Evictions
from bayplan.simulator.world import World
from tests.simulator.support import START, node, pod, world


class Planned(Evictions):
    """Every pod that lives goes at its time."""

    def __init__(self, here: World, times: dict[str, float]) -> None:
        super().__init__(here.cluster, here.clock)
        self._times = times
        self.asked = 0

    def _all_due(self) -> dict[str, Due]:
        self.asked += 1
        return {each.uid: Due(START + self._times[each.name], f"no room for {each.name}") for each in living(self)}


def living(evictions: Evictions) -> list[object]:
    return evictions._cluster.living()


def names(evictions: Evictions) -> list[str]:
    return sorted(each.name for each in living(evictions))


def planned(**times: float) -> Planned:
    here = world(node("n1"), *(pod(name, nodeName="n1") for name in times), now=START)
    return Planned(here, times)


def test_each_goes_at_its_time_and_is_told_why() -> None:
    evictions = planned(a=5.0, b=60.0)
    assert evictions.next_at() == START + 5

    asyncio.run(evictions.happen(START + 5))

    assert names(evictions) == ["b"]
    assert [each.message for each in evictions._cluster.records.values() if each.ended] == ["no room for a"]
    assert evictions.next_at() == START + 60


def test_nothing_is_worked_out_while_nothing_changes() -> None:
    evictions = planned(a=5.0)
    assert [evictions.next_at(), evictions.next_at(), evictions.is_endless] == [START + 5, START + 5, False]
    assert evictions.asked == 1


def test_pods_that_were_evicted_often_enough_keep_no_run_waiting() -> None:
    evictions = planned(a=5.0, b=60.0)
    often, once = evictions._cluster.records.values()
    often.evictions = MOST_EVICTIONS
    assert not evictions.is_endless
    once.evictions = MOST_EVICTIONS
    assert evictions.is_endless

"""Which pods a policy's selector finds, however they come, change and go."""

from __future__ import annotations

import pytest
from msgspec.structs import replace

from bayplan.controllers.rebalancer.observed import Observed
from bayplan.engine.events import PodChanged, PodDeleted
from bayplan.objects.pod import Pod
from bayplan.objects.requirement import EXISTS, IN, NOT_IN, Requirement
from bayplan.objects.selector import Selector
from bayplan.simulator.rebalance_plan import observed_of
from tests.controllers.rebalancer.support import REGIONS, pod
from tests.simulator.support import world

WEB = Requirement("app", IN, ("web",))


@pytest.mark.parametrize(
    ("requirements", "found"),
    [
        ([WEB], ["p1", "p2"]),
        ([WEB, Requirement("tier", IN, ("x",))], ["p1"]),
        ([WEB, Requirement("tier", NOT_IN, ("x",))], ["p2"]),
        ([Requirement("app", IN, ("web", "db"))], ["p1", "p2", "p3"]),
        ([Requirement("tier", EXISTS)], ["p1"]),
        ([Requirement("app", IN, ("none",))], []),
    ],
)
def test_a_selector_finds_what_it_matches(requirements: list[Requirement], found: list[str]) -> None:
    assert names(three(), Selector(tuple(requirements))) == found


def test_pods_are_found_by_the_labels_they_have_now() -> None:
    observed = three()
    one = next(each for each in observed.pods("default") if each.name == "p1")
    other = labelled(one, {"app": "db"})
    observed.note(PodChanged(one, other))
    assert names(observed, Selector((WEB,))) == ["p2"]
    assert names(observed, Selector((Requirement("app", IN, ("db",)),))) == ["p1", "p3"]
    observed.note(PodDeleted(other))
    assert names(observed, Selector((Requirement("app", IN, ("db",)),))) == ["p3"]


def three() -> Observed:
    made = (pod("p1", "a1", labels={"tier": "x"}), pod("p2", "b1"), pod("p3", "b1", labels={"app": "db"}))
    return observed_of(world(*REGIONS, *made))


def labelled(one: Pod, labels: dict[str, str]) -> Pod:
    return one.evolve(metadata=replace(one.metadata, labels=labels))


def names(observed: Observed, selector: Selector) -> list[str]:
    return sorted(each.name for each in observed.selected("default", selector))

"""The judge: every pod that somebody else binds is decided once more, at the state just before its bind."""

from __future__ import annotations

from typing import Any

import pytest

from bayplan.controllers.shadow import judge as judging
from bayplan.controllers.shadow.verdict import Finding
from bayplan.engine.events import PodAdded, PodChanged, PodDeleted
from bayplan.framework import FilterPlugin
from bayplan.objects.pod import Condition, PodStatus
from bayplan.testing import node, pod
from tests.controllers.shadow.support import Shadow, bound, came, made

BIG, SMALL = node("big").cpu(16).memory("16Gi"), node("small").cpu(4).memory("16Gi")
FULL = pod("full").cpu(4).on("small")
P = pod("p").cpu(1).memory("1Gi")


def test_the_same_node_agrees() -> None:
    shadow = Shadow(BIG, SMALL)
    verdict = shadow.come_and_bind(P, "big")
    assert (verdict.finding, verdict.theirs, verdict.ours) == (Finding.AGREE, "big", "big")
    assert verdict.theirs_total == verdict.ours_total is not None


def test_a_lower_total_differs_and_the_plugin_that_tipped_it_is_told() -> None:
    verdict = Shadow(BIG, SMALL).come_and_bind(P, "small")
    assert (verdict.finding, verdict.theirs, verdict.ours) == (Finding.DIFFER, "small", "big")
    assert verdict.plugin in ("NodeResourcesFit", "NodeResourcesBalancedAllocation")
    assert verdict.theirs_total is not None
    assert verdict.ours_total is not None
    assert verdict.theirs_total < verdict.ours_total


def test_the_same_total_is_a_tie() -> None:
    shadow = Shadow(node("a"), node("b"))
    first = shadow.come_and_bind(pod("first"), "a")
    again = Shadow(node("a"), node("b")).come_and_bind(pod("first"), "b")
    assert {first.finding, again.finding} == {Finding.AGREE, Finding.TIE}


def test_a_node_that_does_not_fit_is_infeasible_with_the_reason() -> None:
    verdict = Shadow(BIG, SMALL, FULL).come_and_bind(P, "small")
    assert (verdict.finding, verdict.ours) == (Finding.INFEASIBLE, "big")
    assert (verdict.plugin, verdict.message) == ("NodeResourcesFit", "Insufficient cpu")


def test_where_no_node_fits_we_have_none() -> None:
    verdict = Shadow(SMALL, FULL).come_and_bind(P, "small")
    assert (verdict.finding, verdict.ours) == (Finding.INFEASIBLE, None)


def test_binds_count_for_the_pods_after_them_as_they_were_made() -> None:
    shadow = Shadow(node("a").cpu(1), node("b").cpu(1))
    shadow.come_and_bind(pod("first").cpu(1), "a")
    assert shadow.come_and_bind(pod("second").cpu(1), "b").finding is Finding.AGREE
    shadow.take(PodDeleted(pod("first").cpu(1).on("a").build()))
    assert shadow.come_and_bind(pod("third").cpu(1), "a").finding is Finding.AGREE


def test_a_pod_that_came_with_its_node_cannot_be_judged() -> None:
    verdict = Shadow(BIG).take(PodAdded(P.on("big").build()))
    assert verdict is not None
    assert (verdict.finding, verdict.message) == (Finding.UNJUDGED, judging.ON_ITS_NODE)


def test_pods_that_were_there_in_the_beginning_get_no_verdict() -> None:
    shadow = Shadow(BIG, P.on("big"))
    assert shadow.take(PodChanged(made(P.on("big")), made(P.on("big").label(a="b")))) is None
    assert shadow.take(came(pod("waits").cpu(99))) is None


@pytest.mark.parametrize(("how", "why"), [({"is_late": True}, judging.LATE), ({"in_time": False}, judging.OVERLOADED)])
def test_binds_that_nobody_saw_in_time_cannot_be_judged_and_count_all_the_same(how: Any, why: str) -> None:
    shadow = Shadow(node("a").cpu(1), node("b").cpu(1))
    shadow.take(came(pod("first").cpu(1)))
    verdict = shadow.bind(pod("first").cpu(1), "a", **how)
    assert (verdict.finding, verdict.message) == (Finding.UNJUDGED, why)
    assert shadow.come_and_bind(pod("second").cpu(1), "b").finding is Finding.AGREE


def test_a_pod_for_which_there_is_no_profile_cannot_be_judged() -> None:
    other = P.scheduler("other")
    verdict = Shadow(BIG).come_and_bind(other, "big")
    assert (verdict.finding, verdict.message) == (Finding.UNJUDGED, 'no profile is for the scheduler "other"')
    assert Shadow(BIG, profile="default-scheduler").come_and_bind(other, "big").finding is Finding.AGREE


def test_a_plugin_that_breaks_is_an_error() -> None:
    class Breaks(FilterPlugin):
        name = "Breaks"

        def filter_node(self, state: Any, pod: Any, node: Any) -> None:
            raise ValueError("oops")

    verdict = Shadow(BIG, plugins=[Breaks]).come_and_bind(P, "big")
    assert (verdict.finding, verdict.plugin) == (Finding.ERROR, "Breaks")
    assert "oops" in verdict.message


# -- races --


def test_a_bind_that_was_under_way_and_seen_later_explains_the_other_node() -> None:
    """The scheduler had placed the first pod on a already; the second pod's bind was seen before that."""
    shadow = Shadow(node("a").cpu(4), node("b").cpu(2))
    first, second = pod("first").cpu(4), pod("second").cpu(1)
    shadow.take(came(first))
    shadow.take(came(second))
    verdict = shadow.bind(second, "b", bound(first, "a"))
    assert (verdict.finding, verdict.ours) == (Finding.RACE, "a")
    assert verdict.message == "theirs if decided after the bind of default/first"
    assert shadow.bind(first, "a").finding is Finding.AGREE


def test_without_anything_under_way_the_same_bind_differs() -> None:
    shadow = Shadow(node("a").cpu(4), node("b").cpu(2))
    assert shadow.come_and_bind(pod("second").cpu(1), "b").finding is Finding.DIFFER


def test_what_happened_just_before_may_not_have_been_known() -> None:
    shadow = Shadow(node("a").cpu(4), node("b").cpu(2), pod("there").cpu(4).on("a"))
    shadow.take(came(P))
    shadow.take(PodDeleted(made(pod("there").cpu(4).on("a"))))
    verdict = shadow.bind(P, "b")
    assert (verdict.finding, verdict.message) == (Finding.RACE, "theirs if decided before default/there went")


def test_what_happened_long_before_was_known() -> None:
    shadow = Shadow(node("a").cpu(4), node("b").cpu(2), pod("there").cpu(4).on("a"))
    shadow.take(came(P))
    shadow.take(PodDeleted(made(pod("there").cpu(4).on("a"))))
    shadow.at += 60.0
    assert shadow.bind(P, "b").finding is Finding.DIFFER


def test_a_node_that_was_set_aside_meanwhile_explains_what_looks_infeasible() -> None:
    """A pod of higher priority got the node while the bind of the other was under way."""
    shadow = Shadow(node("a").cpu(4), node("b").cpu(2))
    important = made(pod("important").cpu(4).priority(10))
    failed = Condition(type="PodScheduled", status="False", message="no room")
    nominated = important.evolve(status=PodStatus(nominated_node_name="a", conditions=(failed,)))
    shadow.take(came(important))
    shadow.take(came(P))
    shadow.take(PodChanged(important, nominated))
    verdict = shadow.bind(P, "a")
    assert (verdict.finding, verdict.ours) == (Finding.RACE, "b")
    assert verdict.message == "theirs if decided before default/important changed"
    queue = shadow.judge.engine.queue
    assert [each.name for each in queue.nominations.nominated("a")] == ["important"]
    shadow.at += 60.0
    assert shadow.come_and_bind(pod("later").cpu(1), "a").finding is Finding.INFEASIBLE


def test_trying_other_orders_changes_nothing() -> None:
    shadow = Shadow(node("a").cpu(4), node("b").cpu(2), pod("there").cpu(4).on("a"))
    shadow.take(PodDeleted(made(pod("there").cpu(4).on("a"))))
    shadow.take(came(P))
    shadow.bind(P, "b")
    cache = shadow.judge.engine.cache
    assert {each.name: each.node_name for each in cache.pods()} == {"p": "b"}


# -- what a scheduler writes before it binds --


def test_a_nomination_made_by_preemption_counts() -> None:
    shadow = Shadow(node("a").cpu(4), node("b").cpu(2))
    waiting = made(P)
    failed = Condition(type="PodScheduled", status="False", message="no room")
    nominated = waiting.evolve(status=PodStatus(nominated_node_name="b", conditions=(failed,)))
    shadow.take(came(waiting))
    shadow.take(PodChanged(waiting, nominated))
    assert shadow.bind(nominated, "b").finding is Finding.AGREE


def test_a_node_that_is_noted_after_the_decision_leaves_us_our_choice() -> None:
    """kube-scheduler writes the node that it expects to bind to, before it prepares volumes."""
    shadow = Shadow(node("a").cpu(4), node("b").cpu(2))
    noted = made(P.nominated("a"))
    shadow.take(came(P))
    shadow.take(PodChanged(made(P), noted))
    assert shadow.bind(noted, "a").finding is Finding.AGREE


def test_a_pod_that_is_being_prepared_counts_for_the_pods_that_come_after_it() -> None:
    """It was decided, and its scheduler counts it on its node, although its bind is seen much later."""
    shadow = Shadow(node("a").cpu(4), node("b").cpu(2))
    first = pod("first").cpu(4).priority(-5)
    noted = made(first.nominated("a"))
    shadow.take(came(first))
    shadow.take(PodChanged(made(first), noted))
    assert shadow.come_and_bind(P, "b").finding is Finding.AGREE
    assert [each.name for each in shadow.judge.engine.queue.nominations.nominated("a")] == ["first"]
    assert shadow.bind(noted, "a").finding is Finding.AGREE


def test_a_pod_that_was_noted_while_another_waited_may_have_been_decided_before_it() -> None:
    shadow = Shadow(node("a").cpu(4), node("b").cpu(2))
    first = pod("first").cpu(4).priority(-5)
    shadow.take(came(first))
    shadow.take(came(P))
    shadow.take(PodChanged(made(first), made(first.nominated("a"))))
    verdict = shadow.bind(P, "b")
    assert (verdict.finding, verdict.message) == (Finding.RACE, "theirs if decided after the bind of default/first")


def test_a_node_that_somebody_set_aside_is_not_called_a_difference() -> None:
    shadow = Shadow(node("a").cpu(4), node("b").cpu(2))
    noted = made(P.nominated("b"))
    shadow.take(came(P))
    shadow.take(PodChanged(made(P), noted))
    verdict = shadow.bind(noted, "b")
    assert (verdict.finding, verdict.message) == (Finding.UNJUDGED, judging.SET_ASIDE)

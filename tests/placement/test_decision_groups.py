"""Groups and pages, and that nothing moves without need."""

from __future__ import annotations

import random

from bayplan.objects.meta import LabelSelector
from bayplan.objects.third_party import placement as api
from bayplan.placement.decision_groups import PAGE_SIZE, Group, Page, groups_of, pages_of
from tests.placement.fleet_building import NAMESPACE, cluster, placement, state_of


def names(count: int) -> tuple[str, ...]:
    return tuple(f"c{number:04d}" for number in range(count))


def where(pages: list[Page]) -> dict[str, int]:
    return {name: page.number for page in pages for name in page.clusters}


def test_named_groups_come_first_and_large_ones_are_cut() -> None:
    canary = api.DecisionGroup(
        group_name="canary",
        group_cluster_selector=api.ClusterSelector(label_selector=LabelSelector(match_labels={"canary": "yes"})),
    )
    strategy = api.GroupStrategy(decision_groups=(canary,), clusters_per_decision_group=2)
    wanted = placement(decision_strategy=api.DecisionStrategy(group_strategy=strategy))
    fleet = [cluster("a"), cluster("b", {"canary": "yes"}), cluster("c"), cluster("d")]
    evaluation = state_of(*fleet, wanted).evaluation(f"{NAMESPACE}/p")
    groups = groups_of(evaluation.plan, evaluation.fleet.table, evaluation.names())
    assert groups == [Group("canary", ("b",)), Group("", ("a", "c")), Group("", ("d",))]


def test_nothing_chosen_is_one_empty_page() -> None:
    assert pages_of([Group("", ())]) == [Page(1, 0, "", ())]


def test_a_page_holds_a_hundred() -> None:
    pages = pages_of([Group("", names(250))])
    assert [(page.number, len(page.clusters)) for page in pages] == [(1, 100), (2, 100), (3, 50)]


def test_who_stays_stays_on_its_page() -> None:
    pick = random.Random(3)
    everybody = names(400)
    has = set(everybody[:230])
    pages = pages_of([Group("", tuple(sorted(has)))])
    for _ in range(50):
        before, left = where(pages), set(has)
        for name in pick.sample(sorted(has), 3):
            left.discard(name)
        for name in pick.sample(everybody, 3):
            left.add(name)
        has = left
        pages = pages_of([Group("", tuple(sorted(has)))], pages)
        after = where(pages)
        assert set(after) == has
        assert all(len(page.clusters) <= PAGE_SIZE for page in pages)
        assert len({page.number for page in pages}) == len(pages)
        dissolved = set(before.values()) - set(after.values())
        moved = {name for name in before.keys() & after.keys() if before[name] != after[name]}
        assert all(before[name] in dissolved for name in moved)


def test_a_page_that_is_no_longer_needed_is_dissolved() -> None:
    pages = pages_of([Group("", names(150))])
    fewer = pages_of([Group("", names(60))], pages)
    assert [(page.number, len(page.clusters)) for page in fewer] == [(1, 60)]


def test_an_empty_page_is_used_before_a_new_one() -> None:
    empty = pages_of([Group("", ())])
    assert pages_of([Group("", ("a",))], empty) == [Page(1, 0, "", ("a",))]
    spoiled = [Page(1, 0, "", ()), Page(2, 0, "", names(200)[100:])]
    pages = pages_of([Group("", names(200))], spoiled)
    assert [(page.number, page.clusters) for page in pages] == [(2, names(200)[100:]), (1, names(200)[:100])]


def test_an_empty_page_that_is_not_needed_goes() -> None:
    before = [Page(1, 0, "", ()), Page(2, 0, "", ("a",)), Page(3, 1, "", ("b",))]
    pages = pages_of([Group("", ("a",)), Group("", ("b",))], before)
    assert pages == [Page(2, 0, "", ("a",)), Page(3, 1, "", ("b",))]

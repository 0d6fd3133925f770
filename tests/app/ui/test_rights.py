"""What rights let somebody see."""

from __future__ import annotations

from bayplan.app.ui.rights import EVERYTHING, Rights


def test_all_is_all_nodes_and_all_pods() -> None:
    assert EVERYTHING.sees_all
    assert not Rights(None, False).sees_all
    assert not Rights(frozenset({"a"}), True).sees_all


def test_a_policy_is_seen_by_who_may_list_it_and_its_pods() -> None:
    assert EVERYTHING.sees_policies("a")
    assert Rights(frozenset({"a"}), policies=None).sees_policies("a")
    assert not Rights(frozenset({"a"}), policies=None).sees_policies("b")
    assert not Rights(None, policies=frozenset({"a"})).sees_policies("b")
    assert not Rights().sees_pods("a")


def test_a_placement_is_seen_by_who_may_list_it_and_the_clusters() -> None:
    assert EVERYTHING.sees_placements("a")
    assert Rights(placements=frozenset({"a"}), clusters=True).sees_placements("a")
    assert not Rights(placements=frozenset({"a"}), clusters=True).sees_placements("b")
    assert not Rights(placements=None).sees_placements("a")
    assert not Rights(None, True, None).sees_placements("a")

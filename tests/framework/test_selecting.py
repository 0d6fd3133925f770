"""Which nodes a selector or a list of tolerations accepts: the masks say what the one-node rules say."""

from __future__ import annotations

from typing import Any

import pytest

from bayplan.engine.cache import ClusterCache
from bayplan.framework import selecting
from bayplan.objects.pod import Pod
from bayplan.objects.selector import NodeRequirement
from bayplan.objects.toleration import DO_NOT_SCHEDULE, PREFER_NO_SCHEDULE
from bayplan.testing import PodBuilder, cluster, node, pod

NO_SCHEDULE = frozenset(DO_NOT_SCHEDULE)
PREFERRED = frozenset((PREFER_NO_SCHEDULE,))


def four_nodes() -> ClusterCache:
    return cluster(
        [
            node("a").label(disk="ssd", cores="8"),
            node("b").label(disk="hdd", cores="16"),
            node("c").label(cores="many"),
            node("d"),
        ]
    )


def requirement(made: PodBuilder) -> NodeRequirement:
    required = made.build().required_node_affinity
    assert required is not None
    return required


P = pod("p")


@pytest.mark.parametrize(
    ("made", "accepted"),
    [
        (P.node_selector(disk="ssd"), "a"),
        (P.node_selector(disk="tape"), ""),
        (P.node_selector(disk="ssd", cores="8"), "a"),
        (P.requires_node("disk", "In", "ssd", "hdd"), "ab"),
        (P.requires_node("disk", "In", "tape"), ""),
        (P.requires_node("disk", "NotIn", "ssd"), "bcd"),
        (P.requires_node("disk", "NotIn", "tape"), "abcd"),
        (P.requires_node("disk", "Exists"), "ab"),
        (P.requires_node("disk", "DoesNotExist"), "cd"),
        (P.requires_node("cores", "Gt", "8"), "b"),
        (P.requires_node("cores", "Lt", "16"), "a"),
        (P.requires_node("gpu", "Exists"), ""),
        (P.requires_node("disk", "Exists").requires_node("cores", "In", "many"), "abc"),
        (P.requires_node_term([("disk", "Exists"), ("cores", "Gt", "8")]), "b"),
        (P.requires_node_term(fields=[("metadata.name", "In", "c")]), "c"),
        (P.requires_node_term(fields=[("metadata.name", "NotIn", "c")]), "abd"),
        (P.requires_node_term(fields=[("metadata.name", "In", "nobody")]), ""),
        (P.requires_node_term([("disk", "Exists")], [("metadata.name", "NotIn", "a")]), "b"),
        (P.requires_node_term(fields=[("metadata.uid", "In", "x")]), ""),
        (P.requires_node_term(fields=[("metadata.uid", "NotIn", "x")]), "abcd"),
        (P.requires_node_term(fields=[("metadata.uid", "In", "")]), "abcd"),
        (P.requires_node_term(), ""),
        (P.requires_node("disk", "Near", "ssd"), ""),
        (P.node_selector(cores="8").requires_node("disk", "In", "hdd"), ""),
    ],
)
def test_nodes_that_a_selector_accepts(made: PodBuilder, accepted: str) -> None:
    nodes = four_nodes().nodes
    required = requirement(made)
    mask = nodes.matching(required)
    assert "".join(name for name, fits in zip(nodes.names, mask, strict=True) if fits) == accepted
    assert [required.matches(name, nodes.node(row).labels) for row, name in enumerate(nodes.names)] == mask.tolist()


def test_an_answer_cannot_be_written_to() -> None:
    mask = four_nodes().nodes.matching(requirement(P.node_selector(disk="ssd")))
    with pytest.raises(ValueError, match="read-only"):
        mask[0] = False


def test_the_same_question_is_answered_once_until_a_node_changes() -> None:
    cache = four_nodes()
    required = requirement(P.node_selector(disk="ssd"))
    first = cache.nodes.matching(required)
    cache.add_pod(pod("x").on("a").build())
    assert cache.nodes.matching(requirement(P.node_selector(disk="ssd"))) is first
    cache.update_node(node("d").label(disk="ssd").build())
    assert cache.nodes.matching(required).tolist() == [True, False, False, True]
    cache.remove_node("a")
    assert cache.nodes.matching(required).tolist() == [True, False, False]
    assert cache.nodes.names == ["d", "b", "c"]


@pytest.mark.parametrize(
    ("tolerating", "hard", "soft"),
    [
        (P, [0, 1, 2, 1, 0], [0, 0, 0, 1, 2]),
        (P.tolerates("gpu"), [0, 0, 1, 1, 0], [0, 0, 0, 1, 2]),
        (P.tolerates("gpu", "b"), [0, 1, 1, 1, 0], [0, 0, 0, 1, 2]),
        (P.tolerates("gpu", effect="NoExecute"), [0, 1, 2, 1, 0], [0, 0, 0, 1, 2]),
        (P.tolerates(), [0, 0, 0, 0, 0], [0, 0, 0, 0, 0]),
        (P.tolerates("slow", effect="PreferNoSchedule"), [0, 1, 2, 1, 0], [0, 0, 0, 0, 1]),
    ],
)
def test_untolerated_taints_are_counted_by_effect(tolerating: PodBuilder, hard: list[int], soft: list[int]) -> None:
    nodes = cluster(
        [
            node("clean"),
            node("gpu").taint("gpu", "a"),
            node("both").taint("gpu", "b").taint("old", effect="NoExecute"),
            node("mixed").taint("old").taint("slow", effect="PreferNoSchedule"),
            node("soft").taint("slow", effect="PreferNoSchedule").taint("far", effect="PreferNoSchedule"),
        ]
    ).nodes
    tolerations = tolerating.build().tolerations
    assert nodes.untolerated(tolerations, NO_SCHEDULE).tolist() == hard
    assert nodes.untolerated(tolerations, PREFERRED).tolist() == soft
    assert nodes.tolerating(tolerations, NO_SCHEDULE).tolist() == [count == 0 for count in hard]


def test_taints_that_are_new_to_the_cluster_are_judged_too() -> None:
    cache = cluster([node("a"), node("b").taint("gpu")])
    tolerations = P.tolerates("gpu").build().tolerations
    assert cache.nodes.untolerated(tolerations, NO_SCHEDULE).tolist() == [0, 0]
    cache.update_node(node("a").taint("disk").build())
    cache.add_node(node("c").taint("gpu").taint("disk").build())
    assert cache.nodes.untolerated(tolerations, NO_SCHEDULE).tolist() == [1, 0, 1]


def test_old_questions_are_forgotten_and_used_ones_kept(monkeypatch: Any) -> None:
    monkeypatch.setattr(selecting, "MAX_ANSWERS", 2)
    nodes = four_nodes().nodes
    kept = requirement(P.node_selector(disk="ssd"))
    first, counted = nodes.matching(kept), _tolerated(nodes, "kept")
    for number in range(5):
        nodes.matching(requirement(P.node_selector(disk=f"no-{number}")))
        assert nodes.matching(kept) is first
        _tolerated(nodes, f"key-{number}")
        assert (_tolerated(nodes, "kept") == counted).all()
    answers = selecting._answers(nodes)
    assert len(answers.masks) == 2
    assert len(answers.taints) == 2


def _tolerated(nodes: Any, key: str) -> Any:
    tolerant: Pod = P.tolerates(key).build()
    return nodes.untolerated(tolerant.tolerations, NO_SCHEDULE)


def test_a_single_node_is_asked_the_same_way() -> None:
    cache = four_nodes()
    required = requirement(P.requires_node("cores", "Gt", "8"))
    alone = [bool(cache.nodes.node(row).as_table().matching(required)[0]) for row in range(4)]
    assert alone == cache.nodes.matching(required).tolist()

"""
Sums over domains that are kept equal sums made anew, whatever came, went or changed in between.
"""

from __future__ import annotations

from random import Random

import pytest

from bayplan.engine.cache import ClusterCache
from bayplan.framework.snapshot import PodMatcher, TermKind
from bayplan.framework.summing import summed
from bayplan.objects.pod import Pod
from bayplan.objects.selector import Selector, label_selector_from_map
from bayplan.testing import node, pod

KEYS = ("zone", "rack", "kubernetes.io/hostname")
APPS = ("a", "b")


def selecting(app: str) -> Selector:
    return label_selector_from_map({"app": app})


def built_pod(rng: Random, name: str, node_name: str) -> Pod:
    builder = pod(name).label(app=rng.choice(APPS)).on(node_name)
    if rng.random() < 0.5:
        builder = builder.anti_affinity({"app": rng.choice(APPS)}, rng.choice(KEYS))
    return builder.build()


def check(cache: ClusterCache, asking: Pod) -> int:
    """Ask every question twice over every topology, so that kept sums are what answers."""
    nodes, kept = cache.nodes, 0
    questions = [
        nodes.matching_pods(PodMatcher(frozenset({"default"}), selecting(app)), skip_terminating=skip)
        for app in APPS
        for skip in (True, False)
    ]
    questions += [term.counts for term in nodes.terms(TermKind.REQUIRED_ANTI_AFFINITY, asking)]
    for counts in questions:
        for key in KEYS:
            column = nodes.label(key)
            size = len(column.values) + 1
            expected = summed(counts, column.ids, size).tolist()
            assert nodes.summed(counts, column.ids, size).tolist() == expected
            assert nodes.summed(counts, column.ids, size).tolist() == expected
            kept += sum(expected)
    return kept


@pytest.mark.parametrize("seed", range(12))
def test_kept_sums_are_what_a_recount_gives(seed: int) -> None:
    rng = Random(seed)
    cache = ClusterCache()
    placed: dict[str, Pod] = {}
    names: list[str] = []
    seen = 0
    for step in range(150):
        choice = rng.random()
        if choice < 0.25 or not names:
            name = rng.choice(names) if names and rng.random() < 0.4 else f"n{step}"
            labels = {key: f"{key}-{rng.randrange(3)}" for key in KEYS[:2] if rng.random() < 0.8}
            cache.add_node(node(name).label({**labels, KEYS[2]: name}).build())
            names = [*dict.fromkeys([*names, name])]
        elif choice < 0.35:
            cache.remove_node(names.pop(rng.randrange(len(names))))
        elif choice < 0.55 and placed:
            cache.remove_pod(placed.pop(rng.choice(sorted(placed))))
        else:
            placed[f"p{step}"] = built_pod(rng, f"p{step}", rng.choice(names))
            cache.add_pod(placed[f"p{step}"])
        seen += check(cache, pod("asks").label(app="a").build())
    assert seen, "nothing was ever counted"


def test_who_asks_cannot_spoil_what_is_kept() -> None:
    cache = ClusterCache()
    cache.add_node(node("n1").label(zone="z").build())
    cache.add_pod(pod("p").label(app="a").on("n1").build())
    counts = cache.nodes.matching_pods(PodMatcher(frozenset({"default"}), selecting("a")))
    sums = cache.nodes.summed(counts, cache.nodes.label("zone").ids, 2)
    with pytest.raises(ValueError, match="read-only"):
        sums[0] = 9

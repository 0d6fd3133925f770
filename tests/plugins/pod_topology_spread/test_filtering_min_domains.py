"""minDomains in PodTopologySpread.filter: too few domains make the global minimum 0."""

from __future__ import annotations

import pytest

from bayplan.objects.pod import ZONE_LABEL as ZONE
from bayplan.plugins.pod_topology_spread import PodTopologySpread
from bayplan.testing import cluster, make, node, pod, run_filter

CASES = [
    ("two domains are fewer than three, so one pod each is already too many", 3, [1, 1], {"z0", "z1"}),
    ("two domains are enough for two", 2, [1, 1], set()),
    ("without minDomains one is enough", None, [1, 1], set()),
    ("an empty domain leaves the minimum at 0 anyway", 4, [2, 1, 0], {"z0", "z1"}),
    ("too few domains do not matter while all are empty", 5, [0, 0], set()),
    ("one domain of two pods", 2, [2], {"z0"}),
]


@pytest.mark.parametrize(
    ("min_domains", "pods", "rejected"), [case[1:] for case in CASES], ids=[case[0] for case in CASES]
)
def test_too_few_domains_count_as_an_empty_one(min_domains: int | None, pods: list[int], rejected: set[str]) -> None:
    nodes = [node(f"z{number}").zone(f"z{number}") for number in range(len(pods))]
    running = [
        pod(f"p{zone}-{number}").label(app="web").on(f"z{zone}")
        for zone, count in enumerate(pods)
        for number in range(count)
    ]
    cache = cluster(nodes, running)
    new = pod("new").label(app="web").spread(ZONE, 1, min_domains=min_domains)
    found = run_filter(make(PodTopologySpread, cache), new, cache)
    assert {name for name, status in found.items() if status is not None} == rejected


def test_a_domain_without_any_counted_node_is_none() -> None:
    """Zone b is there, but the pod may not run in it, so two domains are not reached."""
    cache = cluster([node("a1").zone("a").label(pool="x"), node("b1").zone("b")], [pod("p").label(app="web").on("a1")])
    new = pod("new").label(app="web").node_selector(pool="x").spread(ZONE, 1, min_domains=2)
    found = run_filter(make(PodTopologySpread, cache), new, cache)
    assert {name for name, status in found.items() if status is not None} == {"a1"}

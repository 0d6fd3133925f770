"""What nodes score. Numbers are weighted, as the scheduler logs them."""

from __future__ import annotations

from tests.parity.scenarios.scenario import (
    Scenario,
    about_app,
    node,
    pod,
    preferred_terms,
    required_terms,
    service,
    spread,
)

FIT, BALANCED = "NodeResourcesFit", "NodeResourcesBalancedAllocation"
ZONE, HOSTNAME = "topology.kubernetes.io/zone", "kubernetes.io/hostname"


def soft_taints(count: int) -> list[dict[str, str]]:
    return [{"key": f"key-{index}", "effect": "PreferNoSchedule"} for index in range(count)]


def image_node(name: str, mib: int) -> dict[str, object]:
    return node(name, images={"app:1": mib} if mib else {})


SCORES: tuple[Scenario, ...] = (
    Scenario(
        "least-allocated",
        "least allocated and the change in balance, on an empty node",
        pod("p", "100m", "500Mi"),
        {"scores": {FIT: {"n1": 97, "n2": 97}, BALANCED: {"n1": 74, "n2": 74}}},
        (node("n1"), node("n2")),
    ),
    Scenario(
        "no-requests",
        "a pod without requests is scored as 100m and 200Mi, and not for balance",
        pod("p"),
        {"scores": {FIT: {"n1": 98, "n2": 98}, BALANCED: None}},
        (node("n1"), node("n2")),
    ),
    Scenario(
        "balance-improves",
        "balance scores the change: evening out a lopsided node is worth 87",
        pod("p", "0", "4Gi"),
        {"scores": {BALANCED: {"n1": 87, "n2": 62}}},
        (node("n1", memory="8Gi"), node("n2", memory="8Gi")),
        (pod("b", "2", "0", on="n1"),),
    ),
    Scenario(
        "image-on-one",
        "an image of 250 MiB on one of two nodes",
        pod("p"),
        {"scores": {"ImageLocality": {"n1": 10, "n2": 0}}},
        (image_node("n1", 250), image_node("n2", 0)),
    ),
    Scenario(
        "image-on-both",
        "an image of 250 MiB on both nodes",
        pod("p"),
        {"scores": {"ImageLocality": {"n1": 23, "n2": 23}}},
        (image_node("n1", 250), image_node("n2", 250)),
    ),
    Scenario(
        "image-volume",
        "an image volume counts as an image, but not as a container",
        pod("p", spec={"volumes": [{"name": "v", "image": {"reference": "model:1"}}]}),
        {"scores": {"ImageLocality": {"n1": 23, "n2": 23}}},
        (node("n1", images={"model:1": 250}), node("n2", images={"model:1": 250})),
    ),
    Scenario(
        "soft-taints",
        "untolerated PreferNoSchedule taints cost in proportion to the worst node",
        pod("p"),
        {"scores": {"TaintToleration": {"n1": 300, "n2": 150, "n3": 0}}},
        tuple(node(f"n{count + 1}", taints=soft_taints(count)) for count in range(3)),
    ),
    Scenario(
        "equal-soft-taints",
        "if all nodes have as many soft taints, all score 0",
        pod("p"),
        {"scores": {"TaintToleration": {"n1": 0, "n2": 0}}},
        (node("n1", taints=soft_taints(1)), node("n2", taints=soft_taints(1))),
    ),
    Scenario(
        "preferred-node-affinity",
        "preferred node affinity is scaled by the best node",
        pod(
            "p",
            spec=preferred_terms(
                "nodeAffinity",
                (3, {"matchExpressions": [{"key": "a", "operator": "Exists"}]}),
                (2, {"matchExpressions": [{"key": "b", "operator": "Exists"}]}),
            ),
        ),
        {"scores": {"NodeAffinity": {"n1": 0, "n2": 120, "n3": 200}}},
        (node("n1"), node("n2", labels={"a": ""}), node("n3", labels={"a": "", "b": ""})),
    ),
    Scenario(
        "preferred-pod-affinity",
        "preferred pod affinity and anti-affinity are scaled between the worst and the best node",
        pod(
            "p",
            spec={
                "affinity": preferred_terms("podAffinity", (5, about_app("good")))["affinity"]
                | preferred_terms("podAntiAffinity", (5, about_app("bad")))["affinity"]
            },
        ),
        {"scores": {"InterPodAffinity": {"n1": 0, "n2": 100, "n3": 200}}},
        (node("n1"), node("n2"), node("n3")),
        (pod("b1", on="n1", labels={"app": "bad"}), pod("b3", on="n3", labels={"app": "good"})),
    ),
    Scenario(
        "hard-affinity-attracts",
        "an existing pod that requires the new one attracts it with weight 1",
        pod("p", labels={"app": "a"}),
        {"scores": {"InterPodAffinity": {"n1": 200, "n2": 0}}},
        (node("n1"), node("n2")),
        (pod("b", on="n1", spec=required_terms("podAffinity", about_app("a"))),),
    ),
    Scenario(
        "soft-spread",
        "soft spreading: counts times ln(domains + 2), turned round",
        pod("p", labels={"app": "a"}, spec={"topologySpreadConstraints": [spread(HOSTNAME, "ScheduleAnyway")]}),
        # ln(3 + 2) = 1.609: raw 3, 2, 0
        {"scores": {"PodTopologySpread": {"n1": 0, "n2": 66, "n3": 200}}},
        (node("n1"), node("n2"), node("n3")),
        (
            pod("b1", on="n1", labels={"app": "a"}),
            pod("b2", on="n1", labels={"app": "a"}),
            pod("b3", on="n2", labels={"app": "a"}),
        ),
    ),
    Scenario(
        "soft-spread-missing-label",
        "a node without the key of a soft constraint is feasible and scores 0",
        pod("p", labels={"app": "a"}, spec={"topologySpreadConstraints": [spread(ZONE, "ScheduleAnyway")]}),
        {"scores": {"PodTopologySpread": {"n1": 200, "n2": 0}}},
        (node("n1", labels={ZONE: "z1"}), node("n2")),
    ),
    Scenario(
        "default-spread",
        "a pod of a service is spread by default over hosts and zones, zone labels missing or not",
        pod("p", labels={"app": "a"}),
        # raw: hostname count * ln(3 + 2) + 3 - 1, and with a zone label count * ln(2 + 2) + 5 - 1: 9, 7 and 2
        {"scores": {"PodTopologySpread": {"n1": 44, "n2": 88, "n3": 200}}},
        (node("n1", labels={ZONE: "z1"}), node("n2", labels={ZONE: "z1"}), node("n3")),
        (pod("b", on="n1", labels={"app": "a"}),),
        (service("a", "a"),),
    ),
    Scenario(
        "pod-level-fit-score",
        "requests of the pod as a whole are not in the score of NodeResourcesFit",
        pod("p", spec={"resources": {"requests": {"cpu": "2", "memory": "16Gi"}}}),
        {"scores": {FIT: {"n1": 98, "n2": 98}}},
        (node("n1"), node("n2")),
    ),
    Scenario(
        "pod-level-used",
        "requests of a running pod as a whole are in what the node has left",
        pod("p"),
        {"scores": {FIT: {"n1": 48, "n2": 98}}},
        (node("n1"), node("n2")),
        (pod("b", on="n1", spec={"resources": {"requests": {"cpu": "2", "memory": "16Gi"}}}),),
    ),
    Scenario(
        "scalars-not-scored",
        "extended resources are not in the default score",
        pod(
            "p",
            spec={
                "containers": [
                    {"name": "main", "image": "app:1", "resources": {"limits": {"example.com/gpu": "1", "cpu": "100m"}}}
                ]
            },
        ),
        {"scores": {FIT: {"n1": 98, "n2": 98}}},
        (node("n1", extra={"example.com/gpu": "1"}), node("n2", extra={"example.com/gpu": "100"})),
    ),
)

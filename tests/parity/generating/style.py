"""What a cluster is mostly about. Without this every pod would trip over the first rule and hide the others."""

from __future__ import annotations

from dataclasses import dataclass, field, replace
from random import Random


@dataclass(frozen=True, slots=True)
class Style:
    """How many of what, and which features pods draw from (a weight per name in ``pods.FEATURES``)."""

    name: str
    nodes: tuple[int, int] = (5, 14)
    bound_per_node: tuple[float, float] = (0.5, 2.0)
    pending: int = 12
    tainted: float = 0.15
    cordoned: float = 0.06
    unlabelled: float = 0.08
    priorities: float = 0.3
    terminating: float = 0.08
    # how likely all nodes have the same size, so that only the rule under test tells them apart
    uniform: float = 0.4
    # how many applications and namespaces pods belong to: with few of them, rules about other pods bite
    apps: int = 4
    namespaces: int = 4
    # how many spread constraints forbid instead of prefer
    hard_spread: float = 0.5
    # how large pods are compared with nodes
    bound_size: float = 0.15
    pending_size: float = 0.15
    # whether there are volumes and claims, and most pods mount some
    storage: bool = False
    features: dict[str, int] = field(default_factory=dict)
    feature_counts: tuple[int, ...] = (0, 1, 1, 2, 2, 3)


EVERYTHING = {
    "tolerations": 3,
    "node_selector": 2,
    "node_affinity": 3,
    "preferred_node_affinity": 2,
    "spread": 3,
    "pod_affinity": 3,
    "pod_anti_affinity": 3,
    "host_ports": 2,
    "scarce_resources": 2,
    "sidecars": 2,
    "overhead": 1,
    "pod_level_resources": 1,
    "owner": 2,
    "nomination": 1,
    "oversize": 1,
    "restart_rules": 1,
    "image_volume": 1,
}

STYLES: tuple[Style, ...] = (
    Style("mixed", features=EVERYTHING),
    Style("mixed-large", nodes=(20, 50), pending=8, features=EVERYTHING),
    Style(
        "picky",
        tainted=0.5,
        cordoned=0.15,
        unlabelled=0.15,
        features={
            "tolerations": 5,
            "node_selector": 2,
            "node_affinity": 4,
            "preferred_node_affinity": 6,
            "restart_rules": 3,
        },
    ),
    Style(
        "zoned",
        nodes=(6, 18),
        bound_per_node=(1.0, 3.0),
        tainted=0.2,
        features={"spread": 10, "tolerations": 2, "node_affinity": 2, "owner": 1},
        feature_counts=(1, 1, 2, 2),
    ),
    Style(
        "evenly",
        nodes=(4, 9),
        bound_per_node=(1.0, 3.0),
        tainted=0.15,
        unlabelled=0.04,
        priorities=0.7,
        apps=1,
        namespaces=1,
        hard_spread=0.8,
        bound_size=0.05,
        pending_size=0.05,
        features={"spread": 12, "node_affinity": 2, "node_selector": 2, "tolerations": 1},
        feature_counts=(1, 2, 2),
    ),
    Style(
        "owned",
        bound_per_node=(1.0, 4.0),
        features={"owner": 10, "tolerations": 1, "preferred_node_affinity": 1},
        feature_counts=(0, 1, 1, 2),
    ),
    Style(
        "sociable",
        bound_per_node=(1.0, 3.0),
        tainted=0.05,
        features={"pod_affinity": 6, "pod_anti_affinity": 6, "spread": 1},
        feature_counts=(0, 1, 1, 2, 2),
    ),
    Style(
        "thrifty",
        bound_per_node=(0.5, 3.0),
        tainted=0.0,
        features={
            "scarce_resources": 9,
            "sidecars": 4,
            "overhead": 3,
            "pod_level_resources": 4,
            "oversize": 2,
            "restart_rules": 1,
            "image_volume": 2,
        },
        feature_counts=(0, 1, 1, 2),
    ),
    Style(
        "crowded",
        nodes=(4, 9),
        bound_per_node=(3.0, 5.0),
        tainted=0.1,
        priorities=0.95,
        terminating=0.25,
        uniform=1.0,
        bound_size=0.25,
        pending_size=0.45,
        features=EVERYTHING | {"nomination": 25},
        feature_counts=(0, 0, 1),
    ),
    Style(
        "contested",
        nodes=(3, 7),
        bound_per_node=(2.0, 4.0),
        tainted=0.05,
        priorities=0.95,
        uniform=0.8,
        bound_size=0.2,
        pending_size=0.3,
        apps=2,
        namespaces=2,
        hard_spread=0.8,
        features={"spread": 4, "pod_anti_affinity": 6, "host_ports": 5, "scarce_resources": 4, "pod_affinity": 1},
        feature_counts=(1, 1, 2),
    ),
    Style("ports", bound_per_node=(1.0, 2.0), features={"host_ports": 10, "tolerations": 1}, feature_counts=(1,)),
    Style("tiny", nodes=(1, 2), pending=6, features=EVERYTHING, feature_counts=(0, 1)),
)


# Storage has seeds of its own, so that the other clusters are what they were before there was any.
FIRST_STORAGE_SEED = 10_000
STORAGE_STYLES: tuple[Style, ...] = (
    Style("stored", bound_per_node=(0.5, 2.0), tainted=0.05, storage=True, feature_counts=(0,)),
    Style(
        "stored-close",
        nodes=(3, 7),
        bound_per_node=(2.0, 3.5),
        tainted=0.0,
        priorities=0.8,
        namespaces=2,
        storage=True,
        features={"scarce_resources": 2, "node_selector": 1, "nomination": 2},
        feature_counts=(0, 0, 1),
    ),
    Style("stored-mixed", storage=True, namespaces=3, features=EVERYTHING, feature_counts=(0, 1, 1)),
)


# Clusters of the size people have: every style again, on more nodes and with more pods.
FIRST_FULL_SEED = 20_000


def pick_style(seed: int) -> Style:
    """Every style gets its turn, so that each of them is met in any run of seeds."""
    if seed >= FIRST_FULL_SEED:
        every = (*STYLES, *STORAGE_STYLES)
        style = every[seed % len(every)]
        pending = Random(seed).randint(20, 100)
        return replace(style, name=f"{style.name}-full", nodes=(10, 50), pending=pending)
    styles = STYLES if seed < FIRST_STORAGE_SEED else STORAGE_STYLES
    return styles[seed % len(styles)]

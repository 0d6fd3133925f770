"""What a generated cluster is made of. ``generate`` fills it, the oracle reads it."""

from __future__ import annotations

from dataclasses import dataclass, field
from random import Random
from typing import Any, TypeAlias

from tests.parity.generating.style import Style

Object: TypeAlias = dict[str, Any]


@dataclass(frozen=True, slots=True)
class Cluster:
    """A cluster and the pods to schedule in it, one after the other.

    Objects carry the ``status`` they shall have; ``terminating`` names the bound pods to be deleted (gracefully, so
    that they stay) before scheduling starts. A pending pod with ``status.nominatedNodeName`` starts out nominated.
    """

    name: str
    style: str
    objects: list[Object]
    bound: list[Object]
    pending: list[Object]
    terminating: list[tuple[str, str]] = field(default_factory=list)
    # other objects to be deleted, and held by a finalizer: kind, namespace, name
    deleting: list[tuple[str, str | None, str]] = field(default_factory=list)
    # by a pod's name, the claims that belong to that pod alone
    own_claims: dict[str, list[Object]] = field(default_factory=dict)


@dataclass(slots=True)
class World:
    """What the makers of pods know about the cluster so far."""

    style: Style
    nodes: list[Object]
    terminating: list[tuple[str, str]] = field(default_factory=list)
    # nodes with a pod that an earlier preemption has told to go
    being_vacated: list[str] = field(default_factory=list)

    def node_name(self, rng: Random) -> str:
        """Some node's name; now and then one that does not exist."""
        return "gone" if chance(rng, 0.04) else str(rng.choice(self.nodes)["metadata"]["name"])


def chance(rng: Random, probability: float) -> bool:
    return rng.random() < probability


def some(rng: Random, values: list[str], low: int = 1, high: int | None = None) -> list[str]:
    """A few different values, in random order."""
    return rng.sample(values, rng.randint(low, min(high or len(values), len(values))))

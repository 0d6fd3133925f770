"""Amounts of resources, and which resource names count how.

`requests` sums a pod's amounts, `node` reads a node's; the cache and the resource plugins compute with them.
"""

from __future__ import annotations

from collections.abc import Mapping

from bayplan.objects.names import is_qualified, is_subdomain
from bayplan.objects.quantity import MAX_INT64, Quantity, milli_value

CPU = "cpu"
MEMORY = "memory"
EPHEMERAL_STORAGE = "ephemeral-storage"
PODS = "pods"

Milli = dict[str, int]
"""Resource name to thousandths."""


class Resources:
    """Amounts of everything a node gives out. Treat it as a value: operations make new ones."""

    __slots__ = ("cpu_milli", "ephemeral_bytes", "memory_bytes", "pods", "scalars")

    def __init__(
        self,
        cpu_milli: int = 0,
        memory_bytes: int = 0,
        ephemeral_bytes: int = 0,
        pods: int = 0,
        scalars: dict[str, int] | None = None,
    ) -> None:
        self.cpu_milli = cpu_milli
        self.memory_bytes = memory_bytes
        self.ephemeral_bytes = ephemeral_bytes
        self.pods = pods
        self.scalars: dict[str, int] = scalars if scalars is not None else {}

    @classmethod
    def from_milli(cls, amounts: Mapping[str, int]) -> Resources:
        """From thousandths, rounded up; names the scheduler does not account for are dropped."""
        made = cls()
        for name, milli in amounts.items():
            if name == CPU:
                made.cpu_milli = min(milli, MAX_INT64)
            elif name == MEMORY:
                made.memory_bytes = whole_units(milli)
            elif name == EPHEMERAL_STORAGE:
                made.ephemeral_bytes = whole_units(milli)
            elif name == PODS:
                made.pods = whole_units(milli)
            elif is_scalar_name(name):
                made.scalars[name] = whole_units(milli)
        return made

    @classmethod
    def from_quantities(cls, quantities: Mapping[str, Quantity] | None, where: str) -> Resources:
        """From a resource list as it is written; `where` names the field in the error for a bad quantity."""
        return cls.from_milli(in_milli(quantities, where))

    def get(self, name: str) -> int:
        """The amount of one resource, CPU in milli, everything else in units."""
        if name == CPU:
            return self.cpu_milli
        if name == MEMORY:
            return self.memory_bytes
        if name == EPHEMERAL_STORAGE:
            return self.ephemeral_bytes
        return self.pods if name == PODS else self.scalars.get(name, 0)

    def plus(self, other: Resources) -> Resources:
        scalars = dict(self.scalars)
        for name, amount in other.scalars.items():
            scalars[name] = scalars.get(name, 0) + amount
        return Resources(
            self.cpu_milli + other.cpu_milli,
            self.memory_bytes + other.memory_bytes,
            self.ephemeral_bytes + other.ephemeral_bytes,
            self.pods + other.pods,
            scalars,
        )

    def as_map(self) -> dict[str, int]:
        """Resource name to amount, without the zeros."""
        named = {
            CPU: self.cpu_milli,
            MEMORY: self.memory_bytes,
            EPHEMERAL_STORAGE: self.ephemeral_bytes,
            PODS: self.pods,
            **self.scalars,
        }
        return {name: amount for name, amount in named.items() if amount}

    def __eq__(self, other: object) -> bool:
        if not isinstance(other, Resources):
            return NotImplemented
        return self.as_map() == other.as_map()

    def __hash__(self) -> int:
        return hash(frozenset(self.as_map().items()))

    def __repr__(self) -> str:
        return f"Resources({self.as_map()})"


def is_extended_name(name: str) -> bool:
    """A resource some device plugin brings, such as example.com/gpu."""
    domain, slash, short = name.partition("/")
    if not slash or "kubernetes.io/" in name or name.startswith("requests."):
        return False
    return is_subdomain(f"requests.{domain}") and is_qualified(short)


def is_scalar_name(name: str) -> bool:
    """A resource that is accounted for by name: extended, huge pages, or under a kubernetes.io prefix."""
    return name.startswith(("hugepages-", "attachable-volumes-")) or "kubernetes.io/" in name or is_extended_name(name)


def is_pod_level_name(name: str) -> bool:
    """A resource that may be asked for by the pod as a whole."""
    return name in (CPU, MEMORY) or name.startswith("hugepages-")


def whole_units(milli: int) -> int:
    """Thousandths as whole units, rounded up."""
    return min(-(-milli // 1000), MAX_INT64)


def in_milli(quantities: Mapping[str, Quantity] | None, where: str) -> Milli:
    """A resource list in thousandths; ValueError that names the entry under `where` that is no quantity."""
    if not quantities:
        return {}
    try:
        return {name: milli_value(quantity) for name, quantity in quantities.items()}
    except ValueError:
        raise _named(quantities, where) from None


def _named(quantities: Mapping[str, Quantity], where: str) -> ValueError:
    for name, quantity in quantities.items():
        try:
            milli_value(quantity)
        except ValueError as error:
            return ValueError(f"{where}.{name}: {error}")
    return ValueError(f"{where}: not a list of quantities")

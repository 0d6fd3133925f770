"""Which node a series is about: by the node's InternalIP, with or without a port, or by its name.

`controller` keeps one `NodeIndex` and turns every answer into `Loads`. Only the label `instance` is looked at, as in
Crane.
"""

from __future__ import annotations

import math
from collections.abc import Iterable
from dataclasses import dataclass, field
from functools import lru_cache
from ipaddress import ip_address

from bayplan.controllers.node_annotator.queries import Sample

INSTANCE = "instance"
_PERCENT = 100.0
# CPU time is measured by two clocks, so an idle machine now and then seems to do a little less than nothing.
_SLACK = 0.01

_BY_ADDRESS, _BY_ADDRESS_AND_PORT, _BY_NAME, _BY_NAME_AND_PORT = range(4)


@dataclass(slots=True)
class Loads:
    """A metric by node name, as fractions, and what became of the series."""

    by_node: dict[str, float] = field(default_factory=dict)
    matched: int = 0
    duplicate: int = 0
    """Of the matched ones, those beside another for the same node; the highest counts."""
    unmatched: int = 0
    """Of no node of this cluster."""
    unusable: int = 0
    """Not a number, infinite, or below zero."""


class NodeIndex:
    """Nodes by what a series may call them."""

    def __init__(self) -> None:
        self._keys: dict[str, tuple[str, ...]] = {}
        self._by_key: dict[str, list[str]] = {}

    def __len__(self) -> int:
        return len(self._keys)

    def put(self, name: str, addresses: Iterable[str]) -> None:
        """A node and its InternalIPs; again if they changed."""
        keys = tuple(dict.fromkeys([name, *(_address(each) for each in addresses)]))
        if keys == self._keys.get(name):
            return
        self.drop(name)
        self._keys[name] = keys
        for key in keys:
            self._by_key.setdefault(key, []).append(name)

    def drop(self, name: str) -> None:
        for key in self._keys.pop(name, ()):
            self._by_key[key].remove(name)
            if not self._by_key[key]:
                del self._by_key[key]

    def loads(self, samples: Iterable[Sample]) -> Loads:
        """What the samples of one metric, in percent, say about each node."""
        loads = Loads()
        ranks: dict[str, int] = {}
        for labels, value in samples:
            key, rank = _parsed(labels.get(INSTANCE, ""))
            names = self._by_key.get(key)
            if names is None:
                loads.unmatched += 1
                continue
            fraction = value / _PERCENT
            if not math.isfinite(fraction) or fraction < -_SLACK:
                loads.unusable += 1
                continue
            loads.matched += 1
            for name in names:
                self._take(loads, ranks, name, rank, max(fraction, 0.0))
        return loads

    def _take(self, loads: Loads, ranks: dict[str, int], name: str, rank: int, fraction: float) -> None:
        known = ranks.get(name)
        if known is not None:
            loads.duplicate += 1
        if known is None or rank < known:
            ranks[name] = rank
            loads.by_node[name] = fraction
        elif rank == known:
            # Of two exporters for one node the one that sees more load is believed.
            loads.by_node[name] = max(fraction, loads.by_node[name])


@lru_cache(maxsize=65536)
def _parsed(instance: str) -> tuple[str, int]:
    """What a node would be known by, and how far to trust that."""
    whole = _ip(instance.removeprefix("[").removesuffix("]"))
    if whole:
        return whole, _BY_ADDRESS
    host, colon, port = instance.rpartition(":")
    if not colon or not port.isdigit():
        return instance, _BY_NAME
    address = _ip(host.removeprefix("[").removesuffix("]"))
    return (address, _BY_ADDRESS_AND_PORT) if address else (host, _BY_NAME_AND_PORT)


def _address(text: str) -> str:
    return _ip(text) or text


def _ip(text: str) -> str:
    """An address in the one form that all its spellings have in common; "" if it is none."""
    try:
        return str(ip_address(text))
    except ValueError:
        return ""

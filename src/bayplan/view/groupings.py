"""By which labels a map of nodes can be divided: zone, rack, kind of machine, whatever sets nodes apart in groups."""

from __future__ import annotations

from collections.abc import Sequence

from bayplan.objects.node import HOSTNAME_LABEL, REGION_LABELS, ZONE_LABELS, Node
from bayplan.simulator.report.summary import KIND_LABELS

FEWEST, MOST = 2, 200
MOST_KEYS = 12
_FIRST = (*reversed(ZONE_LABELS), *reversed(REGION_LABELS))
_TOPOLOGY = ("zone", "region", "rack", "row", "hall", "block", "topology")
"""Words in keys of labels that say where a node stands."""


def groupings(nodes: Sequence[Node]) -> list[str]:
    """The keys, zone first, then what looks like topology, then kinds of machines, then others."""
    values: dict[str, set[str]] = {}
    full: set[str] = {HOSTNAME_LABEL}
    for node in nodes:
        for key, value in node.labels.items():
            if key not in full:
                seen = values.setdefault(key, set())
                seen.add(value)
                if len(seen) > MOST:
                    full.add(key)
                    del values[key]
    lacking = {key for node in nodes for key in values if key not in node.labels}
    kept = [key for key, seen in values.items() if _divides(key, len(seen) + (key in lacking), len(nodes))]
    return sorted(kept, key=_rank)[:MOST_KEYS]


def _divides(key: str, groups: int, nodes: int) -> bool:
    """A label that is another one on every node is a name rather than a group, unless it says where the node is."""
    return FEWEST <= groups <= MOST and (groups < nodes or key in _FIRST)


def _rank(key: str) -> tuple[int, int, str]:
    if key in _FIRST:
        return 0, _FIRST.index(key), key
    if any(word in key.rpartition("/")[2] for word in _TOPOLOGY):
        return 1, 0, key
    return (2, KIND_LABELS.index(key), key) if key in KIND_LABELS else (3, 0, key)

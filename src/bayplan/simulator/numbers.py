"""The numbers plugins go by, node by node, as part of an explanation.  ``explaining`` and ``telling`` use it."""

from __future__ import annotations

from typing import Any

from bayplan.engine.scheduler import Scheduler
from bayplan.framework.plugin import Plugin
from bayplan.objects.pod import Pod
from bayplan.simulator.tables import table


def add(document: dict[str, Any], scheduler: Scheduler, pod: Pod) -> dict[str, Any]:
    """The document with ``numbers`` (lines by plugin) at every node of which a plugin has something to tell."""
    profile = scheduler.profiles.get(pod.scheduler_name)
    if profile is None:
        return document
    tellers = [each for each in profile.instances.values() if type(each).tell is not Plugin.tell]
    nodes = scheduler.cache.nodes
    for node in document["nodes"] if tellers else ():
        row = nodes.row_of(node["name"])
        if row is not None:
            told = {each.name: list(each.tell(pod, nodes.node(row))) for each in tellers}
            numbers = {name: lines for name, lines in told.items() if lines}
            if numbers:
                node["numbers"] = numbers
    return document


def as_lines(document: dict[str, Any], most: int) -> list[str]:
    """A table for the first nodes, and for the pod's own."""
    known = [node for node in document["nodes"] if node.get("numbers")]
    shown = known[:most] + [node for node in known[most:] if node["name"] == document["node"]]
    rows = [
        [node["name"], plugin, line] for node in shown for plugin, lines in node["numbers"].items() for line in lines
    ]
    if not rows:
        return []
    more = len(known) - len(shown)
    return [*table(["NODE", "PLUGIN", "NUMBERS"], rows).splitlines(), *([f"and {more} more nodes"] if more else [])]

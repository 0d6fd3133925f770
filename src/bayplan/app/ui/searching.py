"""Searching a view, and one node of it: whoever may see the view may see what is found in it."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

MOST_FOUND = 100
MOST_PODS = 2000

View = dict[str, Any]


def search(view: View, asked: str) -> dict[str, Any]:
    """Pods by name, namespace, owner, state, reason or node; nodes by name."""
    text = asked.strip().lower()
    pods: list[dict[str, str]] = []
    nodes: list[dict[str, str]] = []
    for cluster in view["clusters"][-1:] if text else ():
        for found in _pods(cluster, text):
            pods.append(found)
            if len(pods) > MOST_FOUND:
                break
        nodes = [{"name": name} for name in cluster["nodes"]["name"] if text in name.lower()]
    is_cut = len(pods) > MOST_FOUND or len(nodes) > MOST_FOUND
    return {"pods": pods[:MOST_FOUND], "nodes": nodes[:MOST_FOUND], "truncated": is_cut}


def _pods(cluster: View, text: str) -> Iterator[dict[str, str]]:
    pods, strings, nodes = cluster["pods"], cluster["strings"], cluster["nodes"]["name"]
    hits = {number for number, each in enumerate(strings) if text in each.lower()}
    for row, name in enumerate(pods["name"]):
        namespace = strings[pods["namespace"][row]]
        if text in f"{namespace}/{name}".lower():
            yield {"namespace": namespace, "name": name, "why": "name"}
            continue
        column = next((each for each in ("owner", "state", "message") if pods[each][row] in hits), None)
        on = pods["node"][row]
        if column is not None:
            yield {"namespace": namespace, "name": name, "why": strings[pods[column][row]]}
        elif on >= 0 and text in nodes[on].lower():
            yield {"namespace": namespace, "name": name, "why": f"on {nodes[on]}"}


def node(view: View, name: str) -> dict[str, Any] | None:
    """One node and its pods; None if the view has no such node."""
    for cluster in view["clusters"][-1:]:
        nodes, pods, strings = cluster["nodes"], cluster["pods"], cluster["strings"]
        if name not in nodes["name"]:
            return None
        at = nodes["name"].index(name)
        here = [row for row, on in enumerate(pods["node"]) if on == at][:MOST_PODS]
        return {
            "name": name,
            "labels": {key: strings[column[at]] for key, column in nodes["labels"].items()},
            "taints": strings[nodes["taints"][at]],
            "state": strings[nodes["state"][at]],
            "allocatable": {resource: column[at] for resource, column in nodes["allocatable"].items()},
            "requested": {resource: column[at] for resource, column in nodes["requested"].items()},
            "pods": [{"namespace": strings[pods["namespace"][row]], "name": pods["name"][row]} for row in here],
        }
    return None

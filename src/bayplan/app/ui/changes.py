"""
What differs between two views, as changes that the page applies; and numbers for texts that stay the same.

A view is columns, so that a bind changes a few elements of a few of them.  ``app.ui.feed`` sends changes instead of the
whole view.
"""

from __future__ import annotations

from typing import Any

Change = dict[str, Any]
Path = list[str | int]

_BY_TEXT = {"pods": ("namespace", "owner", "state", "message", "scheduler"), "nodes": ("state", "taints", "kind")}
"""The columns of a cluster that hold numbers of texts."""
SPARE = 1000
"""Texts and sets of requests that are out of use, and may stay before all are numbered anew."""


def changes(old: Any, new: Any, path: Path | None = None) -> list[Change]:
    """What makes ``new`` of ``old``."""
    where = [] if path is None else path
    if old == new:
        return []
    if isinstance(old, dict) and isinstance(new, dict) and old.keys() == new.keys():
        return [change for key in new for change in changes(old[key], new[key], [*where, key])]
    if isinstance(old, list) and isinstance(new, list) and where and old and new:
        if isinstance(new[0], dict) and len(old) == len(new) and len(new) <= 8:
            # Few documents, such as clusters: what differs within them.
            return [change for row in range(len(new)) for change in changes(old[row], new[row], [*where, row])]
        return [_column(old, new, where)]
    return [{"path": where, "value": new}]


def _column(old: list[Any], new: list[Any], path: Path) -> Change:
    rows = [row for row, (before, now) in enumerate(zip(old, new, strict=False)) if before != now]
    rows += range(len(old), len(new))
    if 2 * len(rows) > len(new):
        return {"path": path, "value": new}
    change: Change = {"path": path, "rows": rows, "values": [new[row] for row in rows]}
    if len(new) < len(old):
        change["length"] = len(new)
    return change


class Numbering:
    """
    Gives the texts and the sets of requests of one cluster the numbers they had before: in a view they are numbered in
    the order in which they appear, so that one that is gone would change all numbers behind it.
    """

    def __init__(self) -> None:
        self._texts: dict[str, int] = {"": 0}
        self._requests: dict[tuple[tuple[str, int], ...], int] = {}

    def renumber(self, cluster: dict[str, Any]) -> dict[str, Any]:
        """The cluster with lasting numbers."""
        if len(self._texts) > 2 * len(cluster["strings"]) + SPARE:
            self._texts = {"": 0}
        if len(self._requests) > 2 * len(cluster["requestSets"]) + SPARE:
            self._requests = {}
        texts = [self._texts.setdefault(text, len(self._texts)) for text in cluster["strings"]]
        sets = [self._requests.setdefault(tuple(each.items()), len(self._requests)) for each in cluster["requestSets"]]
        pods, nodes = dict(cluster["pods"]), dict(cluster["nodes"])
        for columns, names in ((pods, _BY_TEXT["pods"]), (nodes, _BY_TEXT["nodes"])):
            for name in names:
                columns[name] = [texts[number] for number in columns[name]]
        pods["requests"] = [sets[number] for number in pods["requests"]]
        nodes["labels"] = {key: [texts[number] for number in column] for key, column in nodes["labels"].items()}
        return {
            **cluster,
            "pods": pods,
            "nodes": nodes,
            "strings": list(self._texts),
            "requestSets": [dict(each) for each in self._requests],
        }

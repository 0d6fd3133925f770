"""A placement's document as text for people: a verdict, the clusters, the filters, the spread."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from bayplan.text_layout import listed, table

_SHOWN = 20


def as_text(document: dict[str, Any]) -> str:
    """The text, ending with a line break."""
    parts = [_verdict(document)]
    if "moves" in document:
        parts.append(_moves(document))
    if document["decisions"]:
        parts.append(_decisions(document["decisions"]))
    if document["filters"]:
        rows = [[step["name"], str(step["kept"]), str(step["dropped"]), _some(step)] for step in document["filters"]]
        parts.append(table(["FILTER", "KEPT", "DROPPED", "WHICH"], rows))
    if document["spread"]:
        parts.append(_spread(document["spread"]))
    return "\n\n".join(parts) + "\n"


def _verdict(document: dict[str, Any]) -> str:
    name = f"{document['placement']['namespace']}/{document['placement']['name']}"
    satisfied, misconfigured = document["conditions"]
    if misconfigured["status"] == "True":
        return f"{name}: {misconfigured['reason']}: {misconfigured['message']}"
    count = len(document["decisions"])
    return f"{name}: {count} {_clusters(count)}: {satisfied['reason']}: {satisfied['message']}"


def _clusters(count: int) -> str:
    return "cluster" if count == 1 else "clusters"


def _moves(document: dict[str, Any]) -> str:
    lost, moves = document["without"], document["moves"]
    lines = [f"Without {lost['selector']} ({len(lost['clusters'])} {_clusters(len(lost['clusters']))}):"]
    for what, names in (("leave", moves["removed"]), ("join", moves["added"])):
        lines.append(f"  {len(names)} {what}{': ' if names else ''}{listed(names, _SHOWN)}")
    return "\n".join(lines)


def _decisions(decisions: Sequence[dict[str, Any]]) -> str:
    header, columns = ["CLUSTER", "SCORE"], ["clusterName", "score"]
    for title, column in (("DOMAIN", "reason"), ("GROUP", "group"), ("REPLICAS", "replicas")):
        if any(each.get(column) for each in decisions):
            header.append(title)
            columns.append(column)
    return table(header, [[str(each.get(column, "")) for column in columns] for each in decisions])


def _spread(report: Sequence[dict[str, Any]]) -> str:
    rows = []
    for each in report:
        eligible = each["eligible"]
        others = each.get("others", {})
        more = {name: f"+{others[name]}" if name in others else "" for name in eligible}
        shares = [f"{name} {count}{more[name]}/{eligible[name]}" for name, count in each["counts"].items()]
        kind = "hard" if each["whenUnsatisfiable"] == "DoNotSchedule" else "soft"
        blocks = each["blocking"] or ""
        skew = f"{each['skew']} (max {each['maxSkew']}){' exceeded' if each['exceeded'] else ''}"
        rows.append([each["topologyKey"], kind, skew, blocks, listed(shares, _SHOWN)])
    return table(["SPREAD OVER", "KIND", "SKEW", "BLOCKED BY", "CHOSEN/ELIGIBLE"], rows)


def _some(step: dict[str, Any]) -> str:
    return listed(step.get("droppedClusters", ()), _SHOWN)

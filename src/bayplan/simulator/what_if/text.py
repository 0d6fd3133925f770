"""
A what-if for people: what changes for which pods, and the cluster before and after.

``bayplan what-if`` prints it.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from typing import Any

from bayplan.objects.quantity import parse
from bayplan.objects.resources import CPU, MEMORY
from bayplan.simulator.report import rollout_report
from bayplan.text_layout import Style, plain, table

MANY = 20
"""More pods than these are told by workload."""
_FEW = 3

Told = dict[str, Any]


def as_text(document: Told, *, style: Style = plain) -> str:
    parts = [
        _pods("MOVED", document["moved"], ("FROM", "from"), ("TO", "to")),
        _pods("PLACED", document["placed"], ("TO", "to")),
        _pods("GONE", document["gone"], ("FROM", "from")),
        _pods("LOST", document["lost"], ("FROM", "from")),
        rollout_report.as_text(document["rollouts"]),
        *_drains(document["drains"]),
        _reasons(document, style),
        _before_and_after(document["before"], document["after"]),
        f"{style('Stopped')} {document['stopped']}" if "stopped" in document else "",
        summary_line(document),
    ]
    return "\n\n".join(part for part in parts if part)


def _pods(title: str, pods: Sequence[Told], *columns: tuple[str, str]) -> str:
    if not pods:
        return ""
    if len(pods) <= MANY:
        rows = [[_key(pod), *(str(pod[field] or "-") for _, field in columns)] for pod in pods]
        return table([title, *(name for name, _ in columns)], rows)
    counted = Counter((f"{pod['namespace']}/{pod['owner'] or pod['name']}") for pod in pods)
    rows = [[name, str(count)] for name, count in counted.most_common(MANY)]
    left = len(counted) - len(rows)
    more = f"\n{left} more workloads; -o json has every pod" if left > 0 else ""
    return table([f"{title}, BY WORKLOAD", "PODS"], rows) + more


def _drains(drains: Sequence[Told]) -> list[str]:
    told = []
    for drain in drains:
        rounds: dict[int, list[str]] = {}
        for each in drain["evictions"]:
            rounds.setdefault(each["round"], []).append(f"{each['namespace']}/{each['name']}")
        rows = [[str(number), str(len(names)), _listed(names)] for number, names in rounds.items()]
        needs = f"; kubectl drain needs {' '.join(drain['needs'])}" if drain["needs"] else ""
        stay = f"; {drain['stay']} belong to the node and stay" if drain["stay"] else ""
        evictions = len(drain["evictions"])
        head = f"Drain of {drain['node']}: {evictions} {'eviction' if evictions == 1 else 'evictions'}{stay}{needs}"
        told.append(head + ("\n" + table(["ROUND", "PODS", "WHICH"], rows) if rows else ""))
    return told


def _listed(names: Sequence[str]) -> str:
    more = f" and {len(names) - _FEW} more" if len(names) > _FEW else ""
    return ", ".join(names[:_FEW]) + more


def _reasons(document: Told, style: Style) -> str:
    """Pods that are worse off, those with the same reason together."""
    groups: dict[tuple[str, str], list[str]] = {}
    for word, field in (("Pending", "pending"), ("Blocked", "blocked"), ("Lost", "lost")):
        for pod in document[field]:
            budget = f"by {pod['budget']}: " if field == "blocked" and pod["budget"] else ""
            groups.setdefault((word, budget + pod["message"]), []).append(_key(pod))
    return "\n".join(f"{style(word)}: {_listed(names)}: {message}" for (word, message), names in groups.items())


def _before_and_after(before: Told, after: Told) -> str:
    rows = [[field, str(before[field]), str(after[field])] for field in ("nodes", "bound", "pending")]
    for name in (CPU, MEMORY):
        rows.append([name, _share(before, name), _share(after, name)])
        rows.append([f"{name} imbalance", f"{before['balance'][name]:.3f}", f"{after['balance'][name]:.3f}"])
    zones = {each["zone"]: each for each in before["byZone"]}
    later = {each["zone"]: each for each in after["byZone"]}
    for zone in dict.fromkeys([*zones, *later]) if len(zones.keys() | later.keys()) > 1 else ():
        for name in (CPU, MEMORY):
            cells = (_share(each[zone], name) if zone in each else "-" for each in (zones, later))
            rows.append([f"zone {zone or '-'} {name}", *cells])
    return table(["", "BEFORE", "AFTER"], rows)


def _share(each: Told, name: str) -> str:
    asked, had = each["requested"][name], each["allocatable"][name]
    whole = parse(had)
    return f"{asked}/{had} {float(parse(asked) / whole):.0%}" if whole else f"{asked}/{had}"


def summary_line(document: Told) -> str:
    counts = [
        (len(document["moved"]), "moved"), (len(document["placed"]), "placed"), (len(document["gone"]), "gone"),
        (len(document["pending"]), "pending"), (len(document["blocked"]), "blocked by a budget"),
        (len(document["lost"]), "lost"),
    ]  # fmt: skip
    told = ", ".join(f"{number} {word}" for number, word in counts if number) or "no pod is affected"
    worse = document["worseOff"]
    verdict = "nobody is worse off" if not worse else f"{worse} {'pod is' if worse == 1 else 'pods are'} worse off"
    return f"{told}: {verdict}"


def _key(pod: Told) -> str:
    return f"{pod['namespace']}/{pod['name']}"

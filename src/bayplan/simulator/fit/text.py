"""
The answers of ``bayplan fit`` for people.
"""

from __future__ import annotations

from collections import Counter
from typing import Any

from bayplan.text_layout import Style, plain, table

MANY = 20

Told = dict[str, Any]


def as_text(document: Told, *, style: Style = plain) -> str:
    parts: list[str] = []
    if "buy" in document:
        parts = [
            _preempted(document["preempted"]),
            _bought(document),
            _waiting(document, style),
            _bought_line(document),
        ]
    elif "empty" in document:
        parts = [_moves(document["moves"]), _stay(document["stay"]), _shrunk_line(document)]
    elif "room" in document:
        parts = [_moves(document["moves"]), _room_line(document, style)]
    else:
        parts = [_per_node(document), _preempted(document["preempted"]), _fits_line(document)]
    if "stopped" in document:
        parts.append(f"{style('Stopped')} {document['stopped']}")
    return "\n\n".join(part for part in parts if part)


def _per_node(document: Told) -> str:
    counts = document["perNode"]
    if len(counts) <= MANY:
        rows = [[name, str(count)] for name, count in counts.items()]
        return table(["NODE", "PODS"], rows) if rows else ""
    alike = Counter(counts.values())
    return table(
        ["PODS A NODE", "NODES"], [[str(pods), str(nodes)] for pods, nodes in sorted(alike.items(), reverse=True)]
    )


def _fits_line(document: Told) -> str:
    asked = ", ".join(f"{amount} {name}" for name, amount in document["requests"].items()) or "no requests"
    pods, nodes = document["fits"], len(document["perNode"])
    where = f" on {nodes} {'node' if nodes == 1 else 'nodes'}" if pods else ""
    line = f"{pods} more {'pod fits' if pods == 1 else 'pods fit'}{where} ({asked})"
    return f"{line}\nThe next one: {document['limit']}"


def _preempted(pods: list[Told]) -> str:
    rows = [[f"{pod['namespace']}/{pod['name']}", pod["from"] or "-"] for pod in pods[:MANY]]
    more = f"\n{len(pods) - MANY} more; -o json has all" if len(pods) > MANY else ""
    return table(["PREEMPTED", "FROM"], rows) + more if rows else ""


def _bought(document: Told) -> str:
    rows = [
        [each["template"], str(each["count"]), f"{each['price']:g}", f"{each['price'] * each['count']:g}"]
        for each in document["buy"]
    ]
    return table(["TEMPLATE", "NODES", "PRICE", "SUM"], rows) if rows else ""


def _waiting(document: Told, style: Style) -> str:
    groups: dict[str, list[str]] = {}
    for pod in document["pending"]:
        groups.setdefault(pod["message"], []).append(f"{pod['namespace']}/{pod['name']}")
    lines = []
    for message, names in groups.items():
        more = f" and {len(names) - 1} more" if len(names) > 1 else ""
        lines.append(f"{style('Pending')}: {names[0]}{more}: {message}")
    return "\n".join(lines)


def _bought_line(document: Told) -> str:
    if document["pending"]:
        return f"{len(document['pending'])} pods would still wait: no number of these nodes holds them"
    total = document["total"]
    if not total["nodes"]:
        return "everything has room: nothing to buy"
    nodes = "1 more node holds" if total["nodes"] == 1 else f"{total['nodes']} more nodes hold"
    return f"{nodes} everything, for {total['price']:g}"


def _moves(moves: list[Told]) -> str:
    rows = [
        [str(each["step"]), f"{each['namespace']}/{each['name']}", each["from"], each["to"]] for each in moves[:MANY]
    ]
    more = f"\n{len(moves) - MANY} more steps; -o json has all" if len(moves) > MANY else ""
    return table(["STEP", "POD", "FROM", "TO"], rows) + more if rows else ""


def _stay(stay: list[Told]) -> str:
    lines = [f"{each['node']} stays: {each['why']}" for each in stay[:MANY]]
    more = [f"{len(stay) - MANY} more nodes stay; -o json has all"] if len(stay) > MANY else []
    return "\n".join([*lines, *more])


def _shrunk_line(document: Told) -> str:
    empty, moves = document["empty"], len(document["moves"])
    names = ", ".join(empty[:MANY]) + (f" and {len(empty) - MANY} more" if len(empty) > MANY else "")
    untried = f"; {document['untried']} were not tried" if document["untried"] else ""
    if not empty:
        return f"no node can be emptied{untried}"
    return f"{len(empty)} of {document['nodes']} nodes can be emptied with {moves} moves: {names}{untried}"


def _room_line(document: Told, style: Style) -> str:
    room = document["room"]
    if room["node"] is None:
        return f"{style('Unschedulable')}: no moves make room: {room['message']}"
    nodes = Counter(each["node"] for each in room["pods"])
    who = "it has room" if room["wanted"] == 1 else f"all {room['wanted']} have room"
    where = ", ".join(name if room["wanted"] == 1 else f"{name} ({count})" for name, count in nodes.items())
    moves = len(document["moves"])
    if not moves:
        return f"{who} on {where}: nothing has to move"
    steps = "1 move" if moves == 1 else f"{moves} moves"
    close = ", ".join(document["close"])
    return f"after {steps} {who} on {where}; {close} must be closed (kubectl cordon) until they are made"

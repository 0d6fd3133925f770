"""What ``what-if``, ``compare``, ``fit``, ``sweep`` and ``rebalancer --dry-run`` show: a ``View`` of each document."""

from __future__ import annotations

from typing import Any

from bayplan.simulator.comparison.measures import JUDGED, flat
from bayplan.simulator.comparison.text import CALLED
from bayplan.simulator.sweep.summary import SEED
from bayplan.simulator.world import World
from bayplan.view.documents import Document, Origin, fact, pod_facts, table, view
from bayplan.view.looks import Looks
from bayplan.view.policies import moves_of, policies_of
from bayplan.view.world_view import world_view


def what_if_view(document: dict[str, Any], looks: Looks) -> Document:
    """Before and after, who moved, and who is worse off."""
    pending, lost, blocked = (document[each] for each in ("pending", "lost", "blocked"))
    facts = [
        fact("Worse off", document["worseOff"], good=not document["worseOff"]),
        fact("Moved", len(document["moved"])),
        fact("Pending", len(pending), good=not pending),
        *([fact("Lost", len(lost), good=False)] if lost else []),
        *([fact("Blocked", len(blocked), "by disruption budgets", good=False)] if blocked else []),
    ]
    told = [
        *([_pods("Pods without room", pending, "message")] if pending else []),
        *([_pods("Pods that nobody makes again", lost, "message")] if lost else []),
        *([_pods("Evictions that are refused", blocked, "message")] if blocked else []),
    ]
    return view(
        looks.origin,
        facts=facts,
        clusters=looks.clusters,
        timeline=looks.timeline,
        moves=moves_of(document["moved"]),
        tables=told,
    )


def comparison_view(document: dict[str, Any], looks: Looks) -> Document:
    """Each configuration's cluster, the measures with the better ones marked, and the pods that differ."""
    runs, better = document["runs"], document["better"]
    names = [run["name"] for run in runs]
    rows = [[CALLED.get(path, path), *(flat(run)[path] for run in runs)] for path in JUDGED]
    best = [
        [row, column]
        for row, path in enumerate(JUDGED)
        for column, name in enumerate(names, 1)
        if name in better.get(path, ())
    ]
    differ = [
        [f"{pod['namespace']}/{pod['name']}", *(pod[name] or "-" for name in names), pod["because"] or "-"]
        for pod in document["differ"]
    ]
    measures = table("Which does better", ["", *names], rows, best)
    tables = [measures, *([table("Pods that differ", ["Pod", *names, "Because"], differ)] if differ else [])]
    facts = [fact("Configurations", len(runs)), fact("Pods that differ", len(differ))]
    return view(looks.origin, facts=facts, clusters=looks.clusters, tables=tables)


def fit_view(document: dict[str, Any], looks: Looks) -> Document:
    """The cluster in the end, and the answer: how many fit, what to buy, what to empty, what to move."""
    tables: list[Document] = []
    if "buy" in document:
        total = document["total"]
        facts = [fact("Nodes to buy", total["nodes"]), fact("Price", f"{total['price']:g}")]
        facts.append(fact("Would still wait", len(document["pending"]), good=not document["pending"]))
        rows = [
            [each["template"], each["count"], each["price"], round(each["price"] * each["count"], 6)]
            for each in document["buy"]
        ]
        tables.append(table("Shopping list", ["Template", "Nodes", "Price", "Sum"], rows))
    elif "empty" in document:
        facts = [fact("Nodes that can be emptied", len(document["empty"]), f"of {document['nodes']}")]
        tables.append(table("Nodes that can be emptied", ["Node"], [[name] for name in document["empty"]]))
        stay = [[each["node"], each["why"]] for each in document["stay"]]
        tables += [table("Nodes that stay", ["Node", "Why"], stay)] if stay else []
    elif "room" in document:
        node, moves = document["room"]["node"], len(document["moves"])
        facts = [fact("Room", node or "nowhere", document["room"]["message"] or "", good=node is not None)]
        facts.append(fact("Moves", moves))
    else:
        facts = [fact("More pods that fit", document["fits"], good=document["fits"] > 0)]
        facts.append(fact("The next one", document["limit"]))
        tables.append(
            table("Pods on each node", ["Node", "Pods"], [list(pair) for pair in document["perNode"].items()])
        )
    return view(
        looks.origin,
        facts=facts,
        clusters=looks.clusters,
        timeline=looks.timeline,
        moves=moves_of(document.get("moves", ())),
        tables=tables,
    )


def sweep_view(document: dict[str, Any], origin: Origin) -> Document:
    """Means over the seeds of each combination, and every row."""
    axes = [axis for axis in document["axes"] if axis != SEED]
    summed = document["summary"]
    columns = list(dict.fromkeys(name for each in summed for name in each["values"]))
    means = [
        [*(each[axis] or "-" for axis in axes), each["scenarios"],
         *(each["values"].get(name, {}).get("mean") for name in columns)]
        for each in summed
    ]  # fmt: skip
    rows = document["rows"]
    names = list(rows[0]) if rows else []
    tables = [
        table("Means over the seeds", [*axes, "runs", *columns], means),
        table("Every scenario", names, [[row[name] for name in names] for row in rows]),
    ]
    stopped = sum(bool(row.get("stopped")) for row in rows)
    facts = [fact("Scenarios", document["scenarios"]), fact("Ended too early", stopped, good=not stopped)]
    return view(origin, facts=facts, tables=tables)


def rebalance_view(document: dict[str, Any], world: World, origin: Origin) -> Document:
    """The cluster as it is, how policies stand, and the moves that are planned."""
    summary, policies = document["summary"], document["policies"]
    moves = [
        {**move, "namespace": policy["namespace"], "at": move["wave"]}
        for policy in policies
        for move in policy["moves"]
    ]
    cluster = world_view(world, command=origin.command)
    satisfied = f"{summary['satisfied']} of {summary['policies']}"
    is_good = summary["satisfied"] == summary["policies"]
    facts = [fact("Policies satisfied", satisfied, good=is_good), fact("Moves planned", summary["moves"])]
    return view(
        origin,
        facts=[*facts, *pod_facts(cluster["summary"])],
        clusters=[cluster],
        policies=policies_of(policies, world.scheduler),
        moves=moves_of(moves),
    )


def _pods(title: str, pods: list[dict[str, Any]], why: str) -> Document:
    rows = [[f"{pod['namespace']}/{pod['name']}", pod["owner"] or "-", pod[why]] for pod in pods]
    return table(title, ["Pod", "Owner", "Why"], rows)

"""
What happened in a simulation: the document for programs, and tables for people.

``simulation`` makes the document; ``bayplan simulate`` prints it, or the text that ``as_table`` and ``as_names`` give.
The fields are a contract: new ones may be added, none renamed.
"""

from __future__ import annotations

from collections import Counter
from typing import Any

from bayplan.engine.scheduler import Scheduler
from bayplan.framework.snapshot import NodeTable
from bayplan.objects.pod import Pod
from bayplan.objects.resources import CPU, MEMORY
from bayplan.simulator.explain import text
from bayplan.simulator.explain.explanation import API_VERSION, ERROR
from bayplan.simulator.pod_records import DELETED, EVICTED, LOST, SCALED_IN, Record
from bayplan.simulator.report import rebalancing_report, rollout_report, usage_plot
from bayplan.simulator.report import summary as summarizing
from bayplan.simulator.world import World
from bayplan.text_layout import Style, plain, table

BOUND, PENDING, GATED, IGNORED, PREEMPTED = "Bound", "Pending", "Gated", "Ignored", "Preempted"
STATES = (BOUND, PENDING, GATED, IGNORED, PREEMPTED)
ENDS = {EVICTED: "evicted", SCALED_IN: "scaled in", LOST: "lost with their nodes", DELETED: "deleted"}
"""States that are counted only where there are any, and what people call them."""


def simulation(world: World, seed: int, stopped: str = "", *, with_summary: bool = False) -> dict[str, Any]:
    """The document ``kind: Simulation``; ``stopped`` says why the run ended too early."""
    pods = [_pod(world, record) for record in world.cluster.records.values()]
    states = Counter(pod["state"] for pod in pods)
    errors = sum("error" in pod for pod in pods)
    for_good = sum(
        record.ended == LOST and not world.workloads.looks_after(record.pod)
        for record in world.cluster.records.values()
    )
    nodes = world.scheduler.cache.nodes
    document = {
        "apiVersion": API_VERSION,
        "kind": "Simulation",
        "seed": seed,
        "elapsed": _seconds(world.cluster.elapsed_s),
        "summary": {
            "nodes": len(nodes),
            "pods": len(pods),
            **{state.lower(): states[state] for state in STATES},
            **{_field(state): states[state] for state in ENDS if states[state]},
            **({"lostForGood": for_good} if for_good else {}),
            **({"errors": errors} if errors else {}),
        },
        "totals": summarizing.totals(nodes),
        "pods": pods,
        "nodes": [_node(nodes, row) for row in range(len(nodes))],
    }
    if with_summary:
        asked = (record.pod.requests for record in world.cluster.records.values())
        document |= summarizing.summary(nodes, list(zip(pods, asked, strict=True)))
    if stopped:
        document["stopped"] = stopped
    if world.rebalancing is not None:
        document |= rebalancing_report.document(world.rebalancing, world.workloads)
    if world.changes.rollouts.begun:
        document["rollouts"] = rollout_report.rollouts(world)
    return document if world.load is None else {**document, "load": usage_plot.document(world.load)}


def _field(state: str) -> str:
    return state[0].lower() + state[1:]


def _pod(world: World, record: Record) -> dict[str, Any]:
    pod = record.pod
    state, message = state_of(world, record)
    told = {
        "namespace": pod.namespace,
        "name": pod.name,
        "owner": world.workloads.owner(pod),
        "scheduler": pod.scheduler_name,
        "state": state,
        "node": pod.node_name or None,
        "message": message,
        "attempts": record.attempts,
        "boundAt": None if record.bound_at is None else _seconds(record.bound_at),
    }
    return {**told, "error": True} if state == PENDING and _has_failed(world, record) else told


def _has_failed(world: World, record: Record) -> bool:
    """Whether an error, rather than a no, keeps the pod from a node."""
    uid = record.pod.uid
    gated_by = world.scheduler.queue.gated_reason(uid)
    return gated_by is not None or (record.has_failed and world.scheduler.waiting.get(uid) is None)


def state_of(world: World, record: Record) -> tuple[str, str]:
    """A pod's state, and what there is to say about it."""
    if record.is_gone:
        return record.ended or PREEMPTED, record.message
    return standing(world.scheduler, record.pod, record.message)


def standing(scheduler: Scheduler, pod: Pod, message: str) -> tuple[str, str]:
    """The state of a pod that is there, and what there is to say about it; ``message`` is what it was told last."""
    if pod.node_name:
        return BOUND, ""
    if pod.scheduler_name not in scheduler.profiles:
        return IGNORED, f'no profile is for the scheduler "{pod.scheduler_name}"'
    gated_by = scheduler.queue.gated_reason(pod.uid)
    if gated_by is not None:
        return PENDING if gated_by.is_error else GATED, gated_by.message
    held = scheduler.waiting.get(pod.uid)
    if held is not None:
        return PENDING, f"held by {', '.join(sorted(held.pending_plugins))}, to go to {held.node_name}"
    if scheduler.cache.is_assumed(pod.uid) and not message:
        return PENDING, "its bind plugin took it as bound and bound it nowhere"
    return PENDING, message


def _seconds(seconds: float) -> float:
    """Floats of epoch seconds are not exact beyond the microsecond."""
    return round(seconds, 3)


def _node(nodes: NodeTable, row: int) -> dict[str, Any]:
    node = nodes.node(row)
    return {
        "name": node.name,
        "pods": node.pods_count,
        "requested": summarizing.amounts(summarizing.requested(node).as_map()),
        "allocatable": summarizing.amounts(node.object.allocatable.as_map()),
    }


# -- for people --


def as_table(document: dict[str, Any], *, wide: bool = False, style: Style = plain) -> str:
    """Pods and nodes, or the sums over them; why pods are pending; and the summary."""
    parts = [_pod_table(document["pods"], wide, style), _node_table(document["nodes"], wide)]
    if "byWorkload" in document:
        parts = [summarizing.as_text(document)]
    if document.get("rollouts"):
        parts.append(rollout_report.as_text(document["rollouts"]))
    if document.get("moves"):
        parts.append(rebalancing_report.as_text(document["moves"]))
    if "load" in document:
        parts.append(usage_plot.as_text(document["load"]))
    reasons = _reasons(document["pods"], style)
    parts += [reasons] if reasons else []
    parts += [f"{style('Stopped')} {document['stopped']}"] if "stopped" in document else []
    parts.append(summary_line(document))
    return "\n\n".join(part for part in parts if part)


def as_names(document: dict[str, Any]) -> str:
    """One ``pod/name`` a line."""
    return "\n".join(f"pod/{pod['name']}" for pod in document["pods"])


def summary_line(document: dict[str, Any]) -> str:
    summary = document["summary"]
    counted = [(summary[state.lower()], state.lower()) for state in STATES if summary[state.lower()]]
    counted += [(summary[_field(state)], word) for state, word in ENDS.items() if _field(state) in summary]
    counts = ", ".join(f"{number} {word}" for number, word in counted)
    time = f"; {document['elapsed']:g} s of virtual time" if document["elapsed"] else ""
    pods, nodes = _counted(summary["pods"], "pod"), _counted(summary["nodes"], "node")
    failed = f"; {_counted(summary['errors'], 'pod')} with an error" if "errors" in summary else ""
    return f"{pods} on {nodes}: {counts or 'nothing to do'}{failed}{time}{_nobodys(document['pods'])}"


def _nobodys(pods: list[dict[str, Any]]) -> str:
    """What to add where pods wait, and none of them for a scheduler that is there."""
    waiting = [pod for pod in pods if pod["node"] is None or pod["boundAt"] is not None]
    if not waiting or any(pod["state"] != IGNORED for pod in waiting):
        return ""
    return f"; nothing was scheduled, no profile is for {', '.join(dict.fromkeys(pod['scheduler'] for pod in waiting))}"


def _counted(number: int, what: str) -> str:
    return f"{number} {what}" if number == 1 else f"{number} {what}s"


def _pod_table(pods: list[dict[str, Any]], wide: bool, style: Style) -> str:
    header = ["NAMESPACE", "NAME", "OWNER", "STATE", "NODE"]
    rows = [
        [pod["namespace"], pod["name"], pod["owner"] or "-", style(pod["state"]), pod["node"] or "-"] for pod in pods
    ]
    if wide:
        header += ["SCHEDULER", "ATTEMPTS", "BOUND-AT", "MESSAGE"]
        for row, pod in zip(rows, pods, strict=True):
            at = "-" if pod["boundAt"] is None else f"{pod['boundAt']:g}s"
            row += [pod["scheduler"], str(pod["attempts"]), at, pod["message"] or "-"]
    return table(header, rows) if pods else ""


def _node_table(nodes: list[dict[str, Any]], wide: bool) -> str:
    others = sorted({name for node in nodes for name in node["allocatable"]} - {CPU, MEMORY, "pods"}) if wide else []
    rows = [
        [node["name"], str(node["pods"]), *(_share(node, name) for name in (CPU, MEMORY, *others))] for node in nodes
    ]
    return table(["NODE", "PODS", "CPU", "MEMORY", *(name.upper() for name in others)], rows) if nodes else ""


def _share(node: dict[str, Any], resource: str) -> str:
    return f"{node['requested'].get(resource, '0')}/{node['allocatable'].get(resource, '0')}"


def _reasons(pods: list[dict[str, Any]], style: Style) -> str:
    """Pods that are not on a node, grouped by what there is to say about them."""
    groups: dict[tuple[str, str, tuple[str, ...]], list[dict[str, Any]]] = {}
    for pod in pods:
        if pod["message"]:
            details = tuple(text.details(pod["explanation"])) if "explanation" in pod else ()
            word = ERROR if "error" in pod else pod["state"]
            groups.setdefault((word, pod["message"], details), []).append(pod)
    lines = []
    for (state, message, details), members in groups.items():
        first = f"{members[0]['namespace']}/{members[0]['name']}"
        more = f" and {len(members) - 1} more" if len(members) > 1 else ""
        lines.append(f"{style(state)}: {first}{more}: {message}")
        lines += [f"  {line}".rstrip() for line in details]
    return "\n".join(lines)

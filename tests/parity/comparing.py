"""Compares what kube-scheduler did with what ``bayplan explain`` says. Parity tests and ``__main__`` call it.

Where kube-scheduler itself leaves the choice open, any choice it could have made is right: a node among those with the
highest total, and among preemption candidates that its rules cannot tell apart.
"""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any, TypeAlias

import yaml

from tests.parity.case import Case
from tests.parity.device_driving import GAVE_UP
from tests.parity.generating.device_style import STYLE as DEVICES
from tests.support.explaining import explain_documents

Explanation: TypeAlias = dict[str, Any]


def explain(case: Case) -> Explanation:
    """What Bayplan says about the pod of the case, asked about it alone."""
    return explain_documents(case.objects, case.namespace, case.pod)


def gave_up(case: Case) -> bool:
    """Did kube-scheduler run out of time?  Then there is no decision to compare with; Bayplan may have found one."""
    return case.result.message.endswith(GAVE_UP)


def compare(case: Case, explanation: Explanation) -> list[str]:
    """What differs, one sentence each; empty if they agree."""
    wanted = "Schedulable" if case.result.node else "Error" if _is_error(case) else "Unschedulable"
    if explanation.get("verdict") != wanted:
        return [f"verdict: kube-scheduler {wanted} {_outcome(case)}, bayplan {_said(explanation)}"]
    if _is_error(case):
        # Of several nodes with an error kube-scheduler tells the one that was looked at first, which is a matter of luck.
        return [] if case.result.message in explanation.get("errors", ()) else _compare_message(case, explanation)
    nodes = {one["name"]: one for one in explanation.get("nodes") or []}
    differences = _compare_feasible(case, nodes) + _compare_allocations(case, explanation)
    if case.result.node is None:
        return differences + _compare_message(case, explanation) + _compare_preemption(case, explanation)
    return differences + _compare_scores(case, nodes) + _compare_choice(case, explanation)


def _outcome(case: Case) -> str:
    return f"on {case.result.node}" if case.result.node else f"({case.result.message})"


def _said(explanation: Explanation) -> str:
    return f"{explanation.get('verdict')} on {explanation.get('node')} ({explanation.get('message') or ''})"


def _compare_feasible(case: Case, nodes: dict[str, Any]) -> list[str]:
    if case.result.feasible is None:
        return []
    theirs, ours = set(case.result.feasible), {name for name, one in nodes.items() if one.get("feasible")}
    differences = [
        f"{name}: feasible for kube-scheduler, for bayplan {_why(nodes.get(name))}" for name in theirs - ours
    ]
    differences += [f"{name}: feasible for bayplan, not for kube-scheduler" for name in ours - theirs]
    return sorted(differences)


def _is_error(case: Case) -> bool:
    return case.result.reason == "SchedulerError" and case.style == DEVICES


def _compare_allocations(case: Case, explanation: Explanation) -> list[str]:
    """The devices of each claim on the node that kube-scheduler chose, with all that goes with them."""
    if case.result.allocations is None or "allocations" not in explanation:
        return []
    theirs = {called: _plain(given) for called, given in case.result.allocations.items()}
    ours = {called: _plain(given) for called, given in explanation["allocations"].items()}
    return [
        f"claim {called!r}:\n  kube-scheduler {theirs.get(called)}\n  bayplan        {ours.get(called)}"
        for called in sorted({*theirs, *ours})
        if theirs.get(called) != ours.get(called)
    ]


def _plain(given: Any) -> Any:
    """Without the names of shares and the time, which are different each time."""
    if not isinstance(given, dict):
        return given
    plain = json.loads(json.dumps(given))
    plain.pop("allocationTimestamp", None)
    for result in plain.get("devices", {}).get("results", ()):
        if "shareID" in result:
            result["shareID"] = "some"
    return plain


def _why(node: dict[str, Any] | None) -> str:
    return "unknown" if node is None else f"{node.get('plugin')}: {', '.join(node.get('reasons') or [])}"


def _compare_message(case: Case, explanation: Explanation) -> list[str]:
    theirs, ours = case.result.message, explanation.get("message") or ""
    return [] if theirs == ours else [f"message:\n  kube-scheduler {theirs!r}\n  bayplan        {ours!r}"]


def _compare_scores(case: Case, nodes: dict[str, Any]) -> list[str]:
    """A plugin that one side left out counts as zero there, as it does in the total."""
    if case.result.scores is None:
        return []
    differences = []
    for name, total in sorted(case.result.totals().items()):
        ours = {plugin: score["weighted"] for plugin, score in (nodes.get(name, {}).get("scores") or {}).items()}
        theirs = {plugin: by_node[name] for plugin, by_node in case.result.scores.items()}
        for plugin in sorted({*ours, *theirs}):
            if ours.get(plugin, 0) != theirs.get(plugin, 0):
                scores = f"kube-scheduler {theirs.get(plugin, 0)}, bayplan {ours.get(plugin, 0)}"
                differences.append(f"{name}: {plugin} scores {scores}")
        if nodes.get(name, {}).get("total") != total:
            differences.append(f"{name}: total is kube-scheduler {total}, bayplan {nodes.get(name, {}).get('total')}")
    return differences


def best_nodes(case: Case) -> set[str]:
    """The nodes kube-scheduler could have picked."""
    totals = case.result.totals()
    best = max(totals.values(), default=0)
    return {name for name, total in totals.items() if total == best} or {str(case.result.node)}


def _compare_choice(case: Case, explanation: Explanation) -> list[str]:
    allowed = best_nodes(case)
    if explanation.get("node") in allowed:
        return []
    return [f"node: kube-scheduler one of {sorted(allowed)}, bayplan {explanation.get('node')}"]


def _compare_preemption(case: Case, explanation: Explanation) -> list[str]:
    preemption = explanation.get("preemption") or {}
    ours = (preemption.get("node"), sorted(preemption.get("victims") or []))
    theirs = (case.result.nominated_node, sorted(case.result.victims))
    if ours == theirs or (ours[0] != theirs[0] and ours[0] and theirs[0] and _is_tie(case, ours[1], theirs[1])):
        return []
    return [f"preemption: kube-scheduler {theirs[1]} on {theirs[0]}, bayplan {ours[1]} on {ours[0]}"]


def _is_tie(case: Case, ours: list[str], theirs: list[str]) -> bool:
    """Would kube-scheduler's rules call these two sets of victims equally bad? Budgets aside: how many of them are
    violated cannot be told from the victims alone."""
    return _badness(case, ours) == _badness(case, theirs)


def _badness(case: Case, victims: list[str]) -> tuple[int, int, int, str]:
    pods = {
        f"{one['metadata']['namespace']}/{one['metadata']['name']}": one for one in case.objects if one["kind"] == "Pod"
    }
    chosen = [pods[name] for name in victims]
    priorities = [one["spec"].get("priority", 0) for one in chosen]
    highest = max(priorities, default=0)
    starts = [
        one.get("status", {}).get("startTime", "now")
        for one, priority in zip(chosen, priorities, strict=True)
        if priority == highest
    ]
    return highest, sum(priority + 2**31 for priority in priorities), len(victims), min(starts, default="")


def write_mismatch(case: Case, differences: list[str], folder: Path) -> Path:
    """A manifest for ``bayplan explain -f`` with the differences as comments on top."""
    folder.mkdir(parents=True, exist_ok=True)
    path = folder / f"{case.name}.yaml"
    lines = [f"# bayplan explain pod {case.pod} -n {case.namespace} -f {path}"]
    lines += [f"# {line}" for difference in differences for line in difference.splitlines()]
    manifest = yaml.safe_dump(case.manifest(), sort_keys=False, width=1000)
    path.write_text("\n".join(lines) + "\n" + manifest)
    return path

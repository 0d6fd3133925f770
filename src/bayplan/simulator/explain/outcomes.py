"""
Explanations of all pods of a workload: pods that fare alike stand together, with one explanation for all of them.

``bayplan explain deployment/NAME`` prints what ``explain_subject`` and ``as_text`` give.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Sequence
from typing import Any

from bayplan.errors import InputError
from bayplan.objects.pod import Pod
from bayplan.simulator.explain import text
from bayplan.simulator.explain.explanation import API_VERSION, BOUND, SCHEDULABLE, explain_pod, known_subjects
from bayplan.simulator.explain.subject import POD, Subject, missing
from bayplan.simulator.world import World
from bayplan.text_layout import Style, listed, plain, table

MAX_SHOWN = 5
"""How many outcomes are told in full before "and 12 more"."""


Progress = Callable[[int, int], None]
"""Told how many pods have been judged, and how many there are."""


def explain_subject(world: World, subject: Subject, progress: Progress = lambda done, total: None) -> dict[str, Any]:
    """
    The document ``kind: Explanation`` of a pod, or ``kind: WorkloadExplanation`` of a workload.

    Raises:
        InputError: there is no such thing, it has no pods, or no profile is for them.
    """
    if subject.kind == POD:
        return explain_pod(world, subject.namespace, subject.name)
    pods = [
        record.pod
        for record in world.cluster.records.values()
        if not record.is_gone and subject.covers(record.pod, world.workloads)
    ]
    if pods:
        return _document(subject, _groups(world, pods, progress))
    known = known_subjects(world)
    if subject in known:
        raise InputError("has no pods, so there is nothing to explain", object=str(subject))
    raise missing(subject, known)


def is_good(document: dict[str, Any]) -> bool:
    """Whether every pod is bound or could be."""
    told = [document] if "verdict" in document else [group["explanation"] for group in document["groups"]]
    return all(each["verdict"] in (BOUND, SCHEDULABLE) for each in told)


def has_errors(document: dict[str, Any]) -> bool:
    """Whether a plugin failed for a pod."""
    told = [document] if "verdict" in document else [group["explanation"] for group in document["groups"]]
    return any("error" in each for each in told)


def _document(subject: Subject, groups: list[dict[str, Any]]) -> dict[str, Any]:
    verdicts: Counter[str] = Counter()
    for group in groups:
        verdicts[group["explanation"]["verdict"]] += len(group["pods"])
    return {
        "apiVersion": API_VERSION,
        "kind": "WorkloadExplanation",
        "workload": {"kind": subject.kind, "namespace": subject.namespace, "name": subject.name},
        "summary": {
            "pods": sum(verdicts.values()), **{verdict.lower(): number for verdict, number in verdicts.items()},
        },
        "groups": groups,
    }  # fmt: skip


def _groups(world: World, pods: Sequence[Pod], progress: Progress) -> list[dict[str, Any]]:
    """Those that need help first.  Each pod is judged: what a plugin goes by may differ from one to the next."""
    groups: dict[tuple[Any, ...], dict[str, Any]] = {}
    for done, pod in enumerate(pods, 1):
        told = explain_pod(world, pod.namespace, pod.name)
        # What a plugin raised is told with the name of the pod.
        outcome = told["verdict"], told["node"], told["message"].replace(pod.key, "")
        group = groups.setdefault(outcome, {"pods": [], "explanation": told})
        group["pods"].append(pod.name)
        progress(done, len(pods))
    return sorted(groups.values(), key=lambda group: group["explanation"]["verdict"] in (BOUND, SCHEDULABLE))


# -- for people --


def as_text(document: dict[str, Any], *, top: int = 3, style: Style = plain) -> str:
    """The verdict of a pod and what follows; or how a workload's pods fare, and then the same for each outcome."""
    if "verdict" in document:
        return text.as_text(document, top=top, style=style)
    groups = document["groups"]
    parts = [_heading(document), _overview(groups, style)]
    parts += [
        text.as_text(group["explanation"], top=top, style=style, others=len(group["pods"]) - 1)
        for group in groups[:MAX_SHOWN]
    ]
    if len(groups) > MAX_SHOWN:
        parts.append(f"and {len(groups) - MAX_SHOWN} more outcomes; -o json has them all")
    if document["summary"].get(SCHEDULABLE.lower(), 0) > 1:
        parts.append("Each pod is judged alone: whether there is room for all at once is what bayplan simulate tells.")
    return "\n\n".join(parts)


def _heading(document: dict[str, Any]) -> str:
    summary, of = dict(document["summary"]), document["workload"]
    pods = summary.pop("pods")
    counts = ", ".join(f"{number} {verdict}" for verdict, number in summary.items())
    return f"{of['kind']} {of['namespace']}/{of['name']}: {pods} pod{'' if pods == 1 else 's'}: {counts}"


def _overview(groups: list[dict[str, Any]], style: Style) -> str:
    rows = [
        [str(len(group["pods"])), style(told["verdict"]), told["node"] or "-", listed(group["pods"], text.MAX_NAMES)]
        for group in groups
        for told in (group["explanation"],)
    ]
    return table(["PODS", "VERDICT", "NODE", "WHICH"], rows)

"""Counts which rules a set of cases exercised, so that thin coverage is seen. ``__main__`` prints it."""

from __future__ import annotations

import json
import re
from collections import Counter
from collections.abc import Callable, Iterable, Iterator

from tests.parity.case import Case, Object
from tests.parity.comparing import best_nodes
from tests.parity.device_driving import device_claims

_COUNTED = re.compile(r"(\d+) ([^,.]+(?:\.[^,. ][^,.]*)*)")
# A word that shows up in the pod's spec as stored, and what it stands for.
POD_FIELDS = (
    "matchFields",
    '"Gt"',
    '"Lt"',
    '"NotIn"',
    '"DoesNotExist"',
    '"nodeSelector": ',
    "minDomains",
    "matchLabelKeys",
    "mismatchLabelKeys",
    '"nodeTaintsPolicy": "Honor"',
    '"nodeAffinityPolicy": "Ignore"',
    "DoNotSchedule",
    "ScheduleAnyway",
    "namespaceSelector",
    "hostPort",
    "hostIP",
    "UDP",
    "SCTP",
    "overhead",
    "initContainers",
    "example.com/gpu",
    "hugepages",
    "ephemeral-storage",
    "ownerReferences",
    "restartPolicyRules",
    '"image": {',
)

CLAIM_FIELDS = (
    "firstAvailable",
    '"All"',
    "adminAccess",
    "matchAttribute",
    "distinctAttribute",
    '"capacity"',
    "tolerations",
    '"expression"',
    '"config"',
    '"allocation"',
)
GIVEN_FIELDS = (
    "shareID",
    "consumedCapacity",
    "adminAccess",
    "bindingConditions",
    "tolerations",
    "nodeSelector",
    "FromClass",
    "FromClaim",
    "requestMappings",
)


class Tally:
    """Counts cases as they go by, so that long runs need not keep them."""

    def __init__(self) -> None:
        self._count = 0
        self._parts: dict[str, tuple[Counter[str], Callable[[Case], Iterable[str]]]] = {
            title: (Counter(), read)
            for title, read in (
                ("styles", lambda case: [case.style]),
                ("outcomes", _outcomes),
                ("reasons, in cases", lambda case: _reasons(case, 0)),
                ("reasons while preempting, in cases", lambda case: _reasons(case, 1)),
                ("plugins whose scores differ between nodes, in cases", _telling),
                ("fields of the judged pod, in cases", _fields),
                ("fields of its claims for devices, in cases", _claimed),
                ("fields of what they were given, in cases", _given),
            )
        }

    def watch(self, cases: Iterable[Case]) -> Iterator[Case]:
        """The same cases, counted."""
        for case in cases:
            self._count += 1
            for counts, read in self._parts.values():
                counts.update(read(case))
            yield case

    def lines(self) -> list[str]:
        """For people: outcomes, reasons, scores, fields."""
        lines = [f"{self._count} cases"]
        for title, (counts, _) in self._parts.items():
            lines.append(f"{title}:")
            lines += [
                f"  {count:5} {what}" for what, count in sorted(counts.items(), key=lambda one: (-one[1], one[0]))
            ]
        return lines


def _outcomes(case: Case) -> Iterable[str]:
    result = case.result
    if result.node:
        if result.feasible is None:
            yield "bound to the nominated node without a search"
        else:
            yield "bound, one node feasible" if result.scores is None else "bound, several nodes feasible"
        if result.scores and len(best_nodes(case)) > 1:
            yield "bound, several best nodes"
    elif result.nominated_node:
        yield f"preempts {'one pod' if len(result.victims) == 1 else 'several pods'}"
        if len(result.victims) != len(result.evicted):
            yield "preempts pods that were terminating already"
    else:
        yield f"refused ({result.reason})"
    if any(_waits_nominated(case, one) for one in case.objects):
        yield "judged beside a nominated pod"


def _waits_nominated(case: Case, document: Object) -> bool:
    if document["kind"] != "Pod" or document["metadata"]["name"] == case.pod:
        return False
    is_ours = document["spec"].get("schedulerName") == "default-scheduler"
    return is_ours and "nominatedNodeName" in document.get("status", {})


def _reasons(case: Case, part: int) -> set[str]:
    """The reasons before (part 0) or after (part 1) the word preemption."""
    parts = [*case.result.message.split("preemption: ", 1), ""]
    text = re.sub(r"0/\d+ nodes are available: ", "", parts[part])
    found = {reason.strip() for _, reason in _COUNTED.findall(text)}
    return found or ({text.strip()} if text.strip() else set())


def _telling(case: Case) -> set[str]:
    return {plugin for plugin, by_node in (case.result.scores or {}).items() if len(set(by_node.values())) > 1}


def _claimed(case: Case) -> Iterable[str]:
    names = set(device_claims(case.the_pod()).values())
    claims = [
        one
        for one in case.objects
        if one["kind"] == "ResourceClaim"
        and one["metadata"]["namespace"] == case.namespace
        and one["metadata"]["name"] in names
    ]
    text = json.dumps(claims)
    yield from (field for field in CLAIM_FIELDS if field in text)
    if len(claims) > 1:
        yield "several claims"
    if any("ownerReferences" not in one["metadata"] for one in claims):
        yield "a claim that others may use too"


def _given(case: Case) -> Iterable[str]:
    text = json.dumps(case.result.allocations or {})
    yield from (field for field in GIVEN_FIELDS if field in text)


def _fields(case: Case) -> set[str]:
    pod = case.the_pod()
    text = json.dumps({"spec": pod["spec"], "metadata": pod["metadata"]})
    fields = {field for field in POD_FIELDS if field in text}
    affinity = pod["spec"].get("affinity", {})
    fields |= {f"{kind} {when[:9]}" for kind, terms in affinity.items() for when in terms}
    if any(one.get("restartPolicy") == "Always" for one in pod["spec"].get("initContainers", [])):
        fields.add("sidecars")
    if "resources" in pod["spec"]:
        fields.add("pod-level resources")
    if "topologySpreadConstraints" in pod["spec"]:
        fields.add(f"{min(2, len(pod['spec']['topologySpreadConstraints']))}+ spread constraints")
    if not any(one.get("resources") for one in pod["spec"]["containers"]):
        fields.add("no requests")
    return fields

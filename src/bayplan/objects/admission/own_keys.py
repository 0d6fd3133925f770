"""The annotations and labels of the domain bayplan.io: which there are, and on which objects they are read.

`loading` asks about what comes from files, `placement` about Placements. One that is not read is a mistake: it is
misspelt, or it stands where it has no effect.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from typing import Any

from bayplan.errors import InputError
from bayplan.objects.files.manifests import AT, UNTIL
from bayplan.objects.mistakes import Mistakes, mistake, nearest, one_of
from bayplan.objects.spare import CLASS_LABEL, LEDGER, SPARE
from bayplan.objects.third_party.kubevirt import STICKY_NODE
from bayplan.objects.third_party.placement import PLUGINS_ANNOTATION, REPLICAS_ANNOTATION, SPREAD_ANNOTATION

DOMAIN = "bayplan.io"

ARRIVES = "simulation.bayplan.io/arrives"
"""How long after the start a pod appears."""
INTERVAL = "simulation.bayplan.io/interval"
"""How long after the one before it each further pod of a workload appears."""
USAGE = "simulation.bayplan.io/usage"
"""What a pod, or a node beside its pods, really uses in a simulation."""
DIVISION = "placement.bayplan.io/replicas-by-cluster"
"""How many replicas each cluster of a page of decisions has."""
REBALANCE = "bayplan.io/rebalance"
"""Of pods: "false" leaves the pod where it is, "true" moves it although it has local storage."""
OWN_DELETION_COST = "bayplan.io/pod-deletion-cost"
"""Beside a cost that we wrote, with the same value."""
CLOSED_FOR_ROOM = "bayplan.io/closed-for-room"
"""Of nodes: closed while a plan makes room on them; whoever carries the plan out opens them again."""

_POD, _ANY = ("Pod",), ()


@dataclass(frozen=True, slots=True)
class _Own:
    kinds: tuple[str, ...] = _ANY
    """The kinds on which it is read; pods of templates are pods, too."""
    values: tuple[str, ...] = ()
    """What it may say; anything if there is none."""


ANNOTATIONS = {
    AT: _Own(),
    UNTIL: _Own(),
    ARRIVES: _Own(_POD),
    INTERVAL: _Own(_POD),
    USAGE: _Own(("Pod", "Node")),
    SPREAD_ANNOTATION: _Own(("Placement",)),
    REPLICAS_ANNOTATION: _Own(("Placement",)),
    PLUGINS_ANNOTATION: _Own(("Placement",)),
    DIVISION: _Own(("PlacementDecision",)),
    REBALANCE: _Own(_POD, ("true", "false")),
    OWN_DELETION_COST: _Own(_POD),
    STICKY_NODE: _Own(),
    LEDGER: _Own(("Node",)),
    CLOSED_FOR_ROOM: _Own(("Node",), ("true",)),
}
LABELS = {CLASS_LABEL: _Own(_POD, (SPARE,))}
_TEMPLATES = {
    **dict.fromkeys(
        ("DaemonSet", "Deployment", "Job", "ReplicaSet", "ReplicationController", "StatefulSet"),
        ("spec", "template", "metadata"),
    ),
    "CronJob": ("spec", "jobTemplate", "spec", "template", "metadata"),
}


def check_own_keys(kind: str, raw: Mapping[str, Any]) -> list[InputError]:
    """Every annotation and label of our own that would not be read of an object as it was written."""
    found = [*check_metadata(kind, raw.get("metadata"), "metadata")]
    path = _TEMPLATES.get(kind, ())
    if path:
        part: Any = raw
        for step in path:
            part = part.get(step) if isinstance(part, Mapping) else None
        found += check_metadata("Pod", part, ".".join(path), is_template=True)
    return found


def check_metadata(kind: str, meta: Any, field: str, *, is_template: bool = False) -> Mistakes:
    """The same for one `metadata`."""
    if not isinstance(meta, Mapping):
        return
    for name, own, others in (("annotations", ANNOTATIONS, LABELS), ("labels", LABELS, ANNOTATIONS)):
        written = meta.get(name)
        for key, value in _ours(written if isinstance(written, Mapping) else {}):
            at = f"{field}.{name}[{key}]"
            if key in others:
                right = "labels" if name == "annotations" else "annotations"
                yield mistake(at, f"nobody reads it among {name}", f"write it under {field}.{right}")
            elif key not in own:
                if key.startswith(f"{STICKY_NODE}-") and name == "annotations":
                    continue
                guess = nearest(key, own) or nearest(key, others)
                fix = f'did you mean "{guess}"?' if guess else "remove it, or use a domain of your own"
                yield mistake(at, f"nobody reads it, and {DOMAIN} is for keys that are read", fix)
            elif is_template and key == AT:
                yield mistake(at, "a pod of a workload cannot change", f"write {ARRIVES}, or it on the workload")
            elif own[key].kinds and kind not in own[key].kinds:
                yield _misplaced(at, kind, own[key].kinds, name)
            elif own[key].values and isinstance(value, str):
                yield from one_of(at, value, own[key].values)


def _ours(written: Mapping[Any, Any]) -> Iterator[tuple[str, Any]]:
    for key, value in written.items():
        if isinstance(key, str) and DOMAIN in key:
            domain = key.partition("/")[0]
            if domain == DOMAIN or domain.endswith(f".{DOMAIN}"):
                yield key, value


def _misplaced(at: str, kind: str, kinds: tuple[str, ...], name: str) -> InputError:
    problem = f"nobody reads it on a {kind}"
    if "Pod" in kinds and kind in _TEMPLATES:
        return mistake(at, problem, f"write it under {'.'.join(_TEMPLATES[kind])}.{name}")
    return mistake(at, problem, f"write it on a {' or a '.join(kinds)}")

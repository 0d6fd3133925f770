"""What is no mistake and still worth a line: other spellings, a policy label in the wrong place.

`loading` calls `notes` for everything that comes from a file.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any

from bayplan.objects import workload
from bayplan.objects.meta import ApiObject
from bayplan.objects.pod import Pod
from bayplan.objects.third_party.kosmos import (
    POLICY_LABEL,
    POLICY_LABEL_ALIAS,
    ClusterDistributionPolicy,
    DistributionPolicy,
    WorkloadPolicy,
)
from bayplan.objects.third_party.kosmos_validating import unusual_node_types, unusual_spellings

_TEMPLATED = (
    workload.Deployment,
    workload.ReplicaSet,
    workload.StatefulSet,
    workload.ReplicationController,
    workload.Job,
)
_LABELS = (POLICY_LABEL, POLICY_LABEL_ALIAS)


def notes(thing: ApiObject) -> Iterator[str]:
    """Lines about one object; most have none."""
    if isinstance(thing, WorkloadPolicy):
        yield from unusual_spellings(thing)
    elif isinstance(thing, DistributionPolicy | ClusterDistributionPolicy):
        yield from unusual_node_types(thing)
    elif isinstance(thing, Pod):
        yield from _alias("metadata.labels", thing.labels)
    elif isinstance(thing, _TEMPLATED):
        yield from _template(thing)


def _template(thing: Any) -> Iterator[str]:
    in_template = thing.spec.template.metadata.labels or {}
    yield from _alias("spec.template.metadata.labels", in_template)
    for label in _LABELS:
        if label in thing.labels and not any(each in in_template for each in _LABELS):
            yield (
                f"metadata.labels.{label} has no effect: only labels of pods are read; "
                f"write it under spec.template.metadata.labels"
            )


def _alias(field: str, written: Mapping[str, str]) -> Iterator[str]:
    if POLICY_LABEL_ALIAS in written and POLICY_LABEL not in written:
        yield f"{field}.{POLICY_LABEL_ALIAS} is read as {POLICY_LABEL}; write that"

"""
Workload policies that have no effect on the pods of the files: nobody names them, or they select nobody.

``world`` warns of what is found here.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator

from msgspec.structs import replace

from bayplan.objects.pod import Pod
from bayplan.objects.third_party.kosmos import POLICY_LABEL, POLICY_LABEL_ALIAS, WorkloadPolicy
from bayplan.objects.workload import Workload
from bayplan.plugins.leaf_node_workload_policy.noticing import advice, overlooking, usable
from bayplan.simulator.loading import Given

_LABELS = (POLICY_LABEL, POLICY_LABEL_ALIAS)


def without_effect(given: Given, pods: Iterable[Pod], *, is_all: bool) -> Iterator[str]:
    """A line for each policy that counts pods which name none, and, if these are all pods, that counts nobody."""
    things = [*given.objects, *(each for _, each in given.later)]
    policies = usable(each for each in things if isinstance(each, WorkloadPolicy))
    known = [*pods, *_later(given)] if policies and is_all else [*pods]
    # Whoever labels a workload instead of its pods is told so already.
    labelled = {each.labels.get(label) for each in things if isinstance(each, Workload) for label in _LABELS}
    for policy, rules in policies:
        counted = [pod for pod in known if pod.namespace == policy.namespace and rules.selector.matches(pod.labels)]
        unnamed = [pod for pod in counted if any(True for _ in overlooking(pod, [(policy, rules)]))]
        place = given.place(policy)
        where = f"{place.source}:{place.line}: WorkloadPolicy {policy.key}" if place else f"WorkloadPolicy {policy.key}"
        if unnamed and policy.name not in labelled:
            who = f"{len(unnamed)} pods match" if len(unnamed) > 1 else f"{unnamed[0].key} matches"
            yield f"{where}: {who} its labelSelector without naming it, so it has no say there; {advice(policy)}"
        elif is_all and not counted:
            yield f"{where}: it has no effect: no pod matches its labelSelector"


def _later(given: Given) -> Iterator[Pod]:
    """Pods that come later, and one for each workload that does."""
    for _, thing in given.later:
        if isinstance(thing, Pod):
            yield thing
        elif isinstance(thing, Workload):
            template = thing.spec.template
            meta = replace(thing.metadata, labels=template.metadata.labels)
            yield Pod(metadata=meta, spec=template.spec)

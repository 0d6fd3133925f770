"""A small cluster of two or three regions for the rebalancer's tests, and the parts that look at it."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

from bayplan.controllers.rebalancer.observed import Observed
from bayplan.controllers.rebalancer.planner import Plan, Planner
from bayplan.controllers.rebalancer.survey import Survey, Surveyor
from bayplan.controllers.rebalancer.terms import Terms, terms_of
from bayplan.objects.third_party.kosmos import WorkloadPolicy
from bayplan.simulator.rebalance_plan import observed_of
from bayplan.simulator.world import World
from tests.simulator.support import Manifest, node, owned_by, pod_spec, world

LABEL = "workload-policy/kosmos.io"


def region(name: str, where: str | None, cpu: str = "8", **spec: Any) -> Manifest:
    return node(name, cpu, labels={} if where is None else {"region": where}, **spec)


def policy(numbers: dict[str, Any], name: str = "regions", **spec: Any) -> Manifest:
    listed = [
        {"name": each, **(number if isinstance(number, dict) else {"replicas": number})}
        for each, number in numbers.items()
    ]
    return {
        "apiVersion": "kosmos.io/v1alpha1",
        "kind": "WorkloadPolicy",
        "metadata": {"name": name, "namespace": "default"},
        "spec": {
            "topologyKey": "region",
            "labelSelector": {"matchLabels": {"app": "web"}},
            "allocationPolicy": listed,
            "rebalance": {"mode": "Auto"},
            **spec,
        },
    }


def replica_set(replicas: int, name: str = "web", kind: str = "ReplicaSet") -> Manifest:
    labels = {"app": "web", LABEL: "regions"}
    return {
        "apiVersion": "apps/v1",
        "kind": kind,
        "metadata": {"name": name, "namespace": "default"},
        "spec": {
            "replicas": replicas,
            "selector": {"matchLabels": {"app": "web"}},
            "template": {"metadata": {"labels": labels}, "spec": pod_spec()},
        },
    }


def pod(
    name: str,
    on: str = "",
    *,
    owner: str | None = "web",
    kind: str = "ReplicaSet",
    cpu: str = "100m",
    annotations: dict[str, str] | None = None,
    labels: dict[str, str] | None = None,
    ready: bool = True,
    meta: Manifest | None = None,
    **spec: Any,
) -> Manifest:
    metadata: Manifest = {
        "name": name,
        "namespace": "default",
        "labels": {"app": "web", LABEL: "regions", **(labels or {})},
        "annotations": annotations or {},
        **(meta or {}),
    }
    if owner is not None:
        metadata["ownerReferences"] = owned_by(kind, owner)
    status = {"phase": "Running", "conditions": [{"type": "Ready", "status": "True" if ready else "False"}]}
    given = pod_spec(cpu, **spec) | ({"nodeName": on} if on else {})
    made = {"apiVersion": "v1", "kind": "Pod", "metadata": metadata, "spec": given}
    return made | ({"status": status} if on else {})


def pods(counts: dict[str, int], **more: Any) -> list[Manifest]:
    """So many pods on each node."""
    return [pod(f"{on}-{number}", on, **more) for on, count in counts.items() for number in range(count)]


@dataclass
class Looked:
    """A cluster, and what was made of its one policy."""

    world: World
    observed: Observed
    surveyor: Surveyor
    planner: Planner
    survey: Survey
    terms: Terms

    def plan(self, **more: Any) -> Plan:
        return self.planner.plan(self.survey, self.terms, self.world.clock.now(), **more)

    def moved(self, **more: Any) -> list[tuple[str, str, str]]:
        return [(move.pod.name, move.source, move.target) for move in self.plan(**more).moves]


def looked(*manifests: Manifest, **options: Any) -> Looked:
    made = world(*manifests, **options)
    observed = observed_of(made)
    surveyor = Surveyor(observed)
    (found,) = observed.policies()
    assert isinstance(found, WorkloadPolicy)
    survey = surveyor.survey(found)
    return Looked(made, observed, surveyor, Planner(observed, surveyor), survey, terms_of(found, survey.expected))


REGIONS = (region("a1", "regionA"), region("b1", "regionB"))

"""
More pods of a kind: copies of a pod, or a workload that grows.

``filling`` asks for as many as fit, ``buying`` for as many as are wanted.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from msgspec.structs import replace

from bayplan.errors import InputError
from bayplan.objects import kinds
from bayplan.objects.admission.defaulting import stable_uid
from bayplan.objects.meta import ApiObject
from bayplan.objects.pod import Pod
from bayplan.objects.workload import Scalable, StatefulSet, Workload
from bayplan.simulator.world import World


@dataclass(frozen=True, slots=True)
class Kind:
    """What pods are asked about, and what comes with them."""

    thing: Pod | Scalable
    beside: tuple[ApiObject, ...] = ()

    @property
    def replicas(self) -> int:
        """How many its file asks for."""
        if isinstance(self.thing, Pod):
            return 1
        return 1 if self.thing.spec.replicas is None else self.thing.spec.replicas


def kind_among(objects: Sequence[ApiObject], source: str) -> Kind:
    """The one pod or workload among what a file holds; the rest is applied beside it."""
    asked = [each for each in objects if isinstance(each, Pod | Workload)]
    if len(asked) != 1:
        found = f"found {len(asked)}" if asked else "found none"
        problem = f"expected one Pod or workload, {found}"
        raise InputError(problem, source=source, field="--pod", fix="write one Pod, Deployment or StatefulSet")
    thing = asked[0]
    if not isinstance(thing, Pod | Scalable):
        problem = f"a {kinds.kind_of(thing)} cannot grow"
        raise InputError(problem, source=source, field="--pod", fix="write a Pod with its template")
    if isinstance(thing, Pod) and thing.node_name:
        raise InputError("has a node already", source=source, field="spec.nodeName", fix="leave it out")
    return Kind(thing, tuple(each for each in objects if each is not thing))


class MorePods:
    """Makes pods of one kind in a world, and knows which they are."""

    def __init__(self, world: World, kind: Kind, *, may_preempt: bool) -> None:
        self._world = world
        self._kind = kind
        self._may_preempt = may_preempt
        self.made: list[str] = []
        """Their uids."""
        self.example: Pod | None = None
        """One of them, as its file has it."""
        self.present = 0
        """How many pods its workload has already; they stay."""

    def begin(self) -> None:
        """What comes beside them is there, and a workload that wants none yet, unless it runs already."""
        thing = self._kind.thing
        if isinstance(thing, Pod) or self._world.workloads.knows(thing):
            self._world.changes.play([(True, each) for each in self._kind.beside])
            if not isinstance(thing, Pod):
                self._refuse_rollout(thing)
                self.present = self._world.workloads.grow_from(thing, self._world.cluster.living())
            return
        spec = replace(thing.spec, replicas=0)
        if isinstance(thing, StatefulSet):
            spec = replace(spec, pod_management_policy="Parallel")
        self._world.changes.play([(True, each) for each in (*self._kind.beside, thing.evolve(spec=spec))])

    def _refuse_rollout(self, thing: Scalable) -> None:
        if not self._world.workloads.has_template(thing):
            problem = f"{kinds.kind_of(thing)} {thing.key} runs already with another pod template"
            raise InputError(problem, field="--pod", fix="give it another name, or ask what-if --apply")

    def make(self, count: int) -> None:
        thing = self._kind.thing
        if isinstance(thing, Pod):
            for _ in range(count):
                self._world.cluster.add_pod(self._taken(copy_of(thing, len(self.made) + 1)))
        else:
            wanted = replace(thing.spec, replicas=self.present + len(self.made) + count)
            self._world.changes.rollouts.update(thing.evolve(spec=wanted), self._taken)

    def _taken(self, pod: Pod) -> Pod:
        self.example = pod
        self.made.append(pod.uid)
        return pod if self._may_preempt else pod.evolve(spec=replace(pod.spec, preemption_policy="Never"))


def copy_of(pod: Pod, number: int) -> Pod:
    name = f"{pod.name}-{number}"
    return pod.evolve(metadata=replace(pod.metadata, name=name, uid=stable_uid("Pod", pod.namespace, f"{name}#fit")))

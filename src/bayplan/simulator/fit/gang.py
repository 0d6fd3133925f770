"""
Pods that are wanted together: several Pods, or all pods of workloads, as one file has them.

``bayplan fit --make-room`` reads one with ``gang_among`` and asks for room for all of its pods.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from msgspec.structs import replace

from bayplan.errors import InputError
from bayplan.objects import kinds
from bayplan.objects.meta import ApiObject
from bayplan.objects.pod import Pod
from bayplan.objects.workload import Job, Scalable, StatefulSet, Workload
from bayplan.simulator.fit.more_pods import copy_of
from bayplan.simulator.world import World

Member = Pod | Scalable | Job


@dataclass(frozen=True, slots=True)
class Gang:
    """What makes the pods, and what comes with them."""

    members: tuple[Member, ...]
    beside: tuple[ApiObject, ...] = ()
    count: int | None = None
    """So many pods instead of as many as its one member says."""

    @property
    def objects(self) -> tuple[ApiObject, ...]:
        return (*self.members, *self.beside)

    def pods(self, world: World) -> list[Pod]:
        """They come into a world that is at rest, and wait there: they are only asked about."""
        members = [_at_once(member) for member in self._sized()]
        world.changes.play([(True, each) for each in (*self.beside, *members)])
        world.deliver()
        waiting = (pod for pod in world.cluster.living() if not pod.node_name)
        found = [pod for pod in waiting if any(_is_of(world, pod, member) for member in members)]
        if not found:
            raise InputError("makes no pods that wait for a node", field="--pod", fix="write what needs room")
        return found

    def _sized(self) -> Sequence[Member]:
        if self.count is None:
            return self.members
        (member,) = self.members
        match member:
            case Pod():
                return [copy_of(member, number) for number in range(1, self.count + 1)]
            case Job():
                spec = replace(member.spec, parallelism=self.count, completions=self.count)
                return [member.evolve(spec=spec)]
            case _:
                return [member.evolve(spec=replace(member.spec, replicas=self.count))]


def gang_among(objects: Sequence[ApiObject], source: str, count: int | None = None) -> Gang:
    """The pods and workloads among what a file holds; the rest is applied beside them."""
    asked = [each for each in objects if isinstance(each, Pod | Workload)]
    if not asked:
        raise InputError("holds no Pod and no workload", source=source, field="--pod", fix="write what needs room")
    for each in asked:
        if not isinstance(each, Member):
            problem = f"a {kinds.kind_of(each)} is not made room for"
            fix = "write Pods, a Job, a Deployment or a StatefulSet"
            raise InputError(problem, source=source, field="--pod", fix=fix)
        if isinstance(each, Pod) and each.node_name:
            raise InputError("has a node already", source=source, field="spec.nodeName", fix="leave it out")
    if count is not None and len(asked) > 1:
        problem = f"{source} holds {len(asked)} Pods and workloads"
        raise InputError(problem, field="--count", fix="leave it out, or write one of them")
    members = tuple(each for each in asked if isinstance(each, Member))
    return Gang(members, tuple(each for each in objects if each not in asked), count)


def _at_once(member: Member) -> Member:
    """One that makes its pods one after the other is asked about as a whole."""
    if not isinstance(member, StatefulSet):
        return member
    parallel: StatefulSet = member.evolve(spec=replace(member.spec, pod_management_policy="Parallel"))
    return parallel


def _is_of(world: World, pod: Pod, member: Member) -> bool:
    if pod.namespace != member.namespace:
        return False
    if isinstance(member, Pod):
        return pod.name == member.name
    return (kinds.kind_of(member), member.name) in world.workloads.owners(pod)

"""
Workloads become pods, as the real controllers would make them; what they made and lose they make again.

``world`` gives it everything in the files; ``cluster`` asks it what follows when a pod is bound or gone.  How
each kind makes its pods stands in ``controllers``.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence

from bayplan.objects.admission.defaulting import Classes
from bayplan.objects.meta import ApiObject, OwnerReference
from bayplan.objects.node import Node
from bayplan.objects.pod import Pod
from bayplan.objects.third_party.kubevirt import INSTANCE, MACHINE, VirtualMachineInstance
from bayplan.objects.workload import (
    DaemonSet,
    Deployment,
    Job,
    ReplicaSet,
    ReplicationController,
    Scalable,
    StatefulSet,
)
from bayplan.simulator.controllers.daemons import DaemonPods
from bayplan.simulator.controllers.deployments import HASH_LABEL, Deployments
from bayplan.simulator.controllers.generated_names import Names
from bayplan.simulator.controllers.pod_makers import (
    REVISION_LABEL,
    Controller,
    JobPods,
    PodMaker,
    Replicas,
    Step,
    View,
    same_template,
)
from bayplan.simulator.controllers.stateful_sets import StatefulPods

Key = tuple[str, str, str]
"""Kind, namespace and name."""

Updatable = Scalable | DaemonSet
"""What may get another size or another template."""


class Workloads:
    """Every workload of a simulation, and the pods each looks after."""

    def __init__(self, objects: Sequence[ApiObject], seed: int = 0) -> None:
        self.made: list[ApiObject] = []
        """Objects that controllers add beside pods: ReplicaSets and claims."""
        self.names = Names(seed)
        self._maker = PodMaker(Classes.among(objects), self.names)
        self.nodes = {each.name: each for each in objects if isinstance(each, Node)}
        """As they are now."""
        self._pods = [each for each in objects if isinstance(each, Pod)]
        self._owners = {key_of(each): each for each in objects if isinstance(each, Job | VirtualMachineInstance)}
        """What owns pods and may have an owner itself, beside ReplicaSets."""
        self._owned: dict[Key, list[Pod]] = {}
        for each in objects:
            self.names.take(type(each).__name__, each.namespace, each.name)
        for pod in self._pods:
            owner = pod.controller
            if owner is not None and not pod.is_terminal and not pod.is_terminating:
                self._owned.setdefault((owner.kind, pod.namespace, owner.name), []).append(pod)
        self._controllers: dict[Key, Controller] = {}
        sets = (each for each in objects if isinstance(each, ReplicaSet))
        self._deployments = Deployments(
            sets, self.names, self._maker.classes, self._hash_of_existing, self._replicas_of
        )
        self._order: list[Pod | Key] = []
        for each in objects:
            self._take(each)

    def begin(self) -> Iterator[Pod]:
        """The pods at the start: those in the files and those that are made, each where its document stands."""
        for each in self._order:
            if isinstance(each, Pod):
                yield each
            else:
                yield from self._controllers[each].begin()

    def bound(self, pod: Pod) -> Iterable[Pod]:
        """The pods that appear because this one is on a node now."""
        controller = self._controller_of(pod)
        return controller.bound(pod) if controller is not None else ()

    def gone(self, pod: Pod) -> Iterable[Pod]:
        """The pods that appear because this one is no more."""
        controller = self._controller_of(pod)
        return controller.gone(pod) if controller is not None else ()

    def owner(self, pod: Pod) -> str | None:
        """Who looks after a pod, as people think of it: ``Deployment/web`` rather than its ReplicaSet."""
        owners = self.owners(pod)
        if not owners:
            return None
        kind, name = owners[1] if owners[0][0] == "ReplicaSet" and len(owners) > 1 else owners[0]
        return f"{kind}/{name}"

    def owners(self, pod: Pod) -> list[tuple[str, str]]:
        """Kind and name of who looks after a pod, of who looks after that one, and so on."""
        found: list[tuple[str, str]] = []
        owner = _named(pod.controller)
        while owner is not None and owner not in found:
            found.append(owner)
            owner = self._above(pod, *owner)
        return found

    def _above(self, pod: Pod, kind: str, name: str) -> tuple[str, str] | None:
        """Who looks after an owner of a pod; by its name, where files leave the object itself out."""
        replica_set = self._deployments.sets.get(f"{pod.namespace}/{name}") if kind == "ReplicaSet" else None
        known = replica_set or self._owners.get((kind, pod.namespace, name))
        if known is not None:
            return _named(known.controller)
        digest = pod.labels.get(HASH_LABEL)
        if kind == "ReplicaSet" and digest and name.endswith(f"-{digest}"):
            return "Deployment", name.removesuffix(f"-{digest}")
        return (MACHINE, name) if kind == INSTANCE else None

    def size(self, thing: ApiObject) -> int | None:
        """How many pods a workload wants now; None if no controller looks after it."""
        if isinstance(thing, Deployment):
            known = self._deployments.known.get(thing.key)
            return None if known is None else known.spec.replicas
        controller = self._controllers.get(key_of(thing))
        return None if controller is None else controller.wanted

    def scale(self, pod: Pod) -> tuple[str, int] | None:
        """The controller of a pod and how many pods it wants; a Deployment stands for its ReplicaSets."""
        controller = self._controller_of(pod)
        if controller is None:
            return None
        above = controller.owner.controller
        deployment = self._deployments.known.get(f"{pod.namespace}/{above.name}") if above is not None else None
        if deployment is not None and isinstance(controller, Replicas):
            return f"Deployment/{deployment.key}", deployment.spec.replicas or 0
        return f"{type(controller.owner).__name__}/{controller.owner.key}", controller.wanted

    # -- what changes --

    def update(self, thing: Updatable, view: View) -> Step:
        """A workload says something else now: what follows at once.  What follows later, ``roll`` says."""
        if isinstance(thing, Deployment):
            return self._deployments.update(thing, view)
        controller, own = self._controllers[key_of(thing)], self.pods_of(thing, view)
        match controller, thing:
            case StatefulPods(), StatefulSet():
                return controller.update(thing, own)
            case DaemonPods(), DaemonSet():
                return controller.update(thing, own, self.nodes.values())
            case Replicas(), ReplicaSet() | ReplicationController():
                if isinstance(thing, ReplicaSet):
                    self._deployments.sets[thing.key] = thing
                return controller.update(thing, own)
        raise AssertionError(f"{key_of(thing)} has a controller of its kind")

    def roll(self, thing: Updatable, view: View) -> Step:
        """The next step of a rollout; nothing if it has to wait."""
        if isinstance(thing, Deployment):
            return self._deployments.roll(thing, view)
        return self._controllers[key_of(thing)].roll(self.pods_of(thing, view), view)

    def is_rolled(self, thing: Updatable, view: View) -> bool:
        """Whether all its pods are as it says, and ready."""
        if isinstance(thing, Deployment):
            return self._deployments.is_rolled(thing, view)
        return self._controllers[key_of(thing)].is_rolled(self.pods_of(thing, view), view)

    def pods_of(self, thing: Updatable, view: View) -> list[Pod]:
        owners: list[ApiObject] = [*self._deployments.of(thing)] if isinstance(thing, Deployment) else [thing]
        return [pod for each in owners for pod in view.owned(*key_of(each))]

    def is_newest(self, thing: Updatable, pod: Pod) -> bool:
        """Whether a pod is of the newest template of its workload."""
        if isinstance(thing, Deployment):
            current = self._deployments.current(self._deployments.known[thing.key])
            return current is not None and pod.controller is not None and pod.controller.name == current.name
        controller = self._controllers[key_of(thing)]
        assert isinstance(controller, StatefulPods | DaemonPods), "others have no revisions"
        return pod.labels.get(REVISION_LABEL) == controller.revision

    def _replicas_of(self, replica_set: ReplicaSet) -> Replicas:
        """Who makes its pods; one that a rollout made gets somebody."""
        controller = self._controllers.get(key_of(replica_set))
        if not isinstance(controller, Replicas):
            controller = self._controllers[key_of(replica_set)] = Replicas(self._maker, replica_set, ())
        return controller

    # -- what comes and goes later --

    def create(self, thing: ApiObject) -> tuple[list[ApiObject], list[Pod]]:
        """A workload that appears: the objects and the pods it makes.  Pods that it looks after may be there."""
        before = len(self.made)
        self.names.take(type(thing).__name__, thing.namespace, thing.name)
        if isinstance(thing, ReplicaSet):
            self._deployments.sets[thing.key] = thing
        self._take(thing)
        own = self._deployments.of(thing)[-1] if isinstance(thing, Deployment) else thing
        return self.made[before:], list(self._controllers[key_of(own)].begin())

    def knows(self, thing: ApiObject) -> bool:
        """Whether a controller looks after the pods of this workload."""
        if isinstance(thing, Deployment):
            return self._has_set(thing)
        return key_of(thing) in self._controllers

    def has_template(self, thing: Updatable) -> bool:
        """Whether the workload that is there makes its pods of this template."""
        if isinstance(thing, Deployment):
            return self._deployments.current(thing) is self._deployments.of(thing)[-1]
        there = self._controllers[key_of(thing)].owner
        assert isinstance(there, Updatable), "it is of the same kind"
        return same_template(there.spec.template, thing.spec.template, self._maker.classes)

    def grow_from(self, thing: Scalable, pods: Iterable[Pod]) -> int:
        """How large a workload is that is there already; from now on a StatefulSet makes all it lacks at once."""
        own = self._deployments.of(thing)[-1] if isinstance(thing, Deployment) else thing
        controller = self._controllers[key_of(own)]
        if isinstance(controller, StatefulPods):
            controller.is_parallel = True
        return max(controller.wanted, sum(self._controller_of(pod) is controller for pod in pods))

    def remove(self, thing: ApiObject, pods: Iterable[Pod]) -> tuple[list[ApiObject], list[Pod]]:
        """A workload goes: the objects and the pods that go with it."""
        owned: list[ApiObject] = [thing]
        if isinstance(thing, Deployment):
            self._deployments.known.pop(thing.key, None)
            owned = [each for each in self._deployments.sets.values() if _is_owned(each, thing)]
        going: list[Pod] = []
        pods = list(pods)
        for each in owned:
            controller = self._controllers.pop(key_of(each), None)
            going += [pod for pod in pods if _is_owned(pod, each)] if controller is not None else []
            self._deployments.sets.pop(each.key, None) if isinstance(each, ReplicaSet) else None
        return [each for each in owned if each is not thing], going

    def node_changed(self, name: str, node: Node | None, pods: Iterable[Pod]) -> tuple[list[Pod], list[Pod]]:
        """A node came, changed or went (None): the pods that DaemonSets make for it, and those they take away."""
        if node is None:
            self.nodes.pop(name, None)
        else:
            self.nodes[name] = node
        daemons = [each for each in self._controllers.values() if isinstance(each, DaemonPods)]
        own: dict[Key, list[Pod]] = {}
        for pod in pods if daemons else ():
            if pod.controller is not None and pod.controller.kind == "DaemonSet":
                own.setdefault(("DaemonSet", pod.namespace, pod.controller.name), []).append(pod)
        made: list[Pod] = []
        leaving: list[Pod] = []
        for each in daemons:
            more, fewer = each.node_changed(name, node, own.get(key_of(each.owner), []))
            made += more
            leaving += fewer
        return made, leaving

    def _has_set(self, deployment: Deployment) -> bool:
        owners = (each.controller for each in self._deployments.sets.values())
        return any(owner is not None and owner.uid == deployment.uid for owner in owners)

    def looks_after(self, pod: Pod) -> bool:
        """Is there a controller that makes up for the pod when it goes?"""
        return self._controller_of(pod) is not None

    def _controller_of(self, pod: Pod) -> Controller | None:
        owner = pod.controller
        return None if owner is None else self._controllers.get((owner.kind, pod.namespace, owner.name))

    # -- at the start --

    def _take(self, thing: ApiObject) -> None:
        controller: Controller
        match thing:
            case Pod():
                self._order.append(thing)
                return
            case Deployment():
                self._deployments.known[thing.key] = thing
                newest = self._deployments.newest(thing)
                if newest is None:
                    newest = self._deployments.make(thing, thing.spec.replicas)
                    self.made.append(newest)
                thing = newest
                controller = Replicas(self._maker, thing, self._existing(thing))
            case ReplicaSet():
                if key_of(thing) in self._controllers:
                    return  # a Deployment has taken it already, and says how large it is
                controller = Replicas(self._maker, thing, self._existing(thing))
            case ReplicationController():
                controller = Replicas(self._maker, thing, self._existing(thing))
            case StatefulSet():
                controller = StatefulPods(self._maker, thing, self._existing(thing))
                self.made += controller.claims(self.names)
            case DaemonSet():
                controller = DaemonPods(self._maker, thing, self._existing(thing), list(self.nodes.values()))
            case Job():
                controller = JobPods(self._maker, thing, self._existing(thing), self._succeeded(thing))
            case _:
                return
        key = key_of(thing)
        if key not in self._controllers:
            self._order.append(key)
        self._controllers[key] = controller

    def _existing(self, owner: ApiObject) -> list[Pod]:
        return self._owned.get(key_of(owner), [])

    def _succeeded(self, job: Job) -> int:
        """As its status says, or as its pods show; snapshots leave pods out that are done."""
        seen = sum(
            pod.status.phase == "Succeeded" and pod.namespace == job.namespace
            for pod in self._pods
            if pod.controller is not None and (pod.controller.kind, pod.controller.name) == ("Job", job.name)
        )
        return max(seen, job.status.succeeded)

    def _hash_of_existing(self, deployment: Deployment) -> str | None:
        """The hash that pods of the Deployment carry already, in files that leave ReplicaSets out."""
        for (kind, namespace, name), pods in self._owned.items():
            digest = pods[0].labels.get(HASH_LABEL, "")
            if (kind, namespace) == ("ReplicaSet", deployment.namespace) and name == f"{deployment.name}-{digest}":
                return digest
        return None


def _is_owned(thing: ApiObject, by: ApiObject) -> bool:
    owner = thing.controller
    return (
        owner is not None
        and thing.namespace == by.namespace
        and (owner.kind, owner.name) == (type(by).__name__, by.name)
    )


def key_of(thing: ApiObject) -> Key:
    """Under which a workload is known."""
    return type(thing).__name__, thing.namespace, thing.name


def _named(owner: OwnerReference | None) -> tuple[str, str] | None:
    return None if owner is None else (owner.kind, owner.name)

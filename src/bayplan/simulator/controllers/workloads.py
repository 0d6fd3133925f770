"""
Workloads become pods, as the real controllers would make them; what they made and lose they make again.

``world`` gives it everything in the files; ``cluster`` asks it what follows when a pod is bound or gone.  How
each kind makes its pods stands in ``controllers``.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass

from msgspec.structs import replace

from bayplan.objects.admission.defaulting import Classes, stable_uid
from bayplan.objects.meta import ApiObject, LabelSelector, ObjectMeta, OwnerReference
from bayplan.objects.node import Node
from bayplan.objects.pod import Pod
from bayplan.objects.third_party.kubevirt import INSTANCE, MACHINE, VirtualMachineInstance
from bayplan.objects.workload import (
    DaemonSet,
    Deployment,
    Job,
    ReplicaSet,
    ReplicationController,
    StatefulSet,
)
from bayplan.simulator.controllers.daemons import DaemonPods
from bayplan.simulator.controllers.generated_names import Names
from bayplan.simulator.controllers.pod_makers import Controller, JobPods, PodMaker, Replicas, StatefulPods, owner_of

HASH_LABEL = "pod-template-hash"
REVISION = "deployment.kubernetes.io/revision"

Key = tuple[str, str, str]
"""Kind, namespace and name."""


@dataclass(frozen=True, slots=True)
class Rescaled:
    """What another size of a workload brings about."""

    old: ApiObject
    new: ApiObject
    made: list[Pod]
    leaving: list[Pod]
    claims: Sequence[ApiObject]


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
        self._replica_sets = {each.key: each for each in objects if isinstance(each, ReplicaSet)}
        self._owners = {_key(each): each for each in objects if isinstance(each, Job | VirtualMachineInstance)}
        """What owns pods and may have an owner itself, beside ReplicaSets."""
        self._owned: dict[Key, list[Pod]] = {}
        for each in objects:
            self.names.take(type(each).__name__, each.namespace, each.name)
        for pod in self._pods:
            owner = pod.controller
            if owner is not None and not pod.is_terminal and not pod.is_terminating:
                self._owned.setdefault((owner.kind, pod.namespace, owner.name), []).append(pod)
        self._controllers: dict[Key, Controller] = {}
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
        replica_set = self._replica_sets.get(f"{pod.namespace}/{name}") if kind == "ReplicaSet" else None
        known = replica_set or self._owners.get((kind, pod.namespace, name))
        if known is not None:
            return _named(known.controller)
        digest = pod.labels.get(HASH_LABEL)
        if kind == "ReplicaSet" and digest and name.endswith(f"-{digest}"):
            return "Deployment", name.removesuffix(f"-{digest}")
        return (MACHINE, name) if kind == INSTANCE else None

    def size(self, thing: ApiObject) -> int | None:
        """How many pods a workload wants now; None if no controller looks after it."""
        own = self._replica_set_of(thing) if isinstance(thing, Deployment) else thing
        controller = self._controllers.get(_key(own))
        return None if controller is None else controller.wanted

    def scale(self, pod: Pod) -> tuple[str, int] | None:
        """The controller of a pod and how many pods it wants."""
        controller = self._controller_of(pod)
        if controller is None:
            return None
        return f"{type(controller.owner).__name__}/{controller.owner.key}", controller.wanted

    def rescale(
        self, thing: Deployment | ReplicaSet | ReplicationController | StatefulSet, pods: Iterable[Pod]
    ) -> Rescaled:
        """A workload that says another size now."""
        own = self._replica_set_of(thing) if isinstance(thing, Deployment) and self._has_set(thing) else thing
        controller = self._controllers[_key(own)]
        old = controller.owner
        assert isinstance(old, ReplicaSet | ReplicationController | StatefulSet)
        wanted = 1 if thing.spec.replicas is None else thing.spec.replicas
        new = old.evolve(spec=replace(old.spec, replicas=wanted))
        controller.owner = new
        if isinstance(new, ReplicaSet):
            self._replica_sets[new.key] = new
        existing = [pod for pod in pods if self._controller_of(pod) is controller]
        made, leaving = controller.scale(wanted, existing)
        claims = controller.claims(self.names) if isinstance(controller, StatefulPods) else []
        return Rescaled(old, new, list(made), list(leaving), claims)

    # -- what comes and goes later --

    def create(self, thing: ApiObject) -> tuple[list[ApiObject], list[Pod]]:
        """A workload that appears: the objects and the pods it makes.  Pods that it looks after may be there."""
        before = len(self.made)
        self.names.take(type(thing).__name__, thing.namespace, thing.name)
        if isinstance(thing, ReplicaSet):
            self._replica_sets[thing.key] = thing
        self._take(thing)
        own = self._replica_set_of(thing) if isinstance(thing, Deployment) else thing
        return self.made[before:], list(self._controllers[_key(own)].begin())

    def knows(self, thing: ApiObject) -> bool:
        """Whether a controller looks after the pods of this workload."""
        if isinstance(thing, Deployment):
            return self._has_set(thing)
        return _key(thing) in self._controllers

    def grow_from(
        self, thing: Deployment | ReplicaSet | ReplicationController | StatefulSet, pods: Iterable[Pod]
    ) -> int:
        """How large a workload is that is there already; from now on a StatefulSet makes all it lacks at once."""
        own = self._replica_set_of(thing) if isinstance(thing, Deployment) else thing
        controller = self._controllers[_key(own)]
        if isinstance(controller, StatefulPods):
            controller.is_parallel = True
        return max(controller.wanted, sum(self._controller_of(pod) is controller for pod in pods))

    def remove(self, thing: ApiObject, pods: Iterable[Pod]) -> tuple[list[ApiObject], list[Pod]]:
        """A workload goes: the objects and the pods that go with it."""
        owned: list[ApiObject] = [thing]
        if isinstance(thing, Deployment):
            owned = [each for each in self._replica_sets.values() if _is_owned(each, thing)]
        going: list[Pod] = []
        pods = list(pods)
        for each in owned:
            controller = self._controllers.pop(_key(each), None)
            going += [pod for pod in pods if _is_owned(pod, each)] if controller is not None else []
            self._replica_sets.pop(each.key, None) if isinstance(each, ReplicaSet) else None
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
            more, fewer = each.node_changed(name, node, own.get(_key(each.owner), []))
            made += more
            leaving += fewer
        return made, leaving

    def _has_set(self, deployment: Deployment) -> bool:
        owners = (each.controller for each in self._replica_sets.values())
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
                thing = self._replica_set_of(thing)
                controller = Replicas(self._maker, thing, self._existing(thing))
            case ReplicaSet():
                if _key(thing) in self._controllers:
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
        key = _key(thing)
        if key not in self._controllers:
            self._order.append(key)
        self._controllers[key] = controller

    def _existing(self, owner: ApiObject) -> list[Pod]:
        return self._owned.get(_key(owner), [])

    def _succeeded(self, job: Job) -> int:
        """As its status says, or as its pods show; snapshots leave pods out that are done."""
        seen = sum(
            pod.status.phase == "Succeeded" and pod.namespace == job.namespace
            for pod in self._pods
            if pod.controller is not None and (pod.controller.kind, pod.controller.name) == ("Job", job.name)
        )
        return max(seen, job.status.succeeded)

    # -- deployments --

    def _replica_set_of(self, deployment: Deployment) -> ReplicaSet:
        """The newest ReplicaSet of a Deployment, scaled as that asks; made if there is none."""
        own = [
            each
            for each in self._replica_sets.values()
            if each.namespace == deployment.namespace
            and each.controller is not None
            and (each.controller.kind, each.controller.name) == ("Deployment", deployment.name)
        ]
        if own:
            newest = max(own, key=_revision)
            return replace(newest, spec=replace(newest.spec, replicas=deployment.spec.replicas))
        made = self._made_replica_set(deployment)
        self._replica_sets[made.key] = made
        self.made.append(made)
        return made

    def _made_replica_set(self, deployment: Deployment) -> ReplicaSet:
        spec, meta = deployment.spec, deployment.metadata
        digest = self._hash_of_existing(deployment) or self.names.template_hash(spec.template)
        template_meta = spec.template.metadata
        labels = {**(template_meta.labels or {}), HASH_LABEL: digest}
        selector = spec.selector or LabelSelector()
        name = f"{meta.name}-{digest}"
        self.names.take("ReplicaSet", meta.namespace, name)
        return ReplicaSet(
            metadata=ObjectMeta(
                name=name,
                namespace=meta.namespace,
                uid=stable_uid("ReplicaSet", meta.namespace, name),
                labels=labels,
                annotations={REVISION: "1"},
                owner_references=(owner_of(deployment),),
            ),
            spec=replace(
                spec,
                selector=replace(selector, match_labels={**(selector.match_labels or {}), HASH_LABEL: digest}),
                template=replace(spec.template, metadata=replace(template_meta, labels=labels)),
            ),
        )

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


def _key(thing: ApiObject) -> Key:
    return type(thing).__name__, thing.namespace, thing.name


def _named(owner: OwnerReference | None) -> tuple[str, str] | None:
    return None if owner is None else (owner.kind, owner.name)


def _revision(replica_set: ReplicaSet) -> int:
    try:
        return int(replica_set.annotations.get(REVISION, "0"))
    except ValueError:
        return 0

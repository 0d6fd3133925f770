"""
How controllers make pods: ReplicaSets and the like, and Jobs.  ``daemons`` has DaemonSets, ``stateful_sets`` those.

``workloads`` has one ``Controller`` for each workload: it makes pods at the start, when one of them is bound, and when
one is gone.  Names, labels and owner references are those of the real controllers.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field
from typing import Any, Protocol

from msgspec.structs import replace

from bayplan.objects.admission.defaulting import Classes, default_pod, stable_uid
from bayplan.objects.deletion_cost import deletion_cost
from bayplan.objects.kinds import all_kinds
from bayplan.objects.meta import ApiObject, ObjectMeta, OwnerReference
from bayplan.objects.pod import Pod
from bayplan.objects.pod_spec import PodSpec
from bayplan.objects.workload import Job, PodTemplateSpec, ReplicaSet, ReplicationController
from bayplan.simulator.controllers.generated_names import Names

REVISION_LABEL = "controller-revision-hash"
JOB_LABELS = ("batch.kubernetes.io/controller-uid", "batch.kubernetes.io/job-name", "controller-uid", "job-name")
"""What pods of a Job are marked with, by its uid and name in turn."""
_API_VERSIONS = {each.name: each.api_version for each in all_kinds()}


def owner_of(thing: ApiObject) -> OwnerReference:
    """The reference that makes a workload the controller of what it makes."""
    kind = type(thing).__name__
    return OwnerReference(api_version=_API_VERSIONS[kind], kind=kind, name=thing.name, uid=thing.uid, controller=True)


class View(Protocol):
    """What controllers see of pods."""

    def owned(self, kind: str, namespace: str, name: str) -> list[Pod]:
        """The pods of one controller, in the order they appeared."""

    def is_available(self, pod: Pod, min_ready_s: int) -> bool:
        """Ready for so long."""


@dataclass(slots=True)
class Step:
    """What a controller wants done at once."""

    made: list[Pod] = field(default_factory=list)
    leaving: list[Pod] = field(default_factory=list)
    """Pods that nobody makes again."""
    replaced: list[Pod] = field(default_factory=list)
    """Pods that are deleted so that the controller makes others where it wants them."""
    objects: list[ApiObject] = field(default_factory=list)
    """What is new or says something else."""
    is_rollout: bool = False
    """Whether another template begins to replace the one before."""


def same_template(one: PodTemplateSpec, other: PodTemplateSpec, classes: Classes) -> bool:
    """Would both make the same pods?  One may come from an API server, which has filled it in."""
    return _as_pod(one, classes) == _as_pod(other, classes)


def _as_pod(template: PodTemplateSpec, classes: Classes) -> tuple[Any, ...]:
    meta = template.metadata
    kept = ObjectMeta(name="template", labels=meta.labels or None)
    pod = default_pod(Pod(metadata=kept, spec=template.spec), classes.priority, classes.runtime)
    return meta.labels or {}, meta.annotations or {}, pod.spec


class PodMaker:
    """Makes pods from templates."""

    def __init__(self, classes: Classes, names: Names) -> None:
        self.classes = classes
        self.names = names
        self._incarnations: dict[tuple[str, str], int] = {}

    def named(
        self,
        owner: ApiObject,
        template: PodTemplateSpec,
        name: str,
        labels: dict[str, str] | None = None,
        annotations: dict[str, str] | None = None,
        spec: PodSpec | None = None,
    ) -> Pod:
        """A pod of this name, with what an API server would add to it."""
        meta = template.metadata
        pod = Pod(
            metadata=ObjectMeta(
                name=name,
                namespace=owner.namespace,
                uid=self._uid(owner.namespace, name),
                labels={**(meta.labels or {}), **(labels or {})} or None,
                annotations={**(meta.annotations or {}), **(annotations or {})} or None,
                owner_references=(owner_of(owner),),
            ),
            spec=template.spec if spec is None else spec,
        )
        return default_pod(pod, self.classes.priority, self.classes.runtime)

    def copied(self, pod: Pod, name: str) -> Pod:
        """A twin of a pod under another name: what depends on labels alone need not be worked out again."""
        meta = replace(pod.metadata, name=name, uid=self._uid(pod.namespace, name))
        return pod.evolve(metadata=meta)

    def _uid(self, namespace: str, name: str) -> str:
        """A pod made anew under its old name is another pod."""
        incarnation = self._incarnations.get((namespace, name), 0)
        self._incarnations[namespace, name] = incarnation + 1
        return stable_uid("Pod", namespace, f"{name}#{incarnation}" if incarnation else name)


class Controller:
    """What all controllers have: an owner, and answers to what happens to its pods."""

    def __init__(self, maker: PodMaker, owner: ApiObject) -> None:
        self.maker = maker
        self.owner = owner
        self.wanted = 0
        """How many pods it asks for."""

    def begin(self) -> Iterable[Pod]:
        """The pods it makes at the start, beside those that are there."""
        return ()

    def bound(self, pod: Pod) -> Iterable[Pod]:
        """The pods it makes because one of them is on a node now."""
        return ()

    def gone(self, pod: Pod) -> Iterable[Pod]:
        """The pods it makes because one of them is no more."""
        return ()

    def scale(self, wanted: int, existing: Sequence[Pod]) -> tuple[Iterable[Pod], Iterable[Pod]]:
        """It asks for another number of pods: those it makes, and those that go."""
        self.wanted = wanted
        return (), ()

    def roll(self, own: Sequence[Pod], view: View) -> Step:
        """The next step from an old template to the new one."""
        return Step()

    def is_rolled(self, own: Sequence[Pod], view: View) -> bool:
        return True


class Replicas(Controller):
    """ReplicaSet and ReplicationController: so many pods, all alike."""

    def __init__(self, maker: PodMaker, owner: ReplicaSet | ReplicationController, existing: Sequence[Pod]) -> None:
        super().__init__(maker, owner)
        self.wanted = owner.spec.replicas or 0
        self._template = owner.spec.template
        self._missing = max(0, self.wanted - len(existing))
        self._first: Pod | None = None

    def begin(self) -> Iterable[Pod]:
        return [self._another() for _ in range(self._missing)]

    def gone(self, pod: Pod) -> Iterable[Pod]:
        return [self._another()]

    def scale(self, wanted: int, existing: Sequence[Pod]) -> tuple[Iterable[Pod], Iterable[Pod]]:
        """As the real controller ranks them: pods without a node first, then by deletion cost, then crowded nodes."""
        self.wanted = wanted
        on_node = Counter(pod.node_name for pod in existing)
        newest_first = existing[::-1]
        ranked = sorted(
            newest_first, key=lambda pod: (bool(pod.node_name), deletion_cost(pod), -on_node[pod.node_name])
        )
        made = [self._another() for _ in range(max(0, wanted - len(existing)))]
        return made, ranked[: max(0, len(existing) - wanted)]

    def update(self, owner: ReplicaSet | ReplicationController, existing: Sequence[Pod]) -> Step:
        """Pods that are there stay as they are; new ones are of the new template."""
        self.owner, self._template, self._first = owner, owner.spec.template, None
        made, leaving = self.scale(owner.spec.replicas or 0, existing)
        return Step(list(made), list(leaving), objects=[owner])

    def _another(self) -> Pod:
        name = self.maker.names.generate("Pod", self.owner.namespace, f"{self.owner.name}-")
        if self._first is None:
            self._first = self.maker.named(self.owner, self._template, name)
            return self._first
        return self.maker.copied(self._first, name)


class JobPods(Controller):
    """Job: as many pods at a time as it allows, until enough have succeeded.  Here none ever ends."""

    def __init__(self, maker: PodMaker, owner: Job, existing: Sequence[Pod], succeeded: int) -> None:
        super().__init__(maker, owner)
        spec = owner.spec
        self._job = owner
        self._is_indexed = spec.completion_mode == "Indexed"
        left = spec.completions - succeeded if spec.completions is not None else spec.parallelism or 0
        self.wanted = 0 if spec.suspend or owner.is_finished else max(0, min(spec.parallelism or 0, left))
        self._active = {pod.name: pod for pod in existing}
        self._missing = max(0, self.wanted - len(existing))

    def begin(self) -> Iterable[Pod]:
        return [self._another() for _ in range(self._missing)]

    def gone(self, pod: Pod) -> Iterable[Pod]:
        self._active.pop(pod.name, None)
        return [self._another()]

    def _another(self) -> Pod:
        job = self.owner
        labels = dict(zip(JOB_LABELS, (job.uid, job.name) * 2, strict=True))
        annotations: dict[str, str] = {}
        prefix = f"{job.name}-"
        if self._is_indexed:
            index = self._free_index()
            labels["batch.kubernetes.io/job-completion-index"] = index
            annotations["batch.kubernetes.io/job-completion-index"] = index
            prefix = f"{job.name}-{index}-"
        name = self.maker.names.generate("Pod", job.namespace, prefix)
        pod = self.maker.named(job, self._job.spec.template, name, labels, annotations)
        self._active[name] = pod
        return pod

    def _free_index(self) -> str:
        key = "batch.kubernetes.io/job-completion-index"
        taken: set[Any] = {pod.annotations.get(key, pod.labels.get(key)) for pod in self._active.values()}
        return next(str(index) for index in range(len(taken) + 1) if str(index) not in taken)

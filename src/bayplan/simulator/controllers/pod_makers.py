"""
How controllers make pods: ReplicaSets and the like, StatefulSets, Jobs.  ``daemons`` has DaemonSets.

``workloads`` has one ``Controller`` for each workload: it makes pods at the start, when one of them is bound, and when
one is gone.  Names, labels and owner references are those of the real controllers.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Sequence
from typing import Any

from msgspec.structs import replace

from bayplan.objects.admission import defaulting
from bayplan.objects.admission.defaulting import Classes, default_pod, stable_uid
from bayplan.objects.deletion_cost import deletion_cost
from bayplan.objects.kinds import all_kinds
from bayplan.objects.meta import ApiObject, ObjectMeta, OwnerReference
from bayplan.objects.pod import Pod
from bayplan.objects.pod_spec import PodSpec
from bayplan.objects.pod_volume import PersistentVolumeClaimVolume, Volume
from bayplan.objects.volume import PersistentVolumeClaim
from bayplan.objects.workload import Job, PodTemplateSpec, ReplicaSet, ReplicationController, StatefulSet
from bayplan.simulator.controllers.generated_names import Names

REVISION_LABEL = "controller-revision-hash"
_API_VERSIONS = {each.name: each.api_version for each in all_kinds()}


def owner_of(thing: ApiObject) -> OwnerReference:
    """The reference that makes a workload the controller of what it makes."""
    kind = type(thing).__name__
    return OwnerReference(api_version=_API_VERSIONS[kind], kind=kind, name=thing.name, uid=thing.uid, controller=True)


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

    def _another(self) -> Pod:
        name = self.maker.names.generate("Pod", self.owner.namespace, f"{self.owner.name}-")
        if self._first is None:
            self._first = self.maker.named(self.owner, self._template, name)
            return self._first
        return self.maker.copied(self._first, name)


class StatefulPods(Controller):
    """StatefulSet: numbered pods, the next one only when the one before is on a node, unless it may be parallel."""

    def __init__(self, maker: PodMaker, owner: StatefulSet, existing: Sequence[Pod]) -> None:
        super().__init__(maker, owner)
        spec = owner.spec
        self.wanted = spec.replicas or 0
        self._set = owner
        self._start = spec.ordinals.start if spec.ordinals is not None else 0
        self.is_parallel = spec.pod_management_policy == "Parallel"
        self._revision = maker.names.template_hash(spec.template)
        self._bound = {pod.name: bool(pod.node_name) for pod in existing}

    def begin(self) -> Iterable[Pod]:
        return self._next()

    def bound(self, pod: Pod) -> Iterable[Pod]:
        self._bound[pod.name] = True
        return self._next()

    def gone(self, pod: Pod) -> Iterable[Pod]:
        self._bound.pop(pod.name, None)
        return self._next()

    def scale(self, wanted: int, existing: Sequence[Pod]) -> tuple[Iterable[Pod], Iterable[Pod]]:
        """The last ones go, all at once; new ones come in their turn."""
        self.wanted = wanted
        kept = {f"{self.owner.name}-{ordinal}" for ordinal in self._ordinals()}
        leaving = [pod for pod in existing if pod.name not in kept]
        for pod in leaving:
            self._bound.pop(pod.name, None)
        return self._next(), leaving

    def claims(self, names: Names) -> list[PersistentVolumeClaim]:
        """The claims of its pods that are not there yet."""
        made: list[PersistentVolumeClaim] = []
        for ordinal in self._ordinals():
            for template in self._set.spec.volume_claim_templates or ():
                name = self._claim_name(template, ordinal)
                if not names.is_taken("PersistentVolumeClaim", self.owner.namespace, name):
                    names.take("PersistentVolumeClaim", self.owner.namespace, name)
                    meta = ObjectMeta(name=name, namespace=self.owner.namespace, labels=template.metadata.labels)
                    claim = replace(template, metadata=meta)
                    made.append(defaulting.default_claim(claim, self.maker.classes))
        return made

    def _ordinals(self) -> range:
        return range(self._start, self._start + self.wanted)

    def _next(self) -> list[Pod]:
        made = []
        for ordinal in self._ordinals():
            name = f"{self.owner.name}-{ordinal}"
            if name not in self._bound:
                made.append(self._pod(ordinal, name))
                self._bound[name] = False
            if not self.is_parallel and not self._bound[name]:
                break
        return made

    def _pod(self, ordinal: int, name: str) -> Pod:
        labels = {
            "apps.kubernetes.io/pod-index": str(ordinal),
            REVISION_LABEL: f"{self.owner.name}-{self._revision}",
            "statefulset.kubernetes.io/pod-name": name,
        }
        return self.maker.named(self.owner, self._set.spec.template, name, labels, spec=self._spec(ordinal))

    def _spec(self, ordinal: int) -> PodSpec:
        """The template's spec with the pod's own claims in place of volumes of the same name."""
        spec = self._set.spec.template.spec
        own = {
            template.name: Volume(
                name=template.name,
                persistent_volume_claim=PersistentVolumeClaimVolume(claim_name=self._claim_name(template, ordinal)),
            )
            for template in self._set.spec.volume_claim_templates or ()
        }
        others = tuple(each for each in spec.volumes or () if each.name not in own)
        return replace(spec, volumes=(*own.values(), *others)) if own else spec

    def _claim_name(self, template: PersistentVolumeClaim, ordinal: int) -> str:
        return f"{template.name}-{self.owner.name}-{ordinal}"


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
        labels = {
            "batch.kubernetes.io/controller-uid": job.uid,
            "batch.kubernetes.io/job-name": job.name,
            "controller-uid": job.uid,
            "job-name": job.name,
        }
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

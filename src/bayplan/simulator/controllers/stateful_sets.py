"""
StatefulSet: numbered pods with claims of their own, made in order and replaced from the last to the first.

``workloads`` has one ``StatefulPods`` for each StatefulSet.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Sequence
from typing import NamedTuple

from msgspec.structs import replace

from bayplan.objects.admission import defaulting
from bayplan.objects.meta import ObjectMeta
from bayplan.objects.pod import Pod
from bayplan.objects.pod_spec import PodSpec
from bayplan.objects.pod_volume import PersistentVolumeClaimVolume, Volume
from bayplan.objects.volume import PersistentVolumeClaim
from bayplan.objects.workload import PodTemplateSpec, StatefulSet
from bayplan.simulator.controllers.generated_names import Names
from bayplan.simulator.controllers.pod_makers import REVISION_LABEL, Controller, PodMaker, Step, View, same_template
from bayplan.simulator.controllers.rolling_sizes import ON_DELETE


class Generation(NamedTuple):
    """A template, and what its pods are marked with."""

    template: PodTemplateSpec
    name: str


class StatefulPods(Controller):
    """StatefulSet: numbered pods, the next one only when the one before is on a node, unless it may be parallel."""

    def __init__(self, maker: PodMaker, owner: StatefulSet, existing: Sequence[Pod]) -> None:
        super().__init__(maker, owner)
        spec = owner.spec
        self.wanted = spec.replicas or 0
        self._set = owner
        self._start = spec.ordinals.start if spec.ordinals is not None else 0
        self.is_parallel = spec.pod_management_policy == "Parallel"
        self._current = self._new = Generation(spec.template, _carried(existing) or self._name_of(spec.template))
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
        kept = {self._pod_name(ordinal) for ordinal in self._ordinals()}
        leaving = [pod for pod in existing if pod.name not in kept]
        for pod in leaving:
            self._bound.pop(pod.name, None)
        return self._next(), leaving

    def update(self, owner: StatefulSet, existing: Sequence[Pod]) -> Step:
        """Another size, which pods follow at once, or another template, which ``roll`` brings to them."""
        template = owner.spec.template
        is_rollout = not same_template(template, self._new.template, self.maker.classes)
        self.owner = self._set = owner
        if is_rollout:
            is_back = same_template(template, self._current.template, self.maker.classes)
            self._new = self._current if is_back else Generation(template, self._name_of(template))
        made, leaving = self.scale(owner.spec.replicas or 0, existing)
        claims = self.claims(self.maker.names)
        return Step(list(made), list(leaving), objects=[owner, *claims], is_rollout=is_rollout)

    def roll(self, own: Sequence[Pod], view: View) -> Step:
        """The last pod that is not of the new template goes, once all behind it (in order: all there are) are well."""
        if self._set.spec.update_strategy.type == ON_DELETE:
            return Step()
        pods = {pod.name: pod for pod in own}
        ordered = [pods.get(self._pod_name(ordinal)) for ordinal in self._ordinals()]
        if not self.is_parallel and not all(self._is_well(pod, view) for pod in ordered):
            return Step()
        for pod in reversed(ordered[self._partition :]):
            if pod is not None and pod.labels.get(REVISION_LABEL) != self._new.name:
                return Step(replaced=[pod])
            if not self._is_well(pod, view):
                return Step()
        return Step()

    def is_rolled(self, own: Sequence[Pod], view: View) -> bool:
        if self._set.spec.update_strategy.type == ON_DELETE:
            return True
        meant = {self._pod_name(ordinal) for ordinal in self._ordinals()[self._partition :]}
        done = [
            pod.name
            for pod in own
            if pod.name in meant and pod.labels.get(REVISION_LABEL) == self._new.name and self._is_well(pod, view)
        ]
        if len(done) < len(meant):
            return False
        if not self._partition:
            self._current = self._new
        return True

    @property
    def revision(self) -> str:
        """What pods of the newest template carry."""
        return self._new.name

    @property
    def _partition(self) -> int:
        """How many of the first pods keep the old template."""
        rolling = self._set.spec.update_strategy.rolling_update
        return (rolling.partition or 0) if rolling is not None else 0

    def _is_well(self, pod: Pod | None, view: View) -> bool:
        return pod is not None and view.is_available(pod, self._set.spec.min_ready_seconds)

    def _name_of(self, template: PodTemplateSpec) -> str:
        return f"{self.owner.name}-{self.maker.names.template_hash(template)}"

    def _pod_name(self, ordinal: int) -> str:
        return f"{self.owner.name}-{ordinal}"

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
            name = self._pod_name(ordinal)
            if name not in self._bound:
                made.append(self._pod(ordinal, name))
                self._bound[name] = False
            if not self.is_parallel and not self._bound[name]:
                break
        return made

    def _pod(self, ordinal: int, name: str) -> Pod:
        made_of = self._current if ordinal < self._start + self._partition else self._new
        labels = {
            "apps.kubernetes.io/pod-index": str(ordinal),
            REVISION_LABEL: made_of.name,
            "statefulset.kubernetes.io/pod-name": name,
        }
        spec = self._spec(made_of.template.spec, ordinal)
        return self.maker.named(self.owner, made_of.template, name, labels, spec=spec)

    def _spec(self, spec: PodSpec, ordinal: int) -> PodSpec:
        """The template's spec with the pod's own claims in place of volumes of the same name."""
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


def _carried(existing: Sequence[Pod]) -> str:
    """The revision that most pods carry already."""
    names = Counter(name for pod in existing if (name := pod.labels.get(REVISION_LABEL)))
    return names.most_common(1)[0][0] if names else ""

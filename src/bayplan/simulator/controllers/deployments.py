"""
Deployments and their ReplicaSets: the newest one, the one of a template, and how pods pass from old ones to a new one.

``workloads`` asks; how many pods each ReplicaSet has meanwhile is ``rolling_sizes``' business.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable

from msgspec.structs import replace

from bayplan.objects.admission.defaulting import Classes, stable_uid
from bayplan.objects.meta import LabelSelector, ObjectMeta
from bayplan.objects.workload import Deployment, PodTemplateSpec, ReplicaSet, WorkloadSpec
from bayplan.simulator.controllers import rolling_sizes
from bayplan.simulator.controllers.generated_names import Names
from bayplan.simulator.controllers.pod_makers import Replicas, Step, View, owner_of, same_template
from bayplan.simulator.controllers.rolling_sizes import Revision

HASH_LABEL = "pod-template-hash"
REVISION = "deployment.kubernetes.io/revision"


class Deployments:
    """Every Deployment and every ReplicaSet of a simulation."""

    def __init__(
        self,
        sets: Iterable[ReplicaSet],
        names: Names,
        classes: Classes,
        hash_of_existing: Callable[[Deployment], str | None],
        replicas_of: Callable[[ReplicaSet], Replicas],
    ) -> None:
        """
        Args:
            hash_of_existing: what pods of the Deployment carry already, in files that leave ReplicaSets out.
            replicas_of: who makes the pods of a ReplicaSet.
        """
        self.sets = {each.key: each for each in sets}
        self.known: dict[str, Deployment] = {}
        self._names = names
        self._classes = classes
        self._hash_of_existing = hash_of_existing
        self._replicas_of = replicas_of

    def newest(self, deployment: Deployment) -> ReplicaSet | None:
        """Scaled as the Deployment asks."""
        own = self.of(deployment)
        return own[-1].evolve(spec=replace(own[-1].spec, replicas=deployment.spec.replicas)) if own else None

    def of(self, deployment: Deployment) -> list[ReplicaSet]:
        """The oldest first."""
        own = [
            each
            for each in self.sets.values()
            if each.namespace == deployment.namespace
            and each.controller is not None
            and (each.controller.kind, each.controller.name) == ("Deployment", deployment.name)
        ]
        return sorted(own, key=_revision)

    def current(self, deployment: Deployment) -> ReplicaSet | None:
        """The ReplicaSet of its template, if there is one."""
        template = deployment.spec.template
        alike = (each for each in self.of(deployment)[::-1] if self._is_of(each, template))
        return next(alike, None)

    def _is_of(self, one: ReplicaSet, template: PodTemplateSpec) -> bool:
        meta = one.spec.template.metadata
        labels = {name: text for name, text in (meta.labels or {}).items() if name != HASH_LABEL}
        return same_template(replace(one.spec.template, metadata=replace(meta, labels=labels)), template, self._classes)

    def make(self, deployment: Deployment, replicas: int | None) -> ReplicaSet:
        """A ReplicaSet of the Deployment's template."""
        spec, meta = deployment.spec, deployment.metadata
        own = self.of(deployment)
        digest = (self._hash_of_existing(deployment) if not own else None) or self._free_hash(deployment)
        template_meta = spec.template.metadata
        labels = {**(template_meta.labels or {}), HASH_LABEL: digest}
        selector = spec.selector or LabelSelector()
        name = f"{meta.name}-{digest}"
        self._names.take("ReplicaSet", meta.namespace, name)
        made = ReplicaSet(
            metadata=ObjectMeta(
                name=name,
                namespace=meta.namespace,
                uid=stable_uid("ReplicaSet", meta.namespace, name),
                labels=labels,
                annotations={REVISION: str(_revision(own[-1]) + 1 if own else 1)},
                owner_references=(owner_of(deployment),),
            ),
            spec=WorkloadSpec(
                replicas=replicas,
                selector=replace(selector, match_labels={**(selector.match_labels or {}), HASH_LABEL: digest}),
                template=replace(spec.template, metadata=replace(template_meta, labels=labels)),
                min_ready_seconds=spec.min_ready_seconds,
            ),
        )
        self.sets[made.key] = made
        return made

    def _free_hash(self, deployment: Deployment) -> str:
        """Of the template; of one that is taken by another template, the next."""
        digest = self._names.template_hash(deployment.spec.template)
        while f"{deployment.namespace}/{deployment.name}-{digest}" in self.sets:
            digest = self._names.template_hash(LabelSelector(match_labels={HASH_LABEL: digest}))
        return digest

    # -- rolling out --

    def update(self, deployment: Deployment, view: View) -> Step:
        """The Deployment says something else now."""
        before = self.known.get(deployment.key)
        self.known[deployment.key] = deployment
        step = Step()
        if before is not None and before.spec.replicas != deployment.spec.replicas:
            most = (before.spec.replicas or 0) + rolling_sizes.limits(before.spec)[0]
            sizes = self._sizes(deployment, view)
            current = self.current(deployment)
            new = None if current is None else sizes[current.key]
            rolling_sizes.rescale(deployment.spec, most, list(sizes.values()), new)
            self._resize(deployment, sizes, view, step)
        own = self.of(deployment)
        is_new = not own or self.current(deployment) is not own[-1]
        self._roll(deployment, view, step)
        step.is_rollout = is_new and not deployment.spec.paused
        return step

    def roll(self, deployment: Deployment, view: View) -> Step:
        step = Step()
        self._roll(self.known[deployment.key], view, step)
        return step

    def _roll(self, deployment: Deployment, view: View, step: Step) -> None:
        if deployment.spec.paused:
            return
        current = self._made_newest(deployment, step)
        sizes = self._sizes(deployment, view)
        old = [each for key, each in sizes.items() if key != current.key]
        rolling_sizes.roll(deployment.spec, sizes[current.key], old)
        self._resize(deployment, sizes, view, step)

    def _made_newest(self, deployment: Deployment, step: Step) -> ReplicaSet:
        current = self.current(deployment)
        if current is None:
            current = self.make(deployment, 0)
            step.objects.append(current)
            return current
        newest = self.of(deployment)[-1]
        if current is not newest:  # back to an earlier template
            annotations = {**current.annotations, REVISION: str(_revision(newest) + 1)}
            current = current.evolve(metadata=replace(current.metadata, annotations=annotations))
            self.sets[current.key] = current
            step.objects.append(current)
        return current

    def _sizes(self, deployment: Deployment, view: View) -> dict[str, Revision]:
        seconds = deployment.spec.min_ready_seconds
        found = {}
        for each in self.of(deployment):
            pods = view.owned("ReplicaSet", each.namespace, each.name)
            available = sum(view.is_available(pod, seconds) for pod in pods)
            found[each.key] = Revision(self._replicas_of(each).wanted, available)
        return found

    def _resize(self, deployment: Deployment, sizes: dict[str, Revision], view: View, step: Step) -> None:
        for each in self.of(deployment):
            controller, size = self._replicas_of(each), sizes[each.key].size
            if controller.wanted == size:
                continue
            resized = each.evolve(spec=replace(each.spec, replicas=size))
            self.sets[each.key] = controller.owner = resized
            gone = {pod.uid for pod in step.leaving}
            own = [pod for pod in view.owned("ReplicaSet", each.namespace, each.name) if pod.uid not in gone]
            coming = [pod for pod in step.made if (owner := pod.controller) is not None and owner.name == each.name]
            made, leaving = controller.scale(size, [*own, *coming])
            going = {pod.uid for pod in leaving}
            step.made = [pod for pod in step.made if pod.uid not in going] + list(made)
            step.leaving += [pod for pod in leaving if pod in own]
            step.objects.append(resized)

    def is_rolled(self, deployment: Deployment, view: View) -> bool:
        deployment = self.known[deployment.key]
        current, sizes = self.current(deployment), self._sizes(deployment, view)
        if deployment.spec.paused or current is None:
            return deployment.spec.paused is True
        wanted = deployment.spec.replicas or 0
        new = sizes.pop(current.key)
        return new.size == wanted and new.available >= wanted and not any(each.size for each in sizes.values())


def _revision(replica_set: ReplicaSet) -> int:
    try:
        return int(replica_set.annotations.get(REVISION, "0"))
    except ValueError:
        return 0

"""What makes pods and what groups them: workload controllers, services, namespaces.

The simulator turns workloads into pods; spreading asks services and owners for their selectors; affinity asks
namespaces for their labels.
"""

from __future__ import annotations

from bayplan.objects.cached_property import cached_property
from bayplan.objects.meta import ApiObject, LabelSelector, ObjectMeta, Wire
from bayplan.objects.pod_spec import PodSpec
from bayplan.objects.selector import NOTHING, Selector, compile_label_selector, label_selector_from_map
from bayplan.objects.volume import PersistentVolumeClaim

DESIRED_REPLICAS = "deployment.kubernetes.io/desired-replicas"
"""A Deployment writes its own size here, on each of its ReplicaSets."""


class PodTemplateSpec(Wire, frozen=True, kw_only=True):
    """The pod a workload makes copies of."""

    metadata: ObjectMeta = ObjectMeta()
    spec: PodSpec = PodSpec()


class RollingUpdate(Wire, frozen=True, kw_only=True):
    max_surge: int | str | None = None
    max_unavailable: int | str | None = None
    partition: int | None = None


class UpdateStrategy(Wire, frozen=True, kw_only=True):
    """How pods of another template take the place of those that are there; "" is RollingUpdate."""

    type: str = ""
    rolling_update: RollingUpdate | None = None


class WorkloadSpec(Wire, frozen=True, kw_only=True):
    """What ReplicaSet, Deployment and DaemonSet share."""

    replicas: int | None = None
    selector: LabelSelector | None = None
    template: PodTemplateSpec = PodTemplateSpec()
    min_ready_seconds: int = 0


class DeploymentSpec(WorkloadSpec, frozen=True, kw_only=True):
    strategy: UpdateStrategy = UpdateStrategy()
    paused: bool | None = None


class DaemonSetSpec(WorkloadSpec, frozen=True, kw_only=True):
    update_strategy: UpdateStrategy = UpdateStrategy()


class StatefulSetOrdinals(Wire, frozen=True, kw_only=True):
    start: int = 0


class StatefulSetSpec(WorkloadSpec, frozen=True, kw_only=True):
    service_name: str = ""
    pod_management_policy: str = ""
    ordinals: StatefulSetOrdinals | None = None
    volume_claim_templates: tuple[PersistentVolumeClaim, ...] | None = None
    update_strategy: UpdateStrategy = UpdateStrategy()


class ReplicationControllerSpec(Wire, frozen=True, kw_only=True):
    replicas: int | None = None
    selector: dict[str, str] | None = None
    template: PodTemplateSpec = PodTemplateSpec()


class JobSpec(Wire, frozen=True, kw_only=True):
    parallelism: int | None = None
    completions: int | None = None
    completion_mode: str = ""
    suspend: bool | None = None
    selector: LabelSelector | None = None
    manual_selector: bool | None = None
    template: PodTemplateSpec = PodTemplateSpec()


class JobCondition(Wire, frozen=True, kw_only=True):
    type: str = ""
    status: str = ""


class JobStatus(Wire, frozen=True, kw_only=True):
    succeeded: int = 0
    conditions: tuple[JobCondition, ...] | None = None


class JobTemplateSpec(Wire, frozen=True, kw_only=True):
    metadata: ObjectMeta = ObjectMeta()
    spec: JobSpec = JobSpec()


class CronJobSpec(Wire, frozen=True, kw_only=True):
    schedule: str = ""
    suspend: bool | None = None
    job_template: JobTemplateSpec = JobTemplateSpec()


class ServiceSpec(Wire, frozen=True, kw_only=True):
    selector: dict[str, str] | None = None


class ReplicaSet(ApiObject, frozen=True, kw_only=True):
    spec: WorkloadSpec = WorkloadSpec()

    @cached_property
    def selector(self) -> Selector:
        return compile_label_selector(self.spec.selector)


class Deployment(ApiObject, frozen=True, kw_only=True):
    spec: DeploymentSpec = DeploymentSpec()

    @cached_property
    def selector(self) -> Selector:
        return compile_label_selector(self.spec.selector)


class DaemonSet(ApiObject, frozen=True, kw_only=True):
    spec: DaemonSetSpec = DaemonSetSpec()

    @cached_property
    def selector(self) -> Selector:
        return compile_label_selector(self.spec.selector)


class StatefulSet(ApiObject, frozen=True, kw_only=True):
    spec: StatefulSetSpec = StatefulSetSpec()

    @cached_property
    def selector(self) -> Selector:
        return compile_label_selector(self.spec.selector)


class ReplicationController(ApiObject, frozen=True, kw_only=True):
    spec: ReplicationControllerSpec = ReplicationControllerSpec()

    @cached_property
    def selector(self) -> Selector:
        return label_selector_from_map(self.spec.selector)


class Job(ApiObject, frozen=True, kw_only=True):
    spec: JobSpec = JobSpec()
    status: JobStatus = JobStatus()

    @property
    def is_finished(self) -> bool:
        """It makes no pods any more."""
        over = (each.type for each in self.status.conditions or () if each.status == "True")
        return any(each in ("Complete", "Failed") for each in over)

    @cached_property
    def selector(self) -> Selector:
        return compile_label_selector(self.spec.selector)


class CronJob(ApiObject, frozen=True, kw_only=True):
    spec: CronJobSpec = CronJobSpec()


class Service(ApiObject, frozen=True, kw_only=True):
    spec: ServiceSpec = ServiceSpec()

    @cached_property
    def selector(self) -> Selector:
        """Which pods it serves; a service without a selector serves none."""
        return label_selector_from_map(self.spec.selector) if self.spec.selector else NOTHING


class Namespace(ApiObject, frozen=True, kw_only=True):
    """Only its labels matter here."""


Workload = ReplicaSet | Deployment | DaemonSet | StatefulSet | ReplicationController | Job
"""Everything with a pod template of its own."""

Scalable = Deployment | ReplicaSet | ReplicationController | StatefulSet
"""Everything with ``spec.replicas``."""

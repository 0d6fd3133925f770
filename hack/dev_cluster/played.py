"""What fake kubelets read of nodes and pods: little that a scheduler reads, and some that only a kubelet does."""

from __future__ import annotations

from bayplan.objects.kinds import Kind
from bayplan.objects.meta import ApiObject, ObjectMeta, Wire

DEFAULT_GRACE_S = 30
STOP_S = 1.0


class Address(Wire, frozen=True, kw_only=True):
    type: str = ""
    address: str = ""


class Condition(Wire, frozen=True, kw_only=True):
    type: str = ""
    status: str = ""


class NodeStatus(Wire, frozen=True, kw_only=True):
    conditions: tuple[Condition, ...] | None = None
    addresses: tuple[Address, ...] | None = None
    capacity: dict[str, str] | None = None
    allocatable: dict[str, str] | None = None


class PlayedNode(ApiObject, frozen=True, kw_only=True):
    """A node as its kubelet sees it."""

    status: NodeStatus = NodeStatus()

    @property
    def is_ready(self) -> bool:
        return any(each.type == "Ready" and each.status == "True" for each in self.status.conditions or ())

    @property
    def internal_ip(self) -> str:
        return next((each.address for each in self.status.addresses or () if each.type == "InternalIP"), "")

    @property
    def stale_allocatable(self) -> dict[str, str | None]:
        """
        What a kubelet changes in ``allocatable`` when somebody else writes ``capacity``; None where it goes.

        It knows the machine's own resources itself.  Of others, which have a domain in their names, it believes the
        capacity.
        """
        capacity, allocatable = self.status.capacity or {}, self.status.allocatable or {}
        names = {name for name in (*capacity, *allocatable) if "/" in name and "kubernetes.io/" not in name}
        return {name: capacity.get(name) for name in sorted(names) if capacity.get(name) != allocatable.get(name)}


class Sleep(Wire, frozen=True, kw_only=True):
    seconds: int = 0


class Hook(Wire, frozen=True, kw_only=True):
    sleep: Sleep | None = None


class Lifecycle(Wire, frozen=True, kw_only=True):
    pre_stop: Hook | None = None


class Container(Wire, frozen=True, kw_only=True):
    name: str = ""
    image: str = ""
    lifecycle: Lifecycle | None = None

    @property
    def hook_s(self) -> int:
        """How long its preStop hook sleeps; other hooks are not played."""
        hook = self.lifecycle.pre_stop if self.lifecycle else None
        return hook.sleep.seconds if hook and hook.sleep else 0


class PodMeta(ObjectMeta, frozen=True, kw_only=True):
    deletion_grace_period_seconds: int | None = None


class PodSpec(Wire, frozen=True, kw_only=True):
    node_name: str = ""
    containers: tuple[Container, ...] = ()
    restart_policy: str = "Always"
    host_network: bool | None = None


class PodStatus(Wire, frozen=True, kw_only=True):
    phase: str = ""
    start_time: str | None = None


class PlayedPod(ApiObject, frozen=True, kw_only=True):
    """A pod as the kubelet of its node sees it."""

    metadata: PodMeta = PodMeta()
    spec: PodSpec = PodSpec()
    status: PodStatus = PodStatus()

    @property
    def grace_s(self) -> int:
        return self.metadata.deletion_grace_period_seconds or 0

    @property
    def stop_s(self) -> float:
        """
        How long it takes to end once it is deleted: never more than its grace period.

        A grace period that somebody chose is used up, so that one can see what happens meanwhile.  With the default of
        30 s a pod ends as most do: after its preStop hook, in about a second.
        """
        if self.grace_s != DEFAULT_GRACE_S:
            return float(self.grace_s)
        return min(max((each.hook_s for each in self.spec.containers), default=0) + STOP_S, float(self.grace_s))


NODES = Kind("", "v1", "Node", "nodes", PlayedNode, namespaced=False)
PODS = Kind("", "v1", "Pod", "pods", PlayedPod)

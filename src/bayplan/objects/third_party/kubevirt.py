"""Virtual machines of KubeVirt (kubevirt.io/v1), as far as a scheduler reads them.

A VirtualMachine is what people make and keep. While it runs it has a VirtualMachineInstance, and that has a pod. The
StickyVM plugin goes from the pod to its machine; `bayplan sticky` shows what is noted there.
"""

from __future__ import annotations

from bayplan.objects.meta import ApiObject, ObjectMeta, OwnerReference, Wire
from bayplan.objects.pod_template import PodTemplate

GROUP = "kubevirt.io"
VERSION = "v1"

MACHINE, INSTANCE = "VirtualMachine", "VirtualMachineInstance"

STICKY_NODE = "bayplan.io/sticky-node"
"""The annotation of a machine that names the node it returns to, unless the plugin is told another one."""

MIGRATION_LABEL = "kubevirt.io/migrationJobUID"
"""On pods that a running machine is being moved into."""

_ENDED = ("Succeeded", "Failed")


class VirtualMachine(ApiObject, frozen=True, kw_only=True):
    """A machine, running or not. Nothing but its metadata matters here."""


class MigrationState(Wire, frozen=True, kw_only=True):
    """The last live migration of an instance."""

    migration_uid: str = ""
    source_node: str = ""
    target_node: str = ""
    completed: bool = False
    failed: bool = False


class InstanceSpec(Wire, frozen=True, kw_only=True):
    scheduler_name: str = ""


class InstanceStatus(Wire, frozen=True, kw_only=True):
    node_name: str = ""
    phase: str = ""
    migration_state: MigrationState | None = None


class VirtualMachineInstance(ApiObject, frozen=True, kw_only=True):
    """A machine that runs, or is about to."""

    spec: InstanceSpec = InstanceSpec()
    status: InstanceStatus = InstanceStatus()

    @property
    def machine(self) -> OwnerReference | None:
        """The machine it is an instance of; None for one that was made by itself, or by something else."""
        return owner_of(self.metadata, MACHINE)

    @property
    def is_over(self) -> bool:
        """Has it ended, or is it about to go?"""
        return self.is_terminating or self.status.phase in _ENDED

    @property
    def moved_from(self) -> str:
        """The node that a finished live migration took it from to where it is now; "" if there was none."""
        state = self.status.migration_state
        if state is None or not state.completed or state.failed or state.target_node != self.status.node_name:
            return ""
        return state.source_node

    @property
    def migration(self) -> str:
        """The uid of its last live migration, finished or not; "" if there was none."""
        state = self.status.migration_state
        return "" if state is None else state.migration_uid


def owner_of(thing: ObjectMeta | PodTemplate, kind: str) -> OwnerReference | None:
    """The owner of one of these kinds, if there is one."""
    for owner in thing.owner_references or ():
        if owner.kind == kind and owner.api_version.partition("/")[0] == GROUP:
            return owner
    return None

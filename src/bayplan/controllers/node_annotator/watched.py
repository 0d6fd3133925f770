"""What the annotator reads of the API server: nodes with their addresses, and Scheduled events.

`app.annotator.live` starts an informer for each of these. Of both kinds only the fields named here are kept.
"""

from __future__ import annotations

from bayplan.controllers.node_annotator.hot_values import assigned_node
from bayplan.objects.kinds import Kind
from bayplan.objects.meta import ApiObject, Wire
from bayplan.objects.times import parse_time

INTERNAL_IP = "InternalIP"
SCHEDULED = "reason=Scheduled,type=Normal"
"""The field selector of the events that tell of a pod's node, whichever scheduler chose it."""


class NodeAddress(Wire, frozen=True, kw_only=True):
    type: str = ""
    address: str = ""


class AddressedStatus(Wire, frozen=True, kw_only=True):
    addresses: tuple[NodeAddress, ...] | None = None


class AddressedNode(ApiObject, frozen=True, kw_only=True):
    """A node as far as it matters here."""

    status: AddressedStatus = AddressedStatus()

    @property
    def internal_ips(self) -> list[str]:
        return [each.address for each in self.status.addresses or () if each.type == INTERNAL_IP and each.address]


class ScheduledEvent(ApiObject, frozen=True, kw_only=True):
    """An event of either API, as the older one shows it."""

    message: str = ""
    count: int = 0
    event_time: str | None = None
    last_timestamp: str | None = None

    @property
    def node(self) -> str | None:
        return assigned_node(self.message)

    @property
    def at(self) -> float | None:
        """When the pod was assigned: newer events have a time of their own, older ones are counted."""
        written = (self.event_time, self.last_timestamp, self.metadata.creation_timestamp)
        if self.count:
            written = (self.last_timestamp, self.event_time, self.metadata.creation_timestamp)
        return parse_time(next(filter(None, written), None))


NODES = Kind("", "v1", "Node", "nodes", AddressedNode, namespaced=False)
EVENTS = Kind("", "v1", "Event", "events", ScheduledEvent)

"""
The ports at the engine's edges: what the live app and the simulator must offer.

``engine`` and plugins know these protocols only; ``kube`` and ``simulator`` implement them.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any, Protocol

from bayplan.objects.devices.resource_claim import ResourceClaim
from bayplan.objects.extender import Filtered, VictimIds, Victims
from bayplan.objects.meta import ApiObject
from bayplan.objects.pod import Pod


class ClusterWriter(Protocol):
    """Everything the scheduler may do to a cluster."""

    async def bind(self, pod: Pod, node_name: str) -> None:
        """Bind a pod, with its UID as precondition.  Raises ``ApiError`` or ``TransportError``."""

    async def patch_pod_status(self, pod: Pod, patch: dict[str, Any]) -> None:
        """Patch the status subresource."""

    async def delete_pod(self, pod: Pod) -> None:
        """Delete a pod gracefully.  A pod that is gone already is no error."""

    async def evict(self, pod: Pod) -> None:
        """
        Ask for a pod to go, as far as its disruption budgets allow: ``EvictionRefusedError`` if they do not now.

        A pod that is gone already is no error.
        """

    async def patch(
        self,
        kind: str,
        namespace: str,
        name: str,
        patch: dict[str, Any],
        resource_version: str = "",
        subresource: str = "",
    ) -> str:
        """
        Merge a patch into an object of another kind (``namespace`` is "" for those of the whole cluster).

        With a ``resource_version`` only if the object is still that version; ``ConflictError`` if it is not: ``read``
        it and decide anew.  With a ``subresource``, such as "status", only that part is written.  Gives the version
        the object has then.
        """

    async def create(self, thing: ApiObject) -> ApiObject:
        """
        Make an object; gives it as it is stored.

        Without a name it is called as its ``generateName`` says.  ``ConflictError`` if there is one of that name.
        """

    async def delete(self, thing: ApiObject) -> None:
        """Delete an object, with its UID as precondition.  One that is gone already is no error."""

    async def read(self, kind: str, namespace: str, name: str) -> ApiObject:
        """An object as it is stored now, where what is known from watching may be behind.  ``NotFoundError``."""

    async def release_claim(self, claim: ResourceClaim, consumer_uid: str) -> None:
        """Take a pod off those that a claim is reserved for.  A claim that is gone is no error."""


class Extender(Protocol):
    """
    A service outside that has a say in scheduling.

    It is asked only what it is there for (``filters``, ``prioritizes``, ``preempts``, ``binds``) and only about pods
    it is interested in.  Every call may raise ``ExtenderError``, whose text ends up in the pod's status.
    """

    @property
    def name(self) -> str: ...

    @property
    def weight(self) -> int:
        """How much its scores count."""

    @property
    def is_ignorable(self) -> bool:
        """Do its failures count as no answer at all?  Otherwise they fail the pod."""

    @property
    def filters(self) -> bool: ...

    @property
    def prioritizes(self) -> bool: ...

    @property
    def preempts(self) -> bool: ...

    @property
    def binds(self) -> bool: ...

    def is_interested(self, pod: Pod) -> bool: ...

    async def filter(self, pod: Pod, node_names: Sequence[str]) -> Filtered:
        """Which of these nodes may have the pod."""

    async def prioritize(self, pod: Pod, node_names: Sequence[str]) -> Sequence[tuple[str, int]]:
        """Scores, 0 to 10, by node name; a node that is named twice gets the sum."""

    async def preempt(self, pod: Pod, victims: Mapping[str, Victims]) -> Mapping[str, VictimIds]:
        """On which of these nodes pods may be evicted for this one, and which pods."""

    async def bind(self, pod: Pod, node_name: str) -> None:
        """Bind the pod in the scheduler's place."""


class EventSink(Protocol):
    """Where events about pods go.  Never blocks."""

    def emit(self, pod: Pod, *, type: str, reason: str, action: str, note: str, related: Pod | None = None) -> None:
        """Record one event."""


class MetricSink(Protocol):
    """Where numbers go.  Names are kube-scheduler's, without the prefix."""

    def counter(self, name: str, value: float = 1, /, **labels: str) -> None: ...

    def gauge(self, name: str, value: float, /, **labels: str) -> None: ...

    def observe(self, name: str, seconds: float, /, **labels: str) -> None: ...


class NoMetrics:
    """Numbers that are not collected."""

    def counter(self, name: str, value: float = 1, /, **labels: str) -> None:
        return None

    def gauge(self, name: str, value: float, /, **labels: str) -> None:
        return None

    def observe(self, name: str, seconds: float, /, **labels: str) -> None:
        return None

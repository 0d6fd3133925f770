"""
Nominations: pods that wait for room on a node, by node.

``SchedulingQueue`` keeps it up to date from pod events; the failure handler nominates after preemption, before
the API server knows of it.  Filtering counts nominated pods as if they were there.
"""

from __future__ import annotations

from collections.abc import Collection, Sequence

from bayplan.engine.journal import Journal
from bayplan.objects.pod import Pod


class Nominations:
    """At most one node for each pod; the pods of a node in the order they were nominated."""

    __slots__ = ("_by_node", "_journal", "_node_of")

    def __init__(self) -> None:
        self._by_node: dict[str, dict[str, Pod]] = {}
        self._node_of: dict[str, str] = {}
        self._journal: Journal[str] = Journal()
        """Nodes that other pods are nominated to than before."""

    def nominate(self, pod: Pod, node_name: str) -> None:
        """Replaces an earlier nomination; an empty name only takes that back."""
        self.remove(pod.uid)
        if node_name:
            self._node_of[pod.uid] = node_name
            self._by_node.setdefault(node_name, {})[pod.uid] = pod
            self._journal.append(node_name)

    def remove(self, uid: str) -> None:
        node_name = self._node_of.pop(uid, None)
        if node_name is None:
            return
        pods = self._by_node[node_name]
        del pods[uid]
        if not pods:
            del self._by_node[node_name]
        self._journal.append(node_name)

    def update(self, old: Pod, new: Pod) -> None:
        """
        Follow the pod's own ``nominatedNodeName``.  An update that knows of no nomination before or after may
        be older than one made here, which then stays.
        """
        if old.nominated_node_name or new.nominated_node_name:
            self.nominate(new, new.nominated_node_name)
        elif new.uid in self._node_of:
            node_name = self._node_of[new.uid]
            self._by_node[node_name][new.uid] = new
            self._journal.append(node_name)

    def nominated(self, node_name: str) -> Sequence[Pod]:
        pods = self._by_node.get(node_name)
        return tuple(pods.values()) if pods else ()

    def nominated_nodes(self) -> Collection[str]:
        return self._by_node.keys()

    def nominations_since(self, position: int) -> tuple[int, Collection[str] | None]:
        return self._journal.position, self._journal.since(position)

"""
Nominations: pods that wait for room on a node, by node.

``SchedulingQueue`` keeps it up to date from pod events; the failure handler nominates after preemption, before
the API server knows of it.  Filtering counts nominated pods as if they were there.
"""

from __future__ import annotations

from collections.abc import Collection, Sequence

from bayplan.objects.pod import Pod

# A reader that fell this far behind must look at every node.
MAX_JOURNAL = 1 << 12


class Nominations:
    """At most one node for each pod; the pods of a node in the order they were nominated."""

    __slots__ = ("_by_node", "_journal", "_journal_start", "_node_of")

    def __init__(self) -> None:
        self._by_node: dict[str, dict[str, Pod]] = {}
        self._node_of: dict[str, str] = {}
        self._journal: list[str] = []
        self._journal_start = 0

    def nominate(self, pod: Pod, node_name: str) -> None:
        """Replaces an earlier nomination; an empty name only takes that back."""
        self.remove(pod.uid)
        if node_name:
            self._node_of[pod.uid] = node_name
            self._by_node.setdefault(node_name, {})[pod.uid] = pod
            self._note(node_name)

    def remove(self, uid: str) -> None:
        node_name = self._node_of.pop(uid, None)
        if node_name is None:
            return
        pods = self._by_node[node_name]
        del pods[uid]
        if not pods:
            del self._by_node[node_name]
        self._note(node_name)

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
            self._note(node_name)

    def on_node(self, node_name: str) -> Sequence[Pod]:
        pods = self._by_node.get(node_name)
        return tuple(pods.values()) if pods else ()

    def nodes(self) -> Collection[str]:
        return self._by_node.keys()

    # -- what has changed --

    def position(self) -> int:
        """Where the journal of nodes with other pods than before stands."""
        return self._journal_start + len(self._journal)

    def changed_since(self, position: int) -> set[str] | None:
        """Nodes that other pods are nominated to since then, or ``None`` if that is too long ago to tell."""
        start = position - self._journal_start
        return None if start < 0 else set(self._journal[start:])

    def _note(self, node_name: str) -> None:
        self._journal.append(node_name)
        if len(self._journal) > MAX_JOURNAL:
            dropped = len(self._journal) // 2
            del self._journal[:dropped]
            self._journal_start += dropped

"""
ClusterCache: what the scheduler believes of the cluster, and the sole owner of the columns.

A pod on a node goes through these states; the names of the arrows are the methods::

    (unknown) --assume--> assumed --add_pod--> added --remove_pod--> (unknown)
        |                    |                   ^
        |                    +---forget--> (unknown)
        +----------------add_pod-----------------+

An assumed pod counts on its node before the API server has confirmed the bind; it never expires, it is confirmed or
forgotten.  ``add_pod`` also takes a newer version of a pod that is there.  Pods on a node that is not known (a *ghost*)
are kept until the node appears.
Called by ``engine.scheduler`` for every event and by ``engine.committing``.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, MutableMapping, Sequence
from copy import copy

import numpy as np

from bayplan.engine.columns import Columns
from bayplan.engine.count_groups import CountGroups
from bayplan.engine.journal import Journal, Stamps
from bayplan.engine.overlay import Groups, Overlay
from bayplan.engine.pod_templates import without_idle_volumes
from bayplan.engine.store import Store
from bayplan.engine.table import ColumnTable
from bayplan.engine.term_groups import TermGroups
from bayplan.errors import StateError
from bayplan.framework.snapshot import Rows, Snapshot
from bayplan.objects.node import Node
from bayplan.objects.pod import Pod


class ClusterCache:
    """Nodes, the pods on them, and everything kept up to date about both."""

    def __init__(self) -> None:
        self._stamps = Stamps()
        self.columns = Columns()
        self.nodes = ColumnTable(self.columns, self._stamps)
        self.objects = Store()
        self.nodes.counts = CountGroups(self.columns, self.nodes.row_of)
        self.nodes.term_groups = TermGroups(self.columns, self._namespace_labels)
        self.generation = 0
        """The stamp of the last change."""
        self.journal: Journal[int] = Journal()
        """
        Rows that changed, or about which a plugin gives another answer now.  It is cut when rows are added, removed or
        moved: their numbers mean others then.
        """
        self._pods: MutableMapping[str, Pod] = {}
        self._assumed: MutableMapping[str, bool] = {}
        self._ghosts: Groups[str, str, Pod] = Groups()
        self._zones: dict[str, dict[str, None]] = {}
        self._shares_zones = False
        self._order: Rows | None = None

    def fork(self) -> ClusterCache:
        """
        The same cluster, to be changed without changing this one.  What is not changed is shared, so a fork costs
        little; this cluster must stay as it is for as long as the fork is used.  Other objects are the same in both.
        """
        fork = copy(self)
        fork.columns = self.columns.fork()
        fork.nodes = self.nodes.fork(fork.columns)
        fork.journal = Journal()
        fork._pods, fork._assumed = Overlay(self._pods), Overlay(self._assumed)
        fork._ghosts = self._ghosts.fork()
        fork._shares_zones = True
        return fork

    def snapshot(self) -> Snapshot:
        """The cluster now.  Columns are shared, not copied: read it before the next change."""
        return Snapshot(self.nodes, self.generation)

    def _touch(self, row: int) -> None:
        self.generation = stamp = self._stamps.take()
        self.nodes.touched(row, stamp)
        self.journal.append(row)

    def _rows_moved(self, row: int) -> None:
        """Rows are numbered anew, and this one is another."""
        self._order = None
        self.generation = stamp = self._stamps.take()
        self.nodes.touched(row, stamp)
        self.journal.cut()

    def note_node(self, name: str) -> None:
        """A plugin says that its answers for a node changed; node and pods did not."""
        row = self.nodes.row_of(name)
        if row is not None:
            self.journal.append(row)

    # -- pods --

    def is_assumed(self, uid: str) -> bool:
        return uid in self._assumed

    def pod(self, uid: str) -> Pod | None:
        return self._pods.get(uid)

    def pods(self) -> Iterator[Pod]:
        return iter(self._pods.values())

    @property
    def pod_count(self) -> int:
        return len(self._pods)

    @property
    def assumed_count(self) -> int:
        return len(self._assumed)

    def assume(self, pod: Pod) -> None:
        """Count a pod (already assigned in its spec) on its node before the API server has confirmed it."""
        if pod.uid in self._pods:
            raise StateError(f"pod {pod.key} ({pod.uid}) is in the cache already and cannot be assumed")
        self._enter(pod)
        self._assumed[pod.uid] = True

    def assume_alike(self, pods: Sequence[Pod], rows: Sequence[int]) -> None:
        """
        Assume pods of one template that are not known yet, each on its row.  They take CPU and memory and nothing else
        that is counted, and ``nodes.sums`` has the numbers of their rows' new sums.
        """
        on_row = self.nodes.own_pods
        for pod, row in zip(pods, rows, strict=True):
            uid = pod.uid
            self._pods[uid] = on_row(row)[uid] = pod
            self._assumed[uid] = True
        each = np.array(rows, np.intp)
        self.nodes.move_alike(each, pods)
        self.nodes.counts.pods_entered(pods, each)
        self.generation = self._stamps.take(len(rows))
        self.nodes.touched_each(each, self.generation)
        self.journal.extend(rows)

    def forget(self, pod: Pod) -> None:
        """Undo an assume.  A pod that is not there is no error."""
        known = self._pods.get(pod.uid)
        if known is None:
            return
        if pod.uid not in self._assumed:
            raise StateError(f"pod {pod.key} ({pod.uid}) is not assumed and cannot be forgotten")
        self._leave(known)

    def add_pod(self, pod: Pod) -> None:
        """The API server shows a pod on a node: confirms an assumed one, adds an unknown one."""
        known = self._pods.get(pod.uid)
        if known is not None:
            # Confirmed; or a watch that started anew tells of it again. The API's word replaces ours.
            row = self.nodes.row_of(known.node_name)
            if row is not None and counts_the_same(known, pod):
                self._replace(pod.like(known.template, known.spec), row)
                return
            self._leave(known)
        self._enter(pod)

    def _replace(self, pod: Pod, row: int) -> None:
        """A newer version of a pod that takes and counts what it did: no sum moves."""
        uid = pod.uid
        self._pods[uid] = pod
        self._assumed.pop(uid, None)
        pods = self.nodes.own_pods(row)
        del pods[uid]  # as kube-scheduler does, the newest goes to the end
        pods[uid] = pod
        self.nodes.counts.pod_replaced(pod)
        self.nodes.pod_replaced(pod)
        self._touch(row)

    def remove_pod(self, pod: Pod) -> None:
        """A pod left its node for good."""
        known = self._pods.get(pod.uid)
        if known is not None:
            self._leave(known)

    def _enter(self, pod: Pod) -> None:
        self._pods[pod.uid] = pod
        row = self.nodes.row_of(pod.node_name)
        if row is None:
            self._ghosts.put(pod.node_name, pod.uid, pod)
            return
        self._place(pod, row)

    def _leave(self, pod: Pod) -> None:
        del self._pods[pod.uid]
        self._assumed.pop(pod.uid, None)
        row = self.nodes.row_of(pod.node_name)
        if row is not None:
            self._displace(pod, row)
            return
        self._ghosts.drop(pod.node_name, pod.uid)

    def _place(self, pod: Pod, row: int) -> None:
        self.nodes.own_pods(row)[pod.uid] = pod
        self.nodes.move_pod(row, pod, 1)
        self.nodes.counts.pod_entered(pod, pod.node_name, row)
        self.nodes.term_groups.pod_entered(pod, row)
        self._touch(row)

    def _displace(self, pod: Pod, row: int) -> None:
        del self.nodes.own_pods(row)[pod.uid]
        self.nodes.move_pod(row, pod, -1)
        self.nodes.counts.pod_left(pod, row)
        self.nodes.term_groups.pod_left(pod, row)
        self._touch(row)

    # -- nodes --

    def add_node(self, node: Node) -> None:
        """A node appeared, or was told of again."""
        self._own_zones()
        row = self.nodes.row_of(node.name)
        if row is not None:
            self._change_zone(self.nodes.objects[row], node)
            self.nodes.write_object(row, self.nodes.objects[row], node)
            self._touch(row)
            return
        row = self.nodes.append(node)
        self._zones.setdefault(_zone_key(node), {})[node.name] = None
        for pod in list(self._ghosts.of(node.name).values()):
            self._ghosts.drop(node.name, pod.uid)
            self._place(pod, row)
        self._rows_moved(row)

    update_node = add_node

    def remove_node(self, name: str) -> None:
        """A node is gone; the pods still said to be on it become ghosts."""
        row = self.nodes.row_of(name)
        if row is None:
            return
        self._own_zones()
        for pod in list(self.nodes.pods[row].values()):
            self._displace(pod, row)
            self._ghosts.put(name, pod.uid, pod)
        self._leave_zone(self.nodes.objects[row])
        self.nodes.remove(row)
        self._rows_moved(row)

    def _own_zones(self) -> None:
        if self._shares_zones:
            self._zones = {zone: dict(names) for zone, names in self._zones.items()}
            self._shares_zones = False

    def _change_zone(self, old: Node, new: Node) -> None:
        """The order itself is made anew only when a node comes or goes, as kube-scheduler does."""
        if _zone_key(old) != _zone_key(new):
            self._leave_zone(old)
            self._zones.setdefault(_zone_key(new), {})[new.name] = None

    def _leave_zone(self, node: Node) -> None:
        zone = _zone_key(node)
        del self._zones[zone][node.name]
        if not self._zones[zone]:
            del self._zones[zone]

    def node_order(self) -> Rows:
        """Rows in kube-scheduler's order: one node of each zone in turn, zones as they first appeared."""
        if self._order is None:
            zones = [list(names) for names in self._zones.values()]
            longest = max(map(len, zones), default=0)
            names = [zone[i] for i in range(longest) for zone in zones if i < len(zone)]
            self._order = np.array([self.nodes.row_of(name) for name in names], np.intp)
        return self._order

    # -- namespaces --

    def namespaces_changed(self) -> None:
        """Terms with a namespace selector must be matched again."""
        self.nodes.term_groups.forget_matches()

    def _namespace_labels(self, name: str) -> Mapping[str, str]:
        namespace = self.objects.get("Namespace", "", name)
        return namespace.labels if namespace is not None else {}


def counts_the_same(known: Pod, pod: Pod) -> bool:
    """Is everything the same that sums, counts and owners are made of?  Volumes are left for a closer look."""
    before, now = known.metadata, pod.metadata
    return (
        not known.spec.volumes
        and known.spec == without_idle_volumes(pod.spec)
        and before.labels == now.labels
        and before.owner_references == now.owner_references
        and before.deletion_timestamp == now.deletion_timestamp
        and not known.reports_amounts
        and not pod.reports_amounts
    )


def _zone_key(node: Node) -> str:
    """kube-scheduler's zone: the same zone of two regions is not the same."""
    region, zone = node.region, node.zone
    return f"{region}:\0:{zone}" if region or zone else ""

"""
NodePorts: a host port can be taken once per node, address and protocol.

``0.0.0.0`` (also what an empty address means) stands for every address, ``::`` for nothing but itself.

Extension points: PreFilter, Filter.
Requeue: a node was added; a pod that held one of the wanted ports was deleted.
"""

from __future__ import annotations

from collections.abc import Iterable

import numpy as np

from bayplan.framework import (
    SKIP,
    Change,
    Code,
    Codes,
    CycleState,
    Depends,
    FilterPlugin,
    NodeTable,
    NodeView,
    On,
    PodTemplate,
    PreFilterPlugin,
    Promise,
    Reason,
    Verdict,
)
from bayplan.objects.pod import HostPort, Pod

PORT_TAKEN = Reason(Code.UNSCHEDULABLE, "node(s) didn't have free ports for the requested pod ports")

EVERY_ADDRESS = "0.0.0.0"


class NodePorts(PreFilterPlugin, FilterPlugin):
    """A host port can be taken once per node, address and protocol."""

    name = "NodePorts"
    reasons = (PORT_TAKEN,)

    def requeue_on(self) -> tuple[On, ...]:
        return (On("Pod", Change.DELETED, _freed_a_port), On("Node", Change.ADDED))

    def promise(self, template: PodTemplate) -> Promise | None:
        return Promise(key=frozenset(template.host_ports), filter=Depends.ROW)

    def pre_filter(self, state: CycleState, pod: Pod, nodes: NodeTable) -> Verdict:
        return None if pod.host_ports else SKIP

    def filter_node(self, state: CycleState, pod: Pod, node: NodeView) -> Verdict:
        return PORT_TAKEN if pod.host_ports and _conflict(pod.host_ports, node.host_ports) else None

    def filter(self, state: CycleState, pod: Pod, nodes: NodeTable) -> Codes:
        taken = [
            row
            for wanted in set(pod.host_ports)
            for row, ip in nodes.port_users(wanted.protocol, wanted.port)
            if _same_address(wanted.ip, ip)
        ]
        codes = np.zeros(len(nodes), np.uint8)
        codes[taken] = self.code(PORT_TAKEN)
        return codes


def _conflict(wanted: Iterable[HostPort], used: Iterable[HostPort]) -> bool:
    in_use = list(used)
    return any(
        (one.protocol, one.port) == (other.protocol, other.port) and _same_address(one.ip, other.ip)
        for one in wanted
        for other in in_use
    )


def _same_address(wanted: str, used: str) -> bool:
    return wanted == used or EVERY_ADDRESS in (wanted, used)


def _freed_a_port(pod: Pod, old: Pod, new: None) -> bool:
    had_a_node = old.node_name or old.nominated_node_name
    return bool(had_a_node) and _conflict(pod.host_ports, old.host_ports)

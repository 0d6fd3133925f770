"""
Who is where before and after: pods that moved, wait, got room, or are no more.

A pod that was evicted or lost is followed to the one that its controller made in its place.  ``scenario`` takes a
``Roll`` before and compares it in the end.
"""

from __future__ import annotations

from collections.abc import Collection
from dataclasses import dataclass, field
from typing import Any

from bayplan.controllers.rebalancer.protection import belongs_to_its_node
from bayplan.objects.pod import Pod
from bayplan.simulator.controllers.daemons import node_of
from bayplan.simulator.pod_records import DELETED, SCALED_IN, Record
from bayplan.simulator.report.simulation_report import GATED, IGNORED, state_of
from bayplan.simulator.world import World

ASKED_FOR = (SCALED_IN, DELETED)
"""How pods go because somebody wanted it so."""

Told = dict[str, Any]


@dataclass(frozen=True, slots=True)
class Roll:
    """Every pod that was there, and its node, "" for none."""

    nodes: dict[str, str]

    @classmethod
    def of(cls, world: World) -> Roll:
        living = (record.pod for record in world.cluster.records.values() if not record.is_gone)
        return cls({pod.uid: pod.node_name for pod in living})


@dataclass(slots=True)
class Difference:
    """What became of the pods."""

    moved: list[Told] = field(default_factory=list)
    pending: list[Told] = field(default_factory=list)
    placed: list[Told] = field(default_factory=list)
    lost: list[Told] = field(default_factory=list)
    gone: list[Told] = field(default_factory=list)


def compare(world: World, before: Roll, lost_nodes: Collection[str]) -> Difference:
    """``lost_nodes``: a pod that belongs to one of them is not missed."""
    found = Difference()
    records = world.cluster.records
    successors = {record.replaces: record for record in records.values() if record.replaces}
    newest = {record.pod.key: record for record in records.values()}
    met: set[str] = set()
    for uid, node in before.nodes.items():
        first = records[uid]
        last = _followed(first, successors, newest)
        met.add(last.pod.uid)
        _judge(world, first, last, node, lost_nodes, found)
    for record in records.values():
        if not record.is_gone and record.pod.uid not in met:
            _judge_new(world, record, found)
    return found


def _followed(record: Record, successors: dict[str, Record], newest: dict[str, Record]) -> Record:
    """The pod that stands for this one now; pods of a StatefulSet keep their names."""
    while record.is_gone:
        following = successors.get(record.pod.uid) or newest[record.pod.key]
        if following is record or following.came_at < record.came_at:
            return record
        record = following
    return record


def _judge(
    world: World, first: Record, last: Record, node: str, lost_nodes: Collection[str], found: Difference
) -> None:
    told = _told(world, first.pod)
    if last.is_gone:
        if belongs_to_its_node(last.pod) and node_of(last.pod) in lost_nodes:
            pass
        elif last.ended in ASKED_FOR:
            found.gone.append({**told, "from": node or None, "message": last.message or "scaled in"})
        elif world.workloads.looks_after(last.pod):
            found.pending.append({**told, "from": node or None, "message": _NOT_MADE_YET})
        else:
            message = last.message or "evicted, and nobody makes it again"
            found.lost.append({**told, "from": node or None, "message": message})
        return
    now = last.pod.node_name
    if last is not first:
        told["replacement"] = last.pod.name
    if now and node and (now != node):
        found.moved.append({**told, "from": node, "to": now})
    elif now and not node:
        found.placed.append({**told, "to": now})
    elif node and not now:
        found.pending.append({**told, "from": node, "message": state_of(world, last)[1]})


_NOT_MADE_YET = "not made again yet: its StatefulSet waits for the pods before it"


def _judge_new(world: World, record: Record, found: Difference) -> None:
    told = {**_told(world, record.pod), "new": True}
    state, message = state_of(world, record)
    if record.pod.node_name:
        found.placed.append({**told, "to": record.pod.node_name})
    elif state not in (GATED, IGNORED):
        found.pending.append({**told, "from": None, "message": message})


def _told(world: World, pod: Pod) -> Told:
    return {"namespace": pod.namespace, "name": pod.name, "owner": world.workloads.owner(pod)}

"""A node's spare ledger for ``bayplan explain``: how much, why so much, and what is taken of it."""

from __future__ import annotations

from bayplan.framework import NodeView
from bayplan.objects import spare
from bayplan.objects.quantity import format_resource
from bayplan.objects.resources import CPU, MEMORY
from bayplan.objects.spare import CPU_MILLI, LEDGER, MEMORY_MIB, MIB


def lines(node: NodeView, close_after_s: float, now: float) -> list[str]:
    ledger = spare.read_ledger(node.annotations.get(LEDGER))
    if ledger is None:
        return [f"no spare capacity: the node has no readable annotation {LEDGER}"]
    cpu, memory = (
        f"{format_resource(CPU, node.scalar_req(CPU_MILLI))} declared by spare pods",
        f"{format_resource(MEMORY, node.scalar_req(MEMORY_MIB) * MIB)} declared by spare pods",
    )
    age = now - ledger.sampled_at
    closed = ""
    if spare.is_closed(ledger.sampled_at, close_after_s, now):
        closed = f", too old: closed after {close_after_s:g} s" if age > 0 else ", closed: that is a time to come"
    return [
        f"spare cpu {ledger.cpu_because or format_resource(CPU, ledger.cpu_milli)}; {cpu}",
        f"spare memory {ledger.memory_because or format_resource(MEMORY, ledger.memory_mib * MIB)}; {memory}",
        f"the load behind it is {age:.0f} s old{closed}",
    ]

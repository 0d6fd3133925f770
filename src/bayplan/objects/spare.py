"""Spare capacity: which pods live on it, what they declare, and the ledger that a node carries.

A node's spare capacity is what its guaranteed pods have asked for and do not use. Pods of the class `spare` request no
CPU and no memory, so they never count among the guaranteed ones; they declare what they use as extended resources that
no node offers, so that a scheduler which knows nothing of this leaves them alone. The controller of spare capacity
writes each node's ledger as an annotation, the SpareCapacity plugin reads it.
"""

from __future__ import annotations

import json
from typing import Any, NamedTuple

from bayplan.objects.pod import Pod
from bayplan.objects.pod_template import PodTemplate
from bayplan.objects.third_party.crane_annotations import is_good, parse_stamp
from bayplan.objects.times import format_time

GROUP = "spare.bayplan.io"
CPU_MILLI = f"{GROUP}/cpu-milli"
MEMORY_MIB = f"{GROUP}/memory-mib"
LEDGER = f"{GROUP}/ledger"
CLASS_LABEL = "bayplan.io/capacity"
SPARE = "spare"
MIB = 1024**2
CLOSE_AFTER_S = 360.0
"""How old the load behind a ledger may be: twice the time between two values of a five-minute average."""


class Declared(NamedTuple):
    """What a spare pod says it uses."""

    cpu_milli: int
    memory_mib: int

    @property
    def memory_bytes(self) -> int:
        return self.memory_mib * MIB


def is_spare(pod: Pod | PodTemplate) -> bool:
    """By its label, or because it asks for a resource of the group."""
    if pod.labels.get(CLASS_LABEL) == SPARE:
        return True
    scalars = pod.requests.scalars
    return bool(scalars) and any(name.startswith(f"{GROUP}/") for name in scalars)


def declared(pod: Pod) -> Declared | None:
    """What a spare pod declares; None for any other pod."""
    if not is_spare(pod):
        return None
    scalars = pod.requests.scalars
    return Declared(scalars.get(CPU_MILLI, 0), scalars.get(MEMORY_MIB, 0))


def mistake_in(pod: Pod) -> str | None:
    """What keeps a spare pod from being counted right: one sentence that says what to write."""
    asked, said = pod.requests, declared(pod)
    if said is None:
        return None
    if asked.cpu_milli or asked.memory_bytes:
        return "a spare pod requests neither cpu nor memory: remove its requests and limits of these"
    if said.cpu_milli <= 0 or said.memory_mib <= 0:
        return f"a spare pod declares what it uses: add {CPU_MILLI} and {MEMORY_MIB} to its requests and limits"
    return None


class Ledger(NamedTuple):
    """What a node has to spare, on the ground of a load measured at `sampled_at`, and how that was worked out."""

    cpu_milli: int
    memory_mib: int
    sampled_at: float
    cpu_because: str = ""
    memory_because: str = ""

    def as_text(self) -> str:
        """As the annotation holds it."""
        written = {
            "cpuMilli": self.cpu_milli,
            "memoryMiB": self.memory_mib,
            "sampledAt": format_time(self.sampled_at),
            "cpu": self.cpu_because,
            "memory": self.memory_because,
        }
        return json.dumps(written, separators=(",", ":"), ensure_ascii=False)


def read_ledger(text: str | None) -> Ledger | None:
    """The ledger in an annotation; None where there is none, or none that makes sense."""
    if text is None:
        return None
    try:
        written: Any = json.loads(text)
        cpu, memory = written["cpuMilli"], written["memoryMiB"]
        at = parse_stamp(written["sampledAt"])
        because = str(written.get("cpu", "")), str(written.get("memory", ""))
    except (ValueError, TypeError, KeyError, AttributeError, RecursionError):
        return None
    if at is None or not _is_amount(cpu) or not _is_amount(memory):
        return None
    return Ledger(cpu, memory, at, *because)


def is_closed(sampled_at: float, close_after_s: float, now: float) -> bool:
    """Is the load behind a ledger too old to lend anything, or from a time to come, so that its age is not known?"""
    return not is_good(sampled_at, close_after_s, now)


def _is_amount(value: Any) -> bool:
    return isinstance(value, int) and not isinstance(value, bool) and 0 <= value < 2**53

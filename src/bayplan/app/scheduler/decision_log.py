"""
The last decisions of the live scheduler with their diagnosis, so that people see what happened, not what would now.

``app.scheduler.live`` reports decisions and the ends of binding cycles; they are served at ``/decisions``.  Memory is
bounded by count and by bytes.  A pod that was placed from what is kept of pods like it costs one small object; whatever
is dear to make (counts by reason, the best nodes) is there only where the whole evaluation was run.
"""

from __future__ import annotations

from collections import deque
from collections.abc import Iterable, Mapping
from typing import Any, NamedTuple

import msgspec
import numpy as np

from bayplan.clock import Clock
from bayplan.engine.events import BindFailed, Bound
from bayplan.engine.intents import Intent, Outcome, PatchStatus
from bayplan.errors import InputError
from bayplan.framework.decision import Decision
from bayplan.framework.diagnosis import Diagnosis
from bayplan.objects.pod import Pod
from bayplan.objects.times import format_time

API_VERSION = "bayplan.io/v1alpha1"
BINDING, SCHEDULED, UNSCHEDULABLE, ERROR = "binding", "scheduled", "unschedulable", "error"

MOST = 5000
"""Decisions that are kept unless the command line says otherwise."""
MOST_BYTES = 16 << 20
MOST_SHOWN = 500
"""In one answer, unless more are asked for."""
MOST_TEXT = 2048
MOST_GROUPS = 20
TOP = 3
# The object, its place in the queue, and numbers.
_RECORD_BYTES = 300


class Group(NamedTuple):
    """Nodes whose first no was the same."""

    plugin: str
    reasons: tuple[str, ...]
    nodes: int


class Scored(NamedTuple):
    """One of the best nodes, with every plugin's weighted score."""

    node: str
    total: int
    scores: dict[str, int]


class Record:
    """One decision.  Its result changes once, when the binding cycle ends."""

    __slots__ = ("at", "attempt", "groups", "message", "node", "pod", "profile", "result", "size", "ties", "top")

    def __init__(self, at: float, pod: Pod, profile: str, attempt: int, result: str, node: str | None) -> None:
        self.at = at
        self.pod = pod.key
        self.profile = profile
        self.attempt = attempt
        self.result = result
        self.node = node
        self.message = ""
        self.ties = 0
        self.groups: tuple[Group, ...] = ()
        self.top: tuple[Scored, ...] = ()
        self.size = _RECORD_BYTES

    def as_document(self) -> dict[str, Any]:
        namespace, _, name = self.pod.partition("/")
        return {
            "at": format_time(self.at),
            "pod": {"namespace": namespace, "name": name},
            "profile": self.profile,
            "attempt": self.attempt,
            "result": self.result,
            "node": self.node,
            "message": self.message,
            "ties": self.ties,
            "reasons": [{"plugin": each.plugin, "reasons": each.reasons, "nodes": each.nodes} for each in self.groups],
            "top": [{"node": each.node, "total": each.total, "scores": each.scores} for each in self.top],
        }


class DecisionLog:
    """Keeps the last decisions; ``most`` 0 keeps none."""

    def __init__(self, clock: Clock, most: int = MOST, most_bytes: int = MOST_BYTES) -> None:
        self._clock = clock
        self._most = most
        self._most_bytes = most_bytes
        self._records: deque[Record] = deque()
        self._binding: dict[str, Record] = {}
        """By uid: decisions whose binding cycle is under way."""
        self._bytes = 0

    def __len__(self) -> int:
        return len(self._records)

    @property
    def size(self) -> int:
        """The bytes that the records take, as far as they are counted."""
        return self._bytes

    def decided(self, outcome: Outcome) -> None:
        """A decision was made, and committed if it could be."""
        decision = outcome.decision
        if decision is None or not self._most:
            return
        pod = decision.pod
        result = BINDING if outcome.is_committed else _result(outcome.intents, decision)
        record = Record(self._clock.now(), pod, decision.profile_name, outcome.attempt, result, decision.node)
        if decision.node is not None:
            record.ties = decision.ties
        if result == BINDING:
            self._binding[pod.uid] = record
        else:
            record.message = _cut(_message(outcome.intents) or decision.message)
            record.size += len(record.message)
        if decision.diagnosis is not None:  # the whole evaluation was run
            _tell(record, decision, decision.diagnosis)
        self._append(record)

    def binding_ended(self, event: Bound | BindFailed) -> None:
        """The binding cycle of a decision ended."""
        record = self._binding.pop(event.decision.pod.uid, None)
        if record is None:
            return
        if isinstance(event, Bound):
            record.result = SCHEDULED
            return
        record.result = UNSCHEDULABLE if event.status.is_rejected else ERROR
        record.message = _cut(event.status.message)
        if record.size:  # else it was dropped meanwhile
            record.size += len(record.message)
            self._bytes += len(record.message)
            self._trim()

    def document(self, pod: str = "", limit: int = MOST_SHOWN) -> dict[str, Any]:
        """What is kept, the newest first; of one pod (``NAMESPACE/NAME``) if it is named."""
        shown: list[dict[str, Any]] = []
        for record in reversed(self._records):
            if len(shown) >= limit:
                break
            if not pod or record.pod == pod:
                shown.append(record.as_document())
        return {"apiVersion": API_VERSION, "kind": "DecisionList", "kept": len(self._records), "decisions": shown}

    def render(self, query: Mapping[str, str]) -> bytes:
        """
        The answer to ``/decisions?pod=NS/NAME&limit=N``.

        Raises:
            InputError: the limit is no number.
        """
        limit = query.get("limit", str(MOST_SHOWN))
        if not (limit.isascii() and limit.isdecimal() and len(limit) < 10):
            raise InputError("is not a number", field="limit", fix="write how many decisions to show, such as 100")
        return msgspec.json.encode(self.document(query.get("pod", ""), int(limit)))

    def _append(self, record: Record) -> None:
        self._records.append(record)
        self._bytes += record.size
        if len(self._records) > self._most or self._bytes > self._most_bytes:
            self._trim()

    def _trim(self) -> None:
        records = self._records
        while records and (len(records) > self._most or self._bytes > self._most_bytes):
            old = records.popleft()
            self._bytes -= old.size
            old.size = 0


def _result(intents: Iterable[Intent], decision: Decision) -> str:
    for intent in intents:
        if isinstance(intent, PatchStatus):
            return UNSCHEDULABLE if intent.reason == "Unschedulable" else ERROR
    return UNSCHEDULABLE if decision.status.is_rejected else ERROR


def _message(intents: Iterable[Intent]) -> str:
    return next((intent.message for intent in intents if isinstance(intent, PatchStatus)), "")


def _tell(record: Record, decision: Decision, diagnosis: Diagnosis) -> None:
    """Counts and scores are taken now: the columns they are about change with the next event."""
    counted = sorted(diagnosis.counts(), key=lambda pair: -pair[1])[:MOST_GROUPS]
    record.groups = tuple(Group(status.plugin, tuple(map(_cut, status.reasons)), nodes) for status, nodes in counted)
    record.size += sum(100 + sum(map(len, group.reasons)) for group in record.groups)
    totals, names = decision.totals, diagnosis.nodes.names
    if len(totals):
        best = np.argsort(-totals, kind="stable")[:TOP].tolist()
        record.top = tuple(
            Scored(
                names[decision.feasible.item(position)],
                totals.item(position),
                {scores.plugin: scores.weighted.item(position) for scores in decision.scores},
            )
            for position in best
        )
        record.size += sum(200 + 60 * len(scored.scores) for scored in record.top)


def _cut(text: str) -> str:
    return text if len(text) <= MOST_TEXT else text[: MOST_TEXT - 4] + " ..."

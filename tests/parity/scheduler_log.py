"""Reads kube-scheduler's own log while it is written. The oracle asks it what happened to a pod.

At verbosity 10 of ``schedule_one`` there is a line for every plugin and scored node; lower levels tell of attempts,
outcomes and preemption. Every line reads ``I1115 21:50:45.445410 16897 schedule_one.go:982] "Message" key=value …``.
"""

from __future__ import annotations

import json
import re
from dataclasses import dataclass, field
from pathlib import Path

# What to raise the verbosity of, so that the log holds what is read here and little else.
VMODULE = "schedule_one=10,preemption=5,executor=5"

ATTEMPT = "Attempting to schedule pod"
SCORED = "Plugin scored node for pod"
BOUND = "Successfully bound pod to node"
NO_FIT = "Unable to schedule pod; no fit; waiting"
NO_NODES = "Unable to schedule pod; no nodes are registered to the cluster; waiting"
NO_NODES_MESSAGE = "no nodes available to schedule pods"
FAILED = "Error scheduling pod; retrying"
TARGET = "the target node for the preemption is determined"
STARTED = "Start the preemption asynchronously"
EVICTED = "Preemptor Pod preempted victim Pod"
TERMINATING = "Victim Pod is already being deleted, skipping the API call for it"
FINISHED = "Async Preemption finished completely"
OUTCOMES = (BOUND, NO_FIT, NO_NODES, FAILED)

_LINE = re.compile(r'^[IWEF]\d{4} \S+ +\d+ \S+\] "((?:[^"\\]|\\.)*)"(.*)$')
_FIELD = re.compile(r' ([A-Za-z]\w*)=("(?:[^"\\]|\\.)*"|\S+)')


@dataclass(frozen=True, slots=True)
class Entry:
    """One line: the message and its fields."""

    message: str
    fields: dict[str, str]


@dataclass(slots=True)
class Attempt:
    """One scheduling attempt of one pod, as far as the log has it."""

    pod: str
    scores: dict[str, dict[str, int]] = field(default_factory=dict)
    outcome: str = ""
    node: str | None = None
    message: str = ""
    target: str | None = None
    evicted: list[str] = field(default_factory=list)
    terminating: list[str] = field(default_factory=list)
    preemption_started: bool = False
    preemption_finished: bool = False


def parse_line(line: str) -> Entry | None:
    """The entry, or None for a line of another shape."""
    match = _LINE.match(line)
    if match is None:
        return None
    fields = {key: _unquote(value) for key, value in _FIELD.findall(match.group(2))}
    return Entry(_unquote(f'"{match.group(1)}"'), fields)


def _unquote(text: str) -> str:
    if not text.startswith('"'):
        return text
    try:
        return str(json.loads(text))
    except ValueError:
        return text[1:-1]


class SchedulerLog:
    """The attempts in a log, read on as it grows."""

    def __init__(self, path: Path) -> None:
        self.attempts: list[Attempt] = []
        self._path = path
        self._offset = 0

    def read(self) -> list[Attempt]:
        """Take in what was written since the last call; returns all attempts so far."""
        with self._path.open("rb") as file:
            file.seek(self._offset)
            content = file.read()
        complete = content[: content.rfind(b"\n") + 1]
        self._offset += len(complete)
        for line in complete.decode(errors="replace").splitlines():
            entry = parse_line(line)
            if entry is not None:
                self._take(entry)
        return self.attempts

    def last_attempt(self, pod: str) -> Attempt | None:
        """The newest attempt of the pod (``namespace/name``)."""
        return next((one for one in reversed(self.attempts) if one.pod == pod), None)

    def _take(self, entry: Entry) -> None:
        fields = entry.fields
        if entry.message == ATTEMPT:
            self.attempts.append(Attempt(fields["pod"]))
            return
        attempt = self.last_attempt(fields.get("preemptor") or fields.get("pod", ""))
        if attempt is None:
            return
        if entry.message == SCORED:
            attempt.scores.setdefault(fields["plugin"], {})[fields["node"]] = int(fields["score"])
        elif entry.message in OUTCOMES:
            attempt.outcome = entry.message
            attempt.node = fields["node"] if entry.message == BOUND else None
            attempt.message = NO_NODES_MESSAGE if entry.message == NO_NODES else fields.get("err", "")
        elif entry.message == TARGET:
            attempt.target = fields["node"]
        elif entry.message == EVICTED:
            attempt.evicted.append(fields["victim"])
        elif entry.message == TERMINATING:
            attempt.terminating.append(fields["victim"])
        elif entry.message == STARTED:
            attempt.preemption_started = True
        elif entry.message == FINISHED:
            attempt.preemption_finished = True

"""
A recording decided again: the document ``kind: Replay``.

Time is virtual: the engine's clock shows the time of each recorded event.  Every recorded bind is decided at the state
that the recording has just before it, as ``bayplan shadow`` does live, and then happens as it was recorded: so each
decision is compared by itself, and one that differs does not change those after it.
"""

from __future__ import annotations

from collections import deque
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from bayplan.clock import VirtualClock
from bayplan.controllers.shadow.event_order import Dated
from bayplan.controllers.shadow.judge import Judge
from bayplan.controllers.shadow.read_only import ReadOnly
from bayplan.controllers.shadow.tally import Tally, rows_as_text
from bayplan.controllers.shadow.verdict import QUIET, Verdict
from bayplan.engine.scheduler import Scheduler
from bayplan.framework.config.model import SchedulerConfig
from bayplan.framework.registry import IN_TREE
from bayplan.plugins.plugin_set import Plugins, make_profiles
from bayplan.simulator.explain.explanation import API_VERSION
from bayplan.simulator.replay import recording
from bayplan.simulator.replay.recording import Recording

AHEAD_S = 2.0
"""How far is looked ahead for binds that were under way."""

Progress = Callable[[int, int], None]
"""Told how many lines have been read, and how many there are."""


@dataclass(frozen=True, slots=True)
class Replayed:
    """What came of it."""

    recording: Recording
    tally: Tally
    told: list[Verdict]
    changes: int
    nodes: int
    pods: int

    def as_document(self) -> dict[str, Any]:
        header = self.recording.header
        return {
            "apiVersion": API_VERSION,
            "kind": "Replay",
            "recording": {
                "startedAt": header.started_at,
                "seconds": round(self.recording.last_s, 3),
                "changes": self.changes,
                "nodes": self.nodes,
                "pods": self.pods,
                "isAnonymous": header.is_anonymous,
                "isWhole": self.recording.is_whole,
            },
            "summary": self.tally.as_document(),
            "pods": [verdict.as_document() for verdict in self.told],
        }

    def as_text(self) -> str:
        """The pods that are worth telling, and the sums."""
        rows = [rows_as_text(self.told)] if self.told else []
        seconds = round(self.recording.last_s, 1)
        about = f"{self.changes} changes in {seconds:g} s; {self.nodes} nodes and {self.pods} pods in the end"
        return "\n\n".join([*rows, f"{about}\n{self.tally.as_text()}"])


def replay(
    path: str | Path,
    config: SchedulerConfig,
    plugins: Plugins,
    *,
    profile: str = "",
    with_all: bool = False,
    warn: Callable[[str], None] = lambda warning: None,
    progress: Progress = lambda done, total: None,
) -> Replayed:
    """
    Decide every bind of a recording again.

    Args:
        profile: the profile that decides for every pod; else the one of the scheduler that the pod asked for.
        with_all: tell of pods that agree or tie as well.
        warn: hears of what is missing in the recording.
    """
    recorded = recording.read(path)
    total = recording.length(path)
    clock, nobody = VirtualClock(recorded.started_at), ReadOnly()
    make = make_profiles(config, plugins.known, plugins.extra, warn)
    engine = Scheduler(make, clock=clock, writer=nobody, events=nobody)
    _warn_of_annotations(recorded, engine, plugins, warn)
    judge, tally, changes = Judge(engine, profile), Tally(), 0
    told: list[Verdict] = []
    ahead: deque[Dated] = deque()
    for dated in _after_the_beginning(recorded, judge, ahead):
        changes += 1
        progress(recorded.lines, total)
        clock.advance_to(dated.at)
        verdict = judge.take(dated, lambda: list(ahead))
        if verdict is None:
            continue
        tally.add(verdict)
        if with_all or verdict.finding not in QUIET:
            told.append(verdict)
    if not recorded.is_whole:
        warn(f"{path}: the recording breaks off after {recorded.last_s:.1f} s; it was read up to there")
    if not recorded.is_synced:
        warn(f"{path}: the recorder ended before it had seen the whole cluster, so nothing could be judged")
    return Replayed(recorded, tally, told, changes, len(engine.cache.nodes), engine.cache.pod_count)


def _after_the_beginning(recorded: Recording, judge: Judge, ahead: deque[Dated]) -> Iterator[Dated]:
    """What happened, one after the other; ``ahead`` has what comes within the next moments."""
    for dated, is_beginning in recorded.events():
        if is_beginning:
            judge.learn(dated.event)
            continue
        ahead.append(dated)
        while ahead[-1].at - ahead[0].at > AHEAD_S:
            yield ahead.popleft()
    while ahead:
        yield ahead.popleft()


def _warn_of_annotations(recorded: Recording, engine: Scheduler, plugins: Plugins, warn: Callable[[str], None]) -> None:
    """What Bayplan's plugins read is in every recording; what others read is not known."""
    names = dict.fromkeys(name for profile in engine.profiles.values() for name in profile.instances)
    own = [name for name in names if plugins.known.origin(name) != IN_TREE]
    if own and "*" not in recorded.header.annotations:
        kept = ", ".join(recorded.header.annotations) or "none"
        warn(
            f"{recorded.path}: of the annotations that {', '.join(own)} may read the recording has {kept}; "
            "record again with --annotation NAME, or '*' for all"
        )

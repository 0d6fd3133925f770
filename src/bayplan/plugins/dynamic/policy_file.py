"""The policy of the Dynamic plugin: read at the start, and again whenever its file changes."""

from __future__ import annotations

import os
from collections.abc import Callable

import structlog

from bayplan.errors import InputError
from bayplan.objects.third_party.crane import DynamicSchedulerPolicy, published_policy
from bayplan.objects.third_party.crane_reading import load_policy

log = structlog.get_logger(__name__)

LOOK_EVERY_S = 1.0

_Mark = tuple[int, int, int] | None


class PolicyFile:
    """A policy that follows its file.  ``now`` tells the time in seconds."""

    def __init__(self, path: str, now: Callable[[], float]) -> None:
        self._path = path
        self._now = now
        self._looked_at = now()
        self._mark = _mark_of(path)
        self._policy = published_policy() if not path else _loaded(path)

    def policy(self) -> DynamicSchedulerPolicy:
        """As the file says now; while the file has a mistake, as it said before."""
        now = self._now()
        if self._path and not 0 <= now - self._looked_at < LOOK_EVERY_S:
            self._looked_at = now
            self._look()
        return self._policy

    def _look(self) -> None:
        mark = _mark_of(self._path)
        if mark == self._mark:
            return
        self._mark = mark
        try:
            self._policy = load_policy(self._path)
        except InputError as error:
            log.warning("the new policy is not used, the old one stays", problem=str(error))
        else:
            log.info("policy read again", file=self._path)


def _loaded(path: str) -> DynamicSchedulerPolicy:
    try:
        return load_policy(path)
    except InputError as error:
        raise ValueError(f"policyConfigPath: {error}") from None


def _mark_of(path: str) -> _Mark:
    """What tells one version of a file from the next; a ConfigMap's file is another one behind the same link."""
    if not path:
        return None
    try:
        found = os.stat(path)
    except OSError:
        return None
    return found.st_mtime_ns, found.st_size, found.st_ino

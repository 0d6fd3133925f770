"""
What happens in a simulation by itself at a given time: pods that appear later, and the load that is measured.

``world`` gives a world its happenings, ``driver`` lets them happen.
"""

from __future__ import annotations

from collections import deque
from collections.abc import Callable, Iterable
from typing import Protocol

from bayplan.errors import InputError
from bayplan.objects.admission.own_keys import ARRIVES, INTERVAL
from bayplan.objects.duration import parse_duration
from bayplan.objects.pod import Pod


class Timetable(Protocol):
    """Something with a timetable."""

    def next_at(self) -> float | None:
        """When it happens next (epoch seconds); None for never again."""

    async def happen(self, now: float) -> None:
        """Its time has come."""

    @property
    def is_endless(self) -> bool:
        """Does it go on for ever?  Then a simulation does not wait for its end."""


class Arrivals:
    """Pods that appear later."""

    is_endless = False

    def __init__(self, pods: Iterable[tuple[float, Pod]], appear: Callable[[Pod], None]) -> None:
        self._pods = deque(sorted(pods, key=lambda pair: pair[0]))
        self._appear = appear

    def next_at(self) -> float | None:
        return self._pods[0][0] if self._pods else None

    def left(self) -> Iterable[tuple[float, Pod]]:
        """Those that have not appeared yet, each with its time."""
        return tuple(self._pods)

    async def happen(self, now: float) -> None:
        while self._pods and self._pods[0][0] <= now:
            self._appear(self._pods.popleft()[1])


def delays(pods: Iterable[Pod]) -> Iterable[tuple[Pod, float]]:
    """Each pod with the seconds after which it appears."""
    earlier: dict[tuple[str, str, str], int] = {}
    for pod in pods:
        first, step = _seconds(pod, ARRIVES), _seconds(pod, INTERVAL)
        number = 0
        if step and pod.controller is not None:
            owner = pod.namespace, pod.controller.kind, pod.controller.name
            number = earlier.get(owner, 0)
            earlier[owner] = number + 1
        yield pod, 0.0 if pod.node_name else first + number * step


def _seconds(pod: Pod, annotation: str) -> float:
    text = pod.annotations.get(annotation)
    if text is None:
        return 0.0
    try:
        return read_delay(text)
    except ValueError as error:
        where = f"metadata.annotations[{annotation}]"
        raise InputError(str(error), object=f"Pod {pod.key}", field=where) from None


def read_delay(text: str) -> float:
    """Seconds after the start; ValueError that says what to write instead."""
    seconds = parse_duration(text)
    if seconds < 0:
        raise ValueError(f'"{text}" is before the simulation begins; write 0s or more')
    return seconds

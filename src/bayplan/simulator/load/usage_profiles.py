"""
Usage profiles: what a pod, or a node beside its pods, really uses in a simulation.

Written as an annotation, ``simulation.bayplan.io/usage: cpu=2, memory=20Gi``, or in steps that begin some time after
the pod started (for a node: after the simulation began): ``0s: cpu=2, memory=20Gi; 30m: cpu=500m``.  What a step does
not name stays as it was.  A pod without a profile uses what it requests, a node nothing.
"""

from __future__ import annotations

from bisect import bisect_right
from dataclasses import dataclass
from functools import lru_cache

from bayplan.errors import InputError
from bayplan.objects import quantity
from bayplan.objects.admission.own_keys import USAGE
from bayplan.objects.duration import parse_duration
from bayplan.objects.load_estimate import NOTHING, Use
from bayplan.objects.meta import ApiObject
from bayplan.objects.pod import Pod
from bayplan.objects.resources import CPU, MEMORY

_FIX = 'write "cpu=2, memory=20Gi", or steps such as "0s: cpu=2, memory=20Gi; 30m: cpu=500m"'


@dataclass(frozen=True, slots=True)
class UsageProfile:
    """Steps, ascending; each holds until the next."""

    starts: tuple[float, ...]
    uses: tuple[Use, ...]

    def at(self, age_s: float) -> Use:
        step = bisect_right(self.starts, age_s)
        return self.uses[step - 1] if step else NOTHING


def profile_of(thing: ApiObject) -> UsageProfile | None:
    """The profile in an object's annotations.  Raises ``InputError`` that says what to write instead."""
    text = thing.annotations.get(USAGE)
    return None if text is None else read_profile(text)


def profile_of_pod(pod: Pod) -> UsageProfile:
    """A pod's profile, or its requests."""
    return profile_of(pod) or UsageProfile((0.0,), (Use(pod.requests.cpu_milli, pod.requests.memory_bytes),))


@lru_cache(maxsize=4096)
def read_profile(text: str) -> UsageProfile:
    starts: list[float] = []
    uses: list[Use] = []
    for part in text.split(";"):
        when, colon, amounts = part.partition(":")
        start = _duration(when) if colon else 0.0
        if starts and start <= starts[-1]:
            raise _wrong(f'the step at "{when.strip()}" does not begin later than the one before')
        starts.append(start)
        uses.append(_use(amounts if colon else part, uses[-1] if uses else NOTHING))
    return UsageProfile(tuple(starts), tuple(uses))


def _use(text: str, before: Use) -> Use:
    cpu, memory = before
    for each in text.split(","):
        name, equals, amount = (part.strip() for part in each.partition("="))
        if not equals or name not in (CPU, MEMORY):
            raise _wrong(f'"{each.strip()}" is not an amount of cpu or memory')
        try:
            if name == CPU:
                cpu = float(quantity.milli_value(amount))
            else:
                memory = float(quantity.value(amount))
        except (InputError, ValueError) as error:
            raise _wrong(str(error)) from None
    if cpu < 0 or memory < 0:
        raise _wrong("nothing uses less than nothing")
    return Use(cpu, memory)


def _duration(text: str) -> float:
    try:
        return parse_duration(text.strip())
    except ValueError as error:
        raise _wrong(str(error)) from None


def _wrong(problem: str) -> InputError:
    return InputError(problem, field=f"metadata.annotations[{USAGE}]", fix=_FIX)

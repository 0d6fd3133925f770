"""Mistakes in the annotations that only a simulation reads.  ``loading`` asks, where it still knows file and line."""

from __future__ import annotations

from collections.abc import Iterator, Mapping

from bayplan.errors import InputError
from bayplan.objects.admission.own_keys import ARRIVES, INTERVAL, USAGE
from bayplan.simulator.load.usage_profiles import read_profile
from bayplan.simulator.timetable import read_delay


def annotation_mistakes(annotations: Mapping[str, str]) -> Iterator[InputError]:
    """One for each annotation that cannot be read."""
    for name in (ARRIVES, INTERVAL):
        try:
            read_delay(annotations.get(name, "0s"))
        except ValueError as error:
            yield InputError(str(error), field=f"metadata.annotations[{name}]")
    try:
        if USAGE in annotations:
            read_profile(annotations[USAGE])
    except InputError as error:
        yield error

"""What can happen to a hub, and what follows for a placement: the two sides of `PlacementState.handle`."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TypeAlias

from bayplan.objects.meta import ApiObject


@dataclass(frozen=True, slots=True)
class Applied:
    """An object is there, new or changed."""

    thing: ApiObject


@dataclass(frozen=True, slots=True)
class Deleted:
    """An object is gone."""

    thing: ApiObject


@dataclass(frozen=True, slots=True)
class TimePassed:
    """It is this late now, in epoch seconds."""

    now: float


Event: TypeAlias = Applied | Deleted | TimePassed


@dataclass(frozen=True, slots=True)
class PlacementChange:
    """A placement has other clusters, or another status, than before."""

    key: str
    added: tuple[str, ...] = ()
    removed: tuple[str, ...] = ()

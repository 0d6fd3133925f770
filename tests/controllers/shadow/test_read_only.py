"""Whoever only looks writes nothing, whatever a plugin tries."""

from __future__ import annotations

import inspect
from typing import Any

import pytest

from bayplan.controllers.shadow.read_only import ReadOnly
from bayplan.errors import StateError
from bayplan.framework.ports import ClusterWriter
from bayplan.objects.devices.resource_claim import ResourceClaim
from bayplan.testing import pod

P = pod("p").build()
CALLS: dict[str, tuple[Any, ...]] = {
    "bind": (P, "n"),
    "patch_pod_status": (P, {}),
    "delete_pod": (P,),
    "evict": (P,),
    "patch": ("Pod", "default", "p", {}),
    "create": (P,),
    "delete": (P,),
    "read": ("Pod", "default", "p"),
    "release_claim": (ResourceClaim(), "uid"),
}


def test_every_write_that_there_is_is_tried_here() -> None:
    promised = {name for name, _ in inspect.getmembers(ClusterWriter, inspect.isfunction) if not name.startswith("_")}
    assert promised == CALLS.keys()


@pytest.mark.parametrize("name", CALLS)
async def test_writes_are_refused(name: str) -> None:
    with pytest.raises(StateError, match="nothing is written here"):
        await getattr(ReadOnly(), name)(*CALLS[name])


def test_events_go_nowhere() -> None:
    assert ReadOnly().emit(P, type="Normal", reason="r", action="a", note="n") is None

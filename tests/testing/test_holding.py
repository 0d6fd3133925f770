"""Plugins that hold pods can be tested without an engine: reserve, permit, release, time-outs, undoing."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any

from bayplan.framework import Code, PermitPlugin, PluginArgs, Reason, ReservePlugin, Wait
from bayplan.testing import cluster, holding, node, pod

TAKEN = Reason(Code.UNSCHEDULABLE, "the licence is taken")


class GangArgs(PluginArgs):
    size: int = 3


class Gang(PermitPlugin):
    """Holds the members of a gang until all of them have a node."""

    name = "Gang"
    Args = GangArgs

    def permit(self, state: Any, pod: Any, node_name: str) -> Wait | None:
        assert self.handle is not None
        members = list(self._members(pod))
        if len(members) + 1 < self.args.size:
            return Wait(30)
        for each in members:
            each.allow(self.name)
        return None

    def _members(self, pod: Any) -> Iterable[Any]:
        assert self.handle is not None
        return (each for each in self.handle.waiting.list() if each.pod.labels == pod.labels)


class Licence(ReservePlugin, PermitPlugin):
    """One pod at a time; those named no-... are turned down at last."""

    name = "Licence"

    def __init__(self, args: Any = None, handle: Any = None) -> None:
        super().__init__(args, handle)
        self.holder = ""

    def reserve(self, state: Any, pod: Any, node_name: str) -> Reason | None:
        if self.holder:
            return TAKEN
        self.holder = pod.name
        return None

    def unreserve(self, state: Any, pod: Any, node_name: str) -> None:
        if self.holder == pod.name:
            self.holder = ""

    def permit(self, state: Any, pod: Any, node_name: str) -> Reason | None:
        return TAKEN if pod.name.startswith("no-") else None


def member(name: str) -> Any:
    return pod(name).label(gang="a")


def test_the_last_member_releases_the_others() -> None:
    stage = holding(Gang, cluster([node("n1")]))

    assert stage.place(member("a"), "n1").is_wait
    assert stage.place(member("b"), "n1").is_wait
    assert (stage.waiting, stage.released) == (["default/a", "default/b"], [])
    assert stage.place(member("c"), "n1").is_success
    assert (stage.waiting, stage.released) == ([], ["default/a", "default/b", "default/c"])


def test_who_waits_too_long_is_rejected() -> None:
    stage = holding(Gang, cluster([node("n1")]), size=2)
    stage.place(member("a"), "n1")

    stage.advance(29)
    assert stage.waiting == ["default/a"]
    stage.advance(1)
    assert stage.rejected == {"default/a": "rejected due to timeout after waiting 30s at plugin Gang"}


def test_a_no_is_undone_and_what_is_undone_is_free_again() -> None:
    cache = cluster([node("n1")])
    stage = holding(Licence, cache)

    assert stage.place(pod("no-chance"), "n1").message == TAKEN.text
    assert cache.nodes.pods_count.tolist() == [0]
    assert stage.place(pod("a"), "n1").is_success
    assert stage.place(pod("b"), "n1").message == TAKEN.text
    stage.undo(pod("a"))
    assert (stage.released, cache.nodes.pods_count.tolist()) == ([], [0])
    assert stage.place(pod("b"), "n1").is_success

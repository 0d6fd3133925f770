"""NodeResourcesFit: which pods that leave or shrink, and which nodes that come or grow, bring a pod back."""

from __future__ import annotations

from typing import Any

import pytest

from bayplan.framework import Change
from bayplan.framework.events import Hint
from bayplan.plugins.node_resources_fit import NodeResourcesFit
from bayplan.testing import NodeBuilder, PodBuilder, make, node, pod
from tests.plugins.dynamic_resources.device_building import device_class

GPU = "example.com/gpu"


def hint(kind: str) -> Hint:
    (rule,) = (each for each in make(NodeResourcesFit).requeue_on() if each.kind == kind)
    assert rule.hint is not None
    return rule.hint


def test_it_asks_for_deletions_scale_downs_and_node_sizes() -> None:
    asked = {each.kind: each.change for each in make(NodeResourcesFit).requeue_on()}
    assert asked == {
        "Pod": Change.DELETED | Change.POD_SCALE_DOWN,
        "Node": Change.ADDED | Change.ALLOCATABLE,
        "DeviceClass": Change.ADDED | Change.UPDATED,
    }


@pytest.mark.parametrize(
    ("deleted", "helps"),
    [(pod("b").on("n"), True), (pod("b").nominated("n"), True), (pod("b").cpu("1"), False)],
)
def test_a_deleted_pod_helps_if_it_had_a_node(deleted: PodBuilder, helps: bool) -> None:
    assert hint("Pod")(pod("a").cpu("1").build(), deleted.build(), None) is helps


@pytest.mark.parametrize(
    ("waiting", "old", "new", "helps"),
    [
        (pod("a").cpu("1"), pod("b").cpu("2").on("n"), pod("b").cpu("1").on("n"), True),
        (pod("a").memory("1"), pod("b").cpu("2").on("n"), pod("b").cpu("1").on("n"), False),
        (pod("a").scalar(GPU, 1), pod("b").scalar(GPU, 2).on("n"), pod("b").scalar(GPU, 1).on("n"), True),
        (pod("a"), pod("b").cpu("2").on("n"), pod("b").cpu("1").on("n"), False),
        (pod("a").cpu("1"), pod("b").cpu("2"), pod("b").cpu("1"), False),
        (pod("a").cpu("1"), pod("a").cpu("2"), pod("a").cpu("1"), True),
    ],
)
def test_a_pod_that_asks_for_less_helps_those_that_want_the_same(
    waiting: PodBuilder, old: PodBuilder, new: PodBuilder, helps: bool
) -> None:
    assert hint("Pod")(waiting.build(), old.build(), new.build()) is helps


@pytest.mark.parametrize(
    ("waiting", "old", "new", "helps"),
    [
        (pod("a").cpu("4"), None, node("n"), True),
        (pod("a").cpu("5"), None, node("n"), False),
        (pod("a").scalar(GPU, 1), None, node("n"), False),
        (pod("a"), None, node("n").pods(0), False),
        (pod("a").cpu("4"), node("n").cpu("2"), node("n"), True),
        (pod("a").cpu("4"), node("n"), node("n").memory("64Gi"), False),
        (pod("a").cpu("4").memory("1"), node("n"), node("n").memory("64Gi"), True),
        (pod("a"), node("n"), node("n").cpu("8"), False),
        (pod("a"), node("n"), node("n").pods(111), True),
        (pod("a").cpu("5"), node("n"), node("n").pods(111), False),
        (pod("a").scalar(GPU, 1), node("n"), node("n").scalar(GPU, 1), True),
    ],
)
def test_a_node_helps_if_the_pod_fits_it_empty_and_it_grew(
    waiting: PodBuilder, old: NodeBuilder | None, new: NodeBuilder, helps: bool
) -> None:
    assert hint("Node")(waiting.build(), old.build() if old else None, new.build()) is helps


def test_ignored_resources_are_still_asked_of_new_nodes() -> None:
    """kube-scheduler does not look at the ignore lists here either."""
    rule = make(NodeResourcesFit, ignoredResources=[GPU]).requeue_on()[1]
    assert rule.hint is not None
    assert not rule.hint(pod("a").scalar(GPU, 1).build(), None, node("n").build())


@pytest.mark.parametrize(
    ("old", "new", "helps"),
    [
        (None, device_class("gpu", extendedResourceName="example.com/gpu"), True),
        (device_class("gpu"), device_class("gpu", extendedResourceName="example.com/gpu"), True),
        (device_class("gpu", extendedResourceName="example.com/gpu"), device_class("gpu"), False),
        (None, device_class("gpu"), False),
    ],
)
def test_a_class_helps_if_it_stands_behind_a_resource_of_the_pod_now(old: Any, new: Any, helps: bool) -> None:
    assert hint("DeviceClass")(pod("a").scalar("example.com/gpu", 1).build(), old, new) is helps

"""PodTopologySpread.promise: equal keys for pods it cannot tell apart, different for all others."""

from __future__ import annotations

from collections.abc import Hashable

import msgspec
import pytest

from bayplan.objects.pod import ZONE_LABEL as ZONE
from bayplan.objects.pod import Pod
from bayplan.objects.workload import Service
from bayplan.plugins.pod_topology_spread import PodTopologySpread
from bayplan.testing import cluster, make, pod
from bayplan.testing.builders import PodBuilder

WEB = pod("a").label(app="web")
SPREAD = WEB.spread(ZONE, selector={"app": "web"})

SAME = [
    ("names", SPREAD, pod("b").label(app="web").spread(ZONE, selector={"app": "web"})),
    ("labels that no selector reads", SPREAD, SPREAD.label(color="red")),
    ("tolerations while taints are ignored", SPREAD, SPREAD.tolerates("x")),
    ("anything while there are no constraints", WEB, pod("b").namespace("x").label(app="db").tolerates("x")),
]
DIFFERENT = [
    ("namespaces", SPREAD, SPREAD.namespace("other")),
    ("whether the pod counts itself", SPREAD, SPREAD.label(app="db")),
    ("skews", SPREAD, WEB.spread(ZONE, 2, selector={"app": "web"})),
    ("node selectors", SPREAD, SPREAD.node_selector(disk="ssd")),
    (
        "tolerations where taints are honoured",
        WEB.spread(ZONE, node_taints_policy="Honor"),
        WEB.spread(ZONE, node_taints_policy="Honor").tolerates("x"),
    ),
]


def key_of(plugin: PodTopologySpread, pod: Pod) -> Hashable:
    promise = plugin.promise(pod.template)
    assert promise is not None
    return promise.key


@pytest.mark.parametrize(("one", "other"), [case[1:] for case in SAME], ids=[case[0] for case in SAME])
def test_pods_that_differ_in_nothing_it_reads_have_equal_keys(one: PodBuilder, other: PodBuilder) -> None:
    plugin = make(PodTopologySpread)
    assert key_of(plugin, one.build()) == key_of(plugin, other.build())


@pytest.mark.parametrize(("one", "other"), [case[1:] for case in DIFFERENT], ids=[case[0] for case in DIFFERENT])
def test_pods_that_differ_in_what_it_reads_have_different_keys(one: PodBuilder, other: PodBuilder) -> None:
    plugin = make(PodTopologySpread)
    assert key_of(plugin, one.build()) != key_of(plugin, other.build())
    assert hash(key_of(plugin, one.build())) is not None


def test_a_new_service_changes_the_key_of_the_pods_it_selects() -> None:
    cache = cluster()
    plugin = make(PodTopologySpread, cache)
    web, db = WEB.build(), pod("b").label(app="db").build()
    before = key_of(plugin, web), key_of(plugin, db)
    service = {"metadata": {"name": "web", "namespace": "default"}, "spec": {"selector": {"app": "web"}}}
    cache.objects.put("Service", "default", "web", msgspec.convert(service, Service))
    assert key_of(plugin, web) != before[0]
    assert key_of(plugin, db) == before[1]


def test_a_pod_whose_selector_cannot_be_read_is_promised_nothing() -> None:
    assert make(PodTopologySpread).promise(WEB.spread(ZONE, expressions=[("a", "Near", "b")]).build().template) is None

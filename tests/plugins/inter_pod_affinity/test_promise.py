"""InterPodAffinity.promise: equal keys for pods it cannot tell apart, different for all others."""

from __future__ import annotations

from collections.abc import Hashable

import msgspec
import pytest

from bayplan.objects.node import HOSTNAME_LABEL as HOST
from bayplan.objects.pod import ZONE_LABEL as ZONE
from bayplan.objects.pod import Pod
from bayplan.objects.workload import Namespace
from bayplan.plugins.inter_pod_affinity import InterPodAffinity
from bayplan.testing import cluster, make, pod
from bayplan.testing.builders import PodBuilder

WEB = pod("a").label(app="web")
NEEDS = WEB.affinity({"app": "db"}, ZONE)

SAME = [
    ("names", WEB, pod("b").label(app="web")),
    ("requests, tolerations and node affinity", WEB, WEB.cpu("1").tolerates("x").requires_node("a", "Exists")),
    ("terms that mean the same", NEEDS, WEB.affinity({}, ZONE, expressions=[("app", "In", "db")])),
]
DIFFERENT = [
    ("labels", WEB, WEB.label(app="db")),
    ("namespaces", WEB, WEB.namespace("other")),
    ("whether it needs anybody", WEB, NEEDS),
    ("topologies", NEEDS, WEB.affinity({"app": "db"}, HOST)),
    ("affinity and anti-affinity", NEEDS, WEB.anti_affinity({"app": "db"}, ZONE)),
    ("weights", WEB.prefers_pods(1, {"app": "db"}, ZONE), WEB.prefers_pods(2, {"app": "db"}, ZONE)),
]


def key_of(plugin: InterPodAffinity, pod: Pod) -> Hashable:
    promise = plugin.promise(pod.template)
    assert promise is not None
    return promise.key


@pytest.mark.parametrize(("one", "other"), [case[1:] for case in SAME], ids=[case[0] for case in SAME])
def test_pods_that_differ_in_nothing_it_reads_have_equal_keys(one: PodBuilder, other: PodBuilder) -> None:
    plugin = make(InterPodAffinity)
    assert key_of(plugin, one.build()) == key_of(plugin, other.build())
    assert hash(key_of(plugin, one.build())) == hash(key_of(plugin, other.build()))


@pytest.mark.parametrize(("one", "other"), [case[1:] for case in DIFFERENT], ids=[case[0] for case in DIFFERENT])
def test_pods_that_differ_in_what_it_reads_have_different_keys(one: PodBuilder, other: PodBuilder) -> None:
    plugin = make(InterPodAffinity)
    assert key_of(plugin, one.build()) != key_of(plugin, other.build())


def test_a_changed_namespace_changes_the_key() -> None:
    cache = cluster()
    plugin = make(InterPodAffinity, cache)
    before = key_of(plugin, WEB.build())
    cache.objects.put("Namespace", "", "x", msgspec.convert({"metadata": {"name": "x"}}, Namespace))
    assert key_of(plugin, WEB.build()) != before


def test_a_pod_whose_selector_cannot_be_read_is_promised_nothing() -> None:
    new = WEB.affinity({}, ZONE, expressions=[("a", "Near", "b")])
    assert make(InterPodAffinity).promise(new.build().template) is None

"""InterPodAffinity.signature: equal for pods it cannot tell apart, different for all others."""

from __future__ import annotations

import msgspec
import pytest

from bayplan.framework import UNSIGNED
from bayplan.objects.node import HOSTNAME_LABEL as HOST
from bayplan.objects.pod import ZONE_LABEL as ZONE
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


@pytest.mark.parametrize(("one", "other"), [case[1:] for case in SAME], ids=[case[0] for case in SAME])
def test_pods_that_differ_in_nothing_it_reads_are_signed_alike(one: PodBuilder, other: PodBuilder) -> None:
    plugin = make(InterPodAffinity)
    assert plugin.signature(one.build()) == plugin.signature(other.build())
    assert hash(plugin.signature(one.build())) == hash(plugin.signature(other.build()))


@pytest.mark.parametrize(("one", "other"), [case[1:] for case in DIFFERENT], ids=[case[0] for case in DIFFERENT])
def test_pods_that_differ_in_what_it_reads_are_signed_apart(one: PodBuilder, other: PodBuilder) -> None:
    plugin = make(InterPodAffinity)
    assert plugin.signature(one.build()) != plugin.signature(other.build())


def test_a_changed_namespace_changes_the_signature() -> None:
    cache = cluster()
    plugin = make(InterPodAffinity, cache)
    before = plugin.signature(WEB.build())
    cache.objects.put("Namespace", "", "x", msgspec.convert({"metadata": {"name": "x"}}, Namespace))
    assert plugin.signature(WEB.build()) != before


def test_a_pod_whose_selector_cannot_be_read_is_not_signed() -> None:
    new = WEB.affinity({}, ZONE, expressions=[("a", "Near", "b")])
    assert make(InterPodAffinity).signature(new.build()) is UNSIGNED

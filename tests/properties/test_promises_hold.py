"""
What in-tree plugins promise is true, whatever the cluster and the pod.

The engine keeps answers on the strength of these promises, so a wrong one would be a wrong decision.
"""

from __future__ import annotations

from collections.abc import Callable

import pytest

from bayplan.engine.cache import ClusterCache
from bayplan.framework import Depends, FilterPlugin, Plugin, ScorePlugin
from bayplan.objects.pod import Pod
from bayplan.objects.spare import CLASS_LABEL, SPARE
from bayplan.objects.third_party.kosmos import POLICY_LABEL
from bayplan.plugins import IN_TREE
from bayplan.plugins.dynamic import Dynamic
from bayplan.plugins.pod_topology_spread import PodTopologySpread
from bayplan.testing import api_object, assert_promises_hold, make, pod

JUDGES = [each for each in IN_TREE if issubclass(each, (FilterPlugin, ScorePlugin))]

OWNED = [
    pod("of-a-set").label(app="web").owned_by("ReplicaSet", "web").build(),
    pod("of-a-machine").owned_by("VirtualMachineInstance", "vm", api_version="kubevirt.io/v1").build(),
    pod("of-a-daemon").label(app="db").owned_by("DaemonSet", "agents").build(),
    pod("stateful").label(app="db").owned_by("StatefulSet", "db").claim("disk").build(),
    pod("spare").label(**{CLASS_LABEL: SPARE}).build(),
    pod("with-policy").label(**{POLICY_LABEL: "even"}).build(),
]
OBJECTS = [
    api_object("Service", "web", spec={"selector": {"app": "web"}}),
    api_object("ReplicaSet", "web", spec={"selector": {"matchLabels": {"app": "web"}}}),
]


@pytest.mark.parametrize("plugin", [each for each in JUDGES if each is not Dynamic], ids=lambda plugin: plugin.name)
def test_every_plugin_keeps_its_promises(plugin: type[Plugin]) -> None:
    assert plugin.promise is not Plugin.promise, "one that promises nothing is asked for every pod"
    assert_promises_hold(plugin, OWNED, objects=OBJECTS)


CONSTRAINTS = [
    {"maxSkew": 1, "topologyKey": "topology.kubernetes.io/zone", "whenUnsatisfiable": "DoNotSchedule"},
    {"maxSkew": 2, "topologyKey": "kubernetes.io/hostname", "whenUnsatisfiable": "ScheduleAnyway"},
]


def with_hard_defaults(cache: ClusterCache) -> Plugin:
    return make(PodTopologySpread, cache, defaultingType="List", defaultConstraints=CONSTRAINTS)


@pytest.mark.parametrize("maker", [with_hard_defaults])
def test_promises_hold_whatever_the_args(maker: Callable[[ClusterCache], Plugin]) -> None:
    assert_promises_hold(maker, OWNED, objects=OBJECTS)


def test_the_usual_pod_is_promised_for_by_everybody() -> None:
    """A Deployment's pod, without volumes: all but the plugins of measured loads say what they go by."""
    usual: Pod = OWNED[0]
    for plugin in JUDGES:
        promise = make(plugin).promise(usual.template)
        assert (promise is None) is (plugin is Dynamic), plugin.name
        if promise is not None and issubclass(plugin, FilterPlugin):
            assert promise.filter is not Depends.ANYTHING

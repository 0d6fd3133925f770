"""The default profile names plugins that exist, once each, in the order of kube-scheduler."""

from __future__ import annotations

from bayplan.framework import ScorePlugin
from bayplan.plugins import IN_TREE
from bayplan.plugins.defaults import DEFAULT_PLUGINS

WEIGHTS = {
    "TaintToleration": 3,
    "NodeAffinity": 2,
    "NodeResourcesFit": 1,
    "PodTopologySpread": 2,
    "InterPodAffinity": 2,
    "DynamicResources": 2,
    "NodeResourcesBalancedAllocation": 1,
    "ImageLocality": 1,
}


def test_every_default_plugin_exists_and_is_named_once() -> None:
    names = [each.name for each in DEFAULT_PLUGINS]
    assert len(names) == len(set(names))
    assert set(names) <= {plugin.name for plugin in IN_TREE}


def test_plugins_are_in_tree_once_under_their_class_name() -> None:
    assert len({plugin.name for plugin in IN_TREE}) == len(IN_TREE)
    assert all(plugin.name == plugin.__name__ for plugin in IN_TREE)


def test_scores_are_weighted_as_in_kube_scheduler() -> None:
    scorers = {plugin.name for plugin in IN_TREE if issubclass(plugin, ScorePlugin)}
    found = {each.name: each.weight for each in DEFAULT_PLUGINS if each.name in scorers}
    assert {name: found.get(name) for name in WEIGHTS} == WEIGHTS


def test_the_order_is_that_of_kube_scheduler() -> None:
    order = [
        "SchedulingGates", "PrioritySort", "NodeUnschedulable", "NodeName", "TaintToleration", "NodeAffinity",
        "NodePorts", "NodeResourcesFit", "VolumeRestrictions", "NodeVolumeLimits", "VolumeBinding", "VolumeZone",
        "PodTopologySpread", "InterPodAffinity", "DynamicResources", "DefaultPreemption",
        "NodeResourcesBalancedAllocation", "ImageLocality", "DefaultBinder", "NodeDeclaredFeatures",
    ]  # fmt: skip
    names = [each.name for each in DEFAULT_PLUGINS]
    assert names == [name for name in order if name in names]

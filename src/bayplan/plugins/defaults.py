"""
The default profile: the plugins every profile has unless it says otherwise, their order and their weights.

Order and weights are kube-scheduler's.  The order decides which plugin's no a node shows, and so what people
read in a pod's events.  ``app`` hands this to ``framework.profile.build_profiles``.
"""

from __future__ import annotations

from bayplan.framework.profile import DefaultPlugin

DEFAULT_PLUGINS: tuple[DefaultPlugin, ...] = (
    DefaultPlugin("SchedulingGates"),
    DefaultPlugin("PrioritySort"),
    DefaultPlugin("NodeUnschedulable"),
    DefaultPlugin("NodeName"),
    DefaultPlugin("TaintToleration", 3),
    DefaultPlugin("NodeAffinity", 2),
    DefaultPlugin("NodePorts"),
    DefaultPlugin("NodeResourcesFit", 1),
    DefaultPlugin("VolumeRestrictions"),
    DefaultPlugin("NodeVolumeLimits"),
    DefaultPlugin("VolumeBinding"),
    DefaultPlugin("VolumeZone"),
    DefaultPlugin("PodTopologySpread", 2),
    DefaultPlugin("InterPodAffinity", 2),
    DefaultPlugin("DynamicResources", 2),
    DefaultPlugin("DefaultPreemption"),
    DefaultPlugin("NodeResourcesBalancedAllocation", 1),
    DefaultPlugin("ImageLocality", 1),
    DefaultPlugin("DefaultBinder"),
    DefaultPlugin("NodeDeclaredFeatures"),
)

OWN_PLUGINS: tuple[str, ...] = ("LeafNodeWorkloadPolicy",)
"""
Bayplan's own plugins that do nothing for pods that do not ask for them.  Without a configuration the simulator and
``explain`` add them to every profile; a configuration names those it wants.
"""

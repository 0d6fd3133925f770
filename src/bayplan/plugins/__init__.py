"""The plugins that come with Bayplan.  ``app`` registers ``IN_TREE``; a new plugin is one more line here."""

from __future__ import annotations

from bayplan.framework import Plugin
from bayplan.plugins.default_binder import DefaultBinder
from bayplan.plugins.default_preemption import DefaultPreemption
from bayplan.plugins.dynamic import Dynamic
from bayplan.plugins.dynamic_resources import DynamicResources
from bayplan.plugins.image_locality import ImageLocality
from bayplan.plugins.inter_pod_affinity import InterPodAffinity
from bayplan.plugins.leaf_node_distribution import LeafNodeDistribution
from bayplan.plugins.leaf_node_taint_toleration import LeafNodeTaintToleration
from bayplan.plugins.leaf_node_volume_binding import LeafNodeVolumeBinding
from bayplan.plugins.leaf_node_workload_policy import LeafNodeWorkloadPolicy
from bayplan.plugins.node_affinity import NodeAffinity
from bayplan.plugins.node_declared_features import NodeDeclaredFeatures
from bayplan.plugins.node_name import NodeName
from bayplan.plugins.node_ports import NodePorts
from bayplan.plugins.node_resources_balanced_allocation import NodeResourcesBalancedAllocation
from bayplan.plugins.node_resources_fit import NodeResourcesFit
from bayplan.plugins.node_unschedulable import NodeUnschedulable
from bayplan.plugins.node_volume_limits import NodeVolumeLimits
from bayplan.plugins.pod_topology_spread import PodTopologySpread
from bayplan.plugins.priority_sort import PrioritySort
from bayplan.plugins.scheduling_gates import SchedulingGates
from bayplan.plugins.spare_capacity import SpareCapacity
from bayplan.plugins.sticky_vm import StickyVM
from bayplan.plugins.taint_toleration import TaintToleration
from bayplan.plugins.volume_binding import VolumeBinding
from bayplan.plugins.volume_restrictions import VolumeRestrictions
from bayplan.plugins.volume_zone import VolumeZone

IN_TREE: tuple[type[Plugin], ...] = (
    SchedulingGates,
    PrioritySort,
    NodeUnschedulable,
    NodeName,
    TaintToleration,
    NodeAffinity,
    NodePorts,
    NodeResourcesFit,
    VolumeRestrictions,
    NodeVolumeLimits,
    VolumeBinding,
    VolumeZone,
    PodTopologySpread,
    InterPodAffinity,
    DynamicResources,
    DefaultPreemption,
    NodeResourcesBalancedAllocation,
    ImageLocality,
    DefaultBinder,
    NodeDeclaredFeatures,
    LeafNodeTaintToleration,
    LeafNodeVolumeBinding,
    LeafNodeDistribution,
    LeafNodeWorkloadPolicy,
    StickyVM,
    Dynamic,
    SpareCapacity,
)

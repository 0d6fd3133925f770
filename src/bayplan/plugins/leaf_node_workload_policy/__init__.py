"""LeafNodeWorkloadPolicy: so many pods here, so many there.  ``plugin`` is where to start reading."""

from bayplan.plugins.leaf_node_workload_policy.plugin import LeafNodeWorkloadPolicy, LeafNodeWorkloadPolicyArgs

__all__ = ["LeafNodeWorkloadPolicy", "LeafNodeWorkloadPolicyArgs"]

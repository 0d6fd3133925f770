"""PodTopologySpread, grown into one module per extension point; ``plugin`` is where to start reading."""

from bayplan.plugins.pod_topology_spread.default_constraints import PodTopologySpreadArgs
from bayplan.plugins.pod_topology_spread.plugin import PodTopologySpread

__all__ = ["PodTopologySpread", "PodTopologySpreadArgs"]

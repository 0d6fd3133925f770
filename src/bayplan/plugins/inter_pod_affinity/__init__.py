"""InterPodAffinity, grown into one module per extension point; ``plugin`` is where to start reading."""

from bayplan.plugins.inter_pod_affinity.plugin import InterPodAffinity, InterPodAffinityArgs

__all__ = ["InterPodAffinity", "InterPodAffinityArgs"]

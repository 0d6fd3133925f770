"""A filter and a score over clusters: only certified ones, and those that were updated last first."""

from pydantic import BaseModel

from bayplan.objects.third_party.placement import ManagedCluster, Placement
from bayplan.placement.cluster_plugin import ClusterFilterPlugin, ClusterScorePlugin, label


class CertifiedArgs(BaseModel):
    level: str = "silver"


LEVELS = ("none", "silver", "gold")


class Certified(ClusterFilterPlugin):
    """Clusters with a certificate of some level, which a placement may raise."""

    name = "Certified"
    Args = CertifiedArgs
    reads = (label("certified"),)

    def filter(self, cluster: ManagedCluster, placement: Placement) -> bool:
        has = cluster.labels.get("certified", "none")
        return has in LEVELS and LEVELS.index(has) >= LEVELS.index(self.args.level)


class Newest(ClusterScorePlugin):
    """The higher the minor version of Kubernetes, the better."""

    name = "Newest"
    reads = (label("version"),)

    def score(self, cluster: ManagedCluster, placement: Placement) -> int:
        minor = cluster.labels.get("version", "1.0").split(".")[1]
        return min(100, int(minor))

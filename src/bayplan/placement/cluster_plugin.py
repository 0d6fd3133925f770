"""What the author of a plugin for placements imports: a filter or a score over clusters, in a few lines.

    class Certified(ClusterFilterPlugin):
        name = "Certified"
        reads = (label("certified"),)

        def filter(self, cluster, placement):
            return cluster.labels.get("certified") == "true"

`own_plugins` runs it, `registry` puts it behind Bayplan's own. A class may be both a filter and a score.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from typing import Any, ClassVar

from bayplan.objects.third_party.placement import ManagedCluster, Placement
from bayplan.placement.fleet import ANYTHING, TAINTS, claim_field, label_field, resource_field

EVERYTHING = ANYTHING
"""Any change of a cluster."""

label, claim, resource, taints = label_field, claim_field, resource_field, TAINTS
"""For `reads`: a label, a claim, an allocatable resource, the taints."""


class ClusterPlugin(ABC):
    """What filters and scores have in common.

    `Args` is a model for what a placement writes under the plugin's name in the annotation
    ``placement.bayplan.io/plugins``, as for plugins of the scheduler.
    """

    name: ClassVar[str]
    Args: ClassVar[Any] = None
    reads: ClassVar[tuple[str, ...]] = (EVERYTHING,)
    """What of a cluster an answer depends on; a change of something else is no reason to ask again."""
    fresh_for: ClassVar[float | None] = None
    """For answers that depend on more than the cluster and the placement: so many seconds they hold."""

    def __init__(self, args: Any) -> None:
        self.args = args


class ClusterFilterPlugin(ClusterPlugin):
    """Which clusters may be chosen."""

    @abstractmethod
    def filter(self, cluster: ManagedCluster, placement: Placement) -> bool:
        """Whether the placement may have the cluster."""


class ClusterScorePlugin(ClusterPlugin):
    """How good a cluster is; used by placements whose `prioritizerPolicy` names it under `builtIn`."""

    @abstractmethod
    def score(self, cluster: ManagedCluster, placement: Placement) -> int:
        """From -100 to 100."""

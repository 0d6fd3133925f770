"""The objects of Open Cluster Management that say which clusters there are and which ones are wanted.

`placement` decides over them; `placement_validating` says what can be wrong with a Placement. Groups, names and fields
are the published ones. What goes beyond them (`scope`, `maxMoves`, `groupSelector`, `minDomains`, `weights`) may also
stand in the annotation `SPREAD_ANNOTATION`, for hubs whose schema would drop it.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import msgspec

from bayplan.objects.cached_property import cached_property
from bayplan.objects.meta import ApiObject, LabelSelector, LabelSelectorRequirement, StatusCondition, Wire
from bayplan.objects.quantity import Quantity
from bayplan.objects.toleration import Taint, Toleration

GROUP = "cluster.open-cluster-management.io"

SET_LABEL = f"{GROUP}/clusterset"
"""A cluster names its exclusive set with this label."""
PLACEMENT_LABEL = f"{GROUP}/placement"
GROUP_INDEX_LABEL = f"{GROUP}/decision-group-index"
GROUP_NAME_LABEL = f"{GROUP}/decision-group-name"
DISABLE_ANNOTATION = f"{GROUP}/experimental-scheduling-disable"
SPREAD_ANNOTATION = "placement.bayplan.io/spread"
PLUGINS_ANNOTATION = "placement.bayplan.io/plugins"
"""Fields of `spec.spreadPolicy` as JSON or YAML; constraints are matched by their topologyKey."""
REPLICAS_ANNOTATION = "placement.bayplan.io/replicas"
"""How many replicas to divide over the chosen clusters, and how: a number, or JSON or YAML."""

NO_SELECT, PREFER_NO_SELECT, NO_SELECT_IF_NEW = "NoSelect", "PreferNoSelect", "NoSelectIfNew"
ADDITIVE, EXACT = "Additive", "Exact"
BUILT_IN, ADD_ON = "BuiltIn", "AddOn"
LABEL, CLAIM = "Label", "Claim"
DO_NOT_SCHEDULE, SCHEDULE_ANYWAY = "DoNotSchedule", "ScheduleAnyway"
NESTED, FLAT = "Nested", "Flat"
EXCLUSIVE, BY_LABELS = "ExclusiveClusterSetLabel", "LabelSelector"


# -- the clusters --


class ClusterClaim(Wire, frozen=True, kw_only=True):
    """What a cluster says about itself."""

    name: str = ""
    value: str = ""


class ClusterVersion(Wire, frozen=True, kw_only=True):
    kubernetes: str = ""


class ClientConfig(Wire, frozen=True, kw_only=True):
    """How the hub reaches the cluster."""

    url: str = ""
    ca_bundle: str = ""


class ManagedClusterSpec(Wire, frozen=True, kw_only=True):
    hub_accepts_client: bool = False
    lease_duration_seconds: int = 60
    managed_cluster_client_configs: tuple[ClientConfig, ...] | None = None
    taints: tuple[Taint, ...] | None = None


class ManagedClusterStatus(Wire, frozen=True, kw_only=True):
    conditions: tuple[StatusCondition, ...] | None = None
    capacity: dict[str, Quantity] | None = None
    allocatable: dict[str, Quantity] | None = None
    version: ClusterVersion = ClusterVersion()
    cluster_claims: tuple[ClusterClaim, ...] | None = None


class ManagedCluster(ApiObject, frozen=True, kw_only=True):
    """One cluster of the fleet."""

    spec: ManagedClusterSpec = ManagedClusterSpec()
    status: ManagedClusterStatus = ManagedClusterStatus()

    @property
    def taints(self) -> tuple[Taint, ...]:
        return self.spec.taints or ()

    @cached_property
    def claims(self) -> Mapping[str, str]:
        """Name to value; of two with one name the first counts."""
        return {each.name: each.value for each in reversed(self.status.cluster_claims or ())}

    @cached_property
    def as_mapping(self) -> dict[str, Any]:
        """The object as expressions read it; empty parts of it are there."""
        written: dict[str, Any] = msgspec.json.decode(msgspec.json.encode(self))
        meta = {"name": self.name, "labels": {}, "annotations": {}} | written.get("metadata", {})
        return {"metadata": meta, "spec": written.get("spec", {}), "status": written.get("status", {})}


class SetSelector(Wire, frozen=True, kw_only=True):
    selector_type: str = EXCLUSIVE
    label_selector: LabelSelector | None = None


class ManagedClusterSetSpec(Wire, frozen=True, kw_only=True):
    cluster_selector: SetSelector = SetSelector()


class ManagedClusterSet(ApiObject, frozen=True, kw_only=True):
    """Clusters that belong together: by the exclusive label, or by any labels."""

    spec: ManagedClusterSetSpec = ManagedClusterSetSpec()


class ManagedClusterSetBindingSpec(Wire, frozen=True, kw_only=True):
    cluster_set: str = ""


class ManagedClusterSetBinding(ApiObject, frozen=True, kw_only=True):
    """Lets the placements of a namespace choose from a set."""

    spec: ManagedClusterSetBindingSpec = ManagedClusterSetBindingSpec()


class ScoreItem(Wire, frozen=True, kw_only=True):
    name: str = ""
    value: int = 0


class AddOnPlacementScoreStatus(Wire, frozen=True, kw_only=True):
    scores: tuple[ScoreItem, ...] | None = None
    valid_until: str | None = None


class AddOnPlacementScore(ApiObject, frozen=True, kw_only=True):
    """Scores that an add-on gives one cluster; the object is in the namespace of the cluster's name."""

    status: AddOnPlacementScoreStatus = AddOnPlacementScoreStatus()


# -- what is wanted --


class ClaimSelector(Wire, frozen=True, kw_only=True):
    match_expressions: tuple[LabelSelectorRequirement, ...] | None = None


class CelSelector(Wire, frozen=True, kw_only=True):
    cel_expressions: tuple[str, ...] | None = None


class ClusterSelector(Wire, frozen=True, kw_only=True):
    """All three must hold."""

    label_selector: LabelSelector | None = None
    claim_selector: ClaimSelector | None = None
    cel_selector: CelSelector | None = None


class ClusterPredicate(Wire, frozen=True, kw_only=True):
    required_cluster_selector: ClusterSelector = ClusterSelector()


class AddOnCoordinate(Wire, frozen=True, kw_only=True):
    resource_name: str = ""
    score_name: str = ""


class ScoreCoordinate(Wire, frozen=True, kw_only=True):
    """Which score is meant."""

    type: str = BUILT_IN
    built_in: str = ""
    add_on: AddOnCoordinate | None = None

    @property
    def name(self) -> str:
        if self.type == BUILT_IN:
            return self.built_in
        return f"AddOn/{self.add_on.resource_name}/{self.add_on.score_name}" if self.add_on else "AddOn"


class PrioritizerConfig(Wire, frozen=True, kw_only=True):
    score_coordinate: ScoreCoordinate | None = None
    weight: int = 1


class PrioritizerPolicy(Wire, frozen=True, kw_only=True):
    mode: str = ADDITIVE
    configurations: tuple[PrioritizerConfig, ...] | None = None


class SpreadConstraint(Wire, frozen=True, kw_only=True):
    """One level: how far apart the domains of a key may be."""

    topology_key: str = ""
    topology_key_type: str = ""
    max_skew: int = 1
    when_unsatisfiable: str = SCHEDULE_ANYWAY
    min_domains: int | None = None
    weights: dict[str, int] | None = None

    @property
    def is_hard(self) -> bool:
        return self.when_unsatisfiable == DO_NOT_SCHEDULE


class SpreadPolicy(Wire, frozen=True, kw_only=True):
    spread_constraints: tuple[SpreadConstraint, ...] | None = None
    scope: str = NESTED
    max_moves: int = 0
    group_selector: LabelSelector | None = None


class DecisionGroup(Wire, frozen=True, kw_only=True):
    group_name: str = ""
    group_cluster_selector: ClusterSelector | None = None


class GroupStrategy(Wire, frozen=True, kw_only=True):
    decision_groups: tuple[DecisionGroup, ...] | None = None
    clusters_per_decision_group: int | str = "100%"


class DecisionStrategy(Wire, frozen=True, kw_only=True):
    group_strategy: GroupStrategy = GroupStrategy()


class PlacementSpec(Wire, frozen=True, kw_only=True):
    cluster_sets: tuple[str, ...] | None = None
    number_of_clusters: int | None = None
    predicates: tuple[ClusterPredicate, ...] | None = None
    prioritizer_policy: PrioritizerPolicy = PrioritizerPolicy()
    spread_policy: SpreadPolicy = SpreadPolicy()
    tolerations: tuple[Toleration, ...] | None = None
    decision_strategy: DecisionStrategy = DecisionStrategy()
    sort_by: str = ""
    score_rate_limit: str = ""


class DecisionGroupStatus(Wire, frozen=True, kw_only=True, omit_defaults=False):
    decision_group_index: int = 0
    decision_group_name: str = ""
    decisions: tuple[str, ...] = ()
    cluster_count: int = 0


class PlacementStatus(Wire, frozen=True, kw_only=True):
    number_of_selected_clusters: int = 0
    decision_groups: tuple[DecisionGroupStatus, ...] | None = None
    conditions: tuple[StatusCondition, ...] | None = None


class Placement(ApiObject, frozen=True, kw_only=True):
    """Which clusters are wanted, and how many."""

    spec: PlacementSpec = PlacementSpec()
    status: PlacementStatus = PlacementStatus()

    @property
    def is_disabled(self) -> bool:
        return self.annotations.get(DISABLE_ANNOTATION) == "true"


# -- what was decided --


class ClusterDecision(Wire, frozen=True, kw_only=True, omit_defaults=False):
    cluster_name: str = ""
    reason: str = ""


class PlacementDecisionStatus(Wire, frozen=True, kw_only=True):
    decisions: tuple[ClusterDecision, ...] | None = None


class PlacementDecision(ApiObject, frozen=True, kw_only=True):
    """One page of the clusters a placement has."""

    status: PlacementDecisionStatus = PlacementDecisionStatus()

    @cached_property
    def placement(self) -> str:
        """``namespace/name`` of the placement it belongs to; the owner counts, as labels are easily edited."""
        owner = self.controller
        if owner is not None and owner.kind == "Placement":
            return f"{self.namespace}/{owner.name}"
        return f"{self.namespace}/{self.labels.get(PLACEMENT_LABEL, '')}"

    @property
    def clusters(self) -> tuple[str, ...]:
        return tuple(each.cluster_name for each in self.status.decisions or ())

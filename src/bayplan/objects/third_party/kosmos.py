"""The policies of group kosmos.io: how many pods of a workload run where, and on which kind of node pods run.

The LeafNode plugins read them; `kosmos_validating` says what can be wrong with them. Fields are kept as written: the
spellings that are accepted beside the proper ones are brought into shape by the properties here, nowhere else.
"""

from __future__ import annotations

from bayplan.objects.cached_property import cached_property
from bayplan.objects.meta import ApiObject, LabelSelector, StatusCondition, Wire
from bayplan.objects.selector import Selector, compile_label_selector
from bayplan.objects.toleration import Toleration

GROUP = "kosmos.io"
VERSION = "v1alpha1"

POLICY_LABEL = "workload-policy/kosmos.io"
"""A pod names its WorkloadPolicy with this label."""
POLICY_LABEL_ALIAS = "workload-policy.kosmos.io"
"""The other spelling in the wild; it means the same."""

LEAF_NODE = "kosmos.io/node"
"""The label, and the key of the taint, of a node that stands for another cluster or for nodes of it."""

LEAF_MODE = "leafNodeMode"
"""An annotation of leaf nodes: what they stand for."""
WHOLE_CLUSTER = "one2cluster"
OWNED_BY_CLUSTER = "kosmos-io/owned-by-cluster"
"""An annotation of leaf nodes: the cluster behind them."""
CLUSTER_OWNERS = "kosmos-io/cluster-owners"
"""An annotation of volumes and claims: the clusters they are in, separated by commas."""

PREFERRED, REQUIRED = "Preferred", "Required"
BALANCE, FILL = "Balance", "Fill"
DENY, ALLOW = "Deny", "Allow"
OFF, DRY_RUN, AUTO = "Off", "DryRun", "Auto"

ALLOCATION_TYPES = {"preferred": PREFERRED, "prefer": PREFERRED, "required": REQUIRED, "require": REQUIRED}
ALLOCATION_METHODS = {"balance": BALANCE, "fill": FILL}
UNLISTED = {"deny": DENY, "allow": ALLOW}
REBALANCE_MODES = {"off": OFF, "dryrun": DRY_RUN, "auto": AUTO}
"""Accepted spellings, in lower case, and what they stand for."""

HOST, LEAF, MIX, ADVANCED = "host", "leaf", "mix", "adv"
NODE_TYPES = {each: each for each in (HOST, LEAF, MIX, ADVANCED)}


# -- how many pods run where --


class DomainAllocation(Wire, frozen=True, kw_only=True):
    """One value of the topology key, and how many pods belong there: a number, a percentage, a weight or the rest."""

    name: str | None = None
    replicas: int | str | None = None
    weight: int | None = None
    remainder: bool = False

    @property
    def percent(self) -> int | None:
        """The percentage, if one is written; `kosmos_validating` makes sure that it is one."""
        return int(self.replicas.removesuffix("%")) if isinstance(self.replicas, str) else None


class Rebalance(Wire, frozen=True, kw_only=True):
    """Whether and how pods are moved when the numbers are not met."""

    mode: str | bool = OFF
    max_unavailable: int | str | None = None
    interval_seconds: int | None = None
    stabilization_seconds: int | None = None
    progress_deadline_seconds: int | None = None
    min_pod_age_seconds: int | None = None
    allow_single_replica: bool = False


class WorkloadPolicySpec(Wire, frozen=True, kw_only=True):
    topology_key: str = ""
    label_selector: LabelSelector | None = None
    allocation_policy: tuple[DomainAllocation, ...] | None = None
    allocation_type: str = ""
    allocation_method: str = ""
    schedule_strategy: str = ""
    match_label_keys: tuple[str, ...] | None = None
    unlisted_domains: str = ""
    rebalance: Rebalance | None = None


class DomainStatus(Wire, frozen=True, kw_only=True):
    name: str = ""
    desired: int = 0
    current: int = 0
    ready: int = 0
    pending: int = 0


class WorkloadPolicyStatus(Wire, frozen=True, kw_only=True):
    observed_generation: int = 0
    desired: int = 0
    current: int = 0
    ready: int = 0
    pending: int = 0
    domains: tuple[DomainStatus, ...] | None = None
    conditions: tuple[StatusCondition, ...] | None = None


class WorkloadPolicy(ApiObject, frozen=True, kw_only=True):
    """How many of the pods that a selector matches belong in each domain of a node label."""

    spec: WorkloadPolicySpec = WorkloadPolicySpec()
    status: WorkloadPolicyStatus = WorkloadPolicyStatus()

    @property
    def is_required(self) -> bool:
        """Are the numbers limits?  Otherwise they are preferences, and pods beyond them still go somewhere."""
        return ALLOCATION_TYPES.get(self.spec.allocation_type.lower(), PREFERRED) == REQUIRED

    @property
    def fills(self) -> bool:
        """Is one domain filled after the other?  Otherwise all grow at the same pace."""
        # The API server fills in allocationMethod: Balance, so its other name goes first where it is written.
        written = self.spec.schedule_strategy or self.spec.allocation_method
        return ALLOCATION_METHODS.get(written.lower(), BALANCE) == FILL

    @property
    def allows_unlisted(self) -> bool:
        """May pods also go to nodes of no listed domain?"""
        return UNLISTED.get(self.spec.unlisted_domains.lower(), DENY) == ALLOW

    @property
    def domains(self) -> tuple[DomainAllocation, ...]:
        return self.spec.allocation_policy or ()

    @cached_property
    def selector(self) -> Selector:
        return compile_label_selector(self.spec.label_selector)


# -- on which kind of node pods run --


class ResourceSelector(Wire, frozen=True, kw_only=True):
    """Pods, by their name, by how it begins, or by labels, and the term that holds for them."""

    policy_name: str = ""
    name: str = ""
    name_prefix: str = ""
    label_selector: LabelSelector | None = None


class AdvancedTerm(Wire, frozen=True, kw_only=True):
    """Nodes that fulfil any one of these."""

    node_name: str = ""
    node_selector: dict[str, str] | None = None
    tolerations: tuple[Toleration, ...] | None = None


class PolicyTerm(Wire, frozen=True, kw_only=True):
    name: str = ""
    node_type: str = MIX
    advanced_term: AdvancedTerm | None = None

    @property
    def kind_of_nodes(self) -> str:
        """The node type in its proper spelling."""
        return NODE_TYPES.get(self.node_type.lower(), MIX)


class DistributionPolicySpec(Wire, frozen=True, kw_only=True):
    resource_selectors: tuple[ResourceSelector, ...] | None = None
    policy_terms: tuple[PolicyTerm, ...] | None = None


class DistributionPolicy(ApiObject, frozen=True, kw_only=True):
    """On which kind of nodes the pods of a namespace run: real ones, leaf nodes, or chosen ones."""

    spec: DistributionPolicySpec = DistributionPolicySpec()


class ClusterDistributionPolicy(ApiObject, frozen=True, kw_only=True):
    """The same for the pods of all namespaces; a DistributionPolicy of the pod's own goes before."""

    spec: DistributionPolicySpec = DistributionPolicySpec()

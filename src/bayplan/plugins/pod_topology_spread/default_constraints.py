"""
Constraints for pods that write none: what the profile may set, and whom such a pod is spread among.

``plugin`` asks ``DefaultConstraints`` for every pod without topologySpreadConstraints.  Their selector is not
written anywhere: it is put together from the Services that select the pod and from the controller that owns
it.  A pod without a service and without an owner gets no constraints at all.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from typing import Any, Literal

from pydantic import Field, field_validator, model_validator

from bayplan.bounded_cache import BoundedCache
from bayplan.framework import PluginArgs
from bayplan.framework.handle import ObjectStore
from bayplan.objects.affinity import DO_NOT_SCHEDULE, HONOR, IGNORE, SpreadConstraint
from bayplan.objects.node import HOSTNAME_LABEL
from bayplan.objects.pod_template import ZONE_LABEL, PodTemplate
from bayplan.objects.requirement import check_key
from bayplan.objects.selector import NOTHING, Selector, label_selector_from_map

SYSTEM_CONSTRAINTS = (
    SpreadConstraint(max_skew=3, topology_key=HOSTNAME_LABEL, hard=False, selector=NOTHING),
    SpreadConstraint(max_skew=5, topology_key=ZONE_LABEL, hard=False, selector=NOTHING),
)

# The owners whose selectors count, by apiVersion and kind: a ReplicaSet of another group is another thing.
OWNER_KINDS = frozenset({("v1", "ReplicationController"), ("apps/v1", "ReplicaSet"), ("apps/v1", "StatefulSet")})

# Pods of one template share an entry; this bounds memory when every pod has labels of its own.
MAX_REMEMBERED = 8192


class DefaultConstraint(PluginArgs):
    """One entry of ``defaultConstraints``: a topology spread constraint without a selector."""

    max_skew: int = Field(gt=0)
    topology_key: str
    when_unsatisfiable: Literal["DoNotSchedule", "ScheduleAnyway"]
    min_domains: int | None = None
    node_affinity_policy: Literal["Honor", "Ignore"] | None = None
    node_taints_policy: Literal["Honor", "Ignore"] | None = None
    match_label_keys: tuple[str, ...] | None = None
    label_selector: Any = None

    @field_validator("topology_key")
    @classmethod
    def _is_a_label_key(cls, key: str) -> str:
        check_key(key)
        return key

    @field_validator("label_selector")
    @classmethod
    def _is_not_written(cls, selector: Any) -> None:
        raise ValueError("must be left out: each pod's selector comes from its services and its owner")

    def compiled(self) -> SpreadConstraint:
        """matchLabelKeys only add to a written selector, so here they mean nothing."""
        return SpreadConstraint(
            max_skew=self.max_skew,
            topology_key=self.topology_key,
            hard=self.when_unsatisfiable == DO_NOT_SCHEDULE,
            selector=NOTHING,
            min_domains=1 if self.min_domains is None else self.min_domains,
            honor_affinity=self.node_affinity_policy != IGNORE,
            honor_taints=self.node_taints_policy == HONOR,
        )


class PodTopologySpreadArgs(PluginArgs):
    """What the profile may set under ``pluginConfig: PodTopologySpread``."""

    default_constraints: tuple[DefaultConstraint, ...] = ()
    defaulting_type: Literal["System", "List"] = "System"

    @field_validator("default_constraints")
    @classmethod
    def _do_not_repeat(cls, constraints: tuple[DefaultConstraint, ...]) -> tuple[DefaultConstraint, ...]:
        seen: set[tuple[str, str]] = set()
        for number, each in enumerate(constraints):
            pair = each.topology_key, each.when_unsatisfiable
            if pair in seen:
                raise ValueError(
                    f"entry [{number}] repeats topologyKey {pair[0]} with whenUnsatisfiable {pair[1]}; "
                    "write each pair once"
                )
            seen.add(pair)
        return constraints

    @model_validator(mode="after")
    def _system_has_its_own(self) -> PodTopologySpreadArgs:
        if self.defaulting_type == "System" and self.default_constraints:
            raise ValueError(
                "defaultConstraints cannot be given with defaultingType System; write defaultingType: List"
            )
        return self

    def compiled(self) -> tuple[SpreadConstraint, ...]:
        """The constraints to begin with; their selectors are still to be filled in."""
        if self.defaulting_type == "System":
            return SYSTEM_CONSTRAINTS
        return tuple(each.compiled() for each in self.default_constraints)


class DefaultConstraints:
    """The default constraints of each pod, worked out once per kind of pod."""

    def __init__(self, constraints: Sequence[SpreadConstraint], objects: ObjectStore) -> None:
        self._constraints = tuple(constraints)
        self._objects = objects
        self._remembered: BoundedCache[Any, tuple[int, Any, tuple[SpreadConstraint, ...]]] = BoundedCache(
            MAX_REMEMBERED
        )

    def of(self, template: PodTemplate) -> tuple[SpreadConstraint, ...]:
        """Hard and soft ones, or none if nothing selects or owns the pod."""
        owner = template.controller
        is_known = owner is not None and (owner.api_version, owner.kind) in OWNER_KINDS
        owner_key = (owner.kind, owner.name) if owner is not None and is_known else None
        held = self._objects.get(owner_key[0], template.namespace, owner_key[1]) if owner_key else None
        generation = self._objects.generation("Service")
        key = (template.label_set, owner_key)
        known = self._remembered.get(key)
        # An owner is replaced by a new object whenever it changes; services are asked for as a whole.
        if known is not None and known[0] == generation and known[1] is held:
            return known[2]
        constraints = self._with_selector(selector_of(template, self._objects, held))
        self._remembered[key] = (generation, held, constraints)
        return constraints

    def _with_selector(self, selector: Selector) -> tuple[SpreadConstraint, ...]:
        if selector.is_empty:
            return ()
        return tuple(replace(constraint, selector=selector) for constraint in self._constraints)


def selector_of(template: PodTemplate, objects: ObjectStore, owner: Any | None) -> Selector:
    """The labels that all services of a pod ask for, and what its owner selects."""
    labels: dict[str, str] = {}
    for service in objects.list("Service", template.namespace):
        if service.selector.matches(template.labels):
            labels.update(service.spec.selector or {})
    if owner is not None and isinstance(owner.spec.selector, dict):  # a ReplicationController: plain labels
        labels.update(owner.spec.selector)
        owner = None
    selector = label_selector_from_map(labels)
    if owner is None:
        return selector
    try:
        return selector.plus(owner.selector.requirements)
    except ValueError:  # a selector that cannot be read is left out, as kube-scheduler does
        return selector

"""Small fleets for the tests of placement: clusters, sets, placements, in one line each."""

from __future__ import annotations

from typing import Any

from bayplan.objects.meta import ApiObject, LabelSelector, ObjectMeta
from bayplan.objects.quantity import Quantity
from bayplan.objects.third_party import placement as api
from bayplan.objects.toleration import Taint, Toleration
from bayplan.placement.state import PlacementState

NAMESPACE = "web"
SET = "all"


def cluster(
    name: str,
    labels: dict[str, str] | None = None,
    *,
    claims: dict[str, str] | None = None,
    taints: tuple[Taint, ...] = (),
    cpu: int | None = None,
    cluster_set: str = SET,
) -> api.ManagedCluster:
    amounts: dict[str, Quantity] | None = None if cpu is None else {"cpu": str(cpu), "memory": f"{cpu}Gi"}
    given = tuple(api.ClusterClaim(name=key, value=value) for key, value in (claims or {}).items())
    return api.ManagedCluster(
        metadata=ObjectMeta(name=name, labels={api.SET_LABEL: cluster_set, **(labels or {})}),
        spec=api.ManagedClusterSpec(taints=taints or None),
        status=api.ManagedClusterStatus(allocatable=amounts, capacity=amounts, cluster_claims=given or None),
    )


def bound_set(name: str = SET, namespace: str = NAMESPACE) -> list[ApiObject]:
    """A set by its label, and the right to choose from it."""
    binding = api.ManagedClusterSetBindingSpec(cluster_set=name)
    return [
        api.ManagedClusterSet(metadata=ObjectMeta(name=name)),
        api.ManagedClusterSetBinding(metadata=ObjectMeta(name=name, namespace=namespace), spec=binding),
    ]


def constraint(key: str, *, skew: int = 1, hard: bool = True, **more: Any) -> api.SpreadConstraint:
    action = api.DO_NOT_SCHEDULE if hard else api.SCHEDULE_ANYWAY
    more.setdefault("topology_key_type", api.LABEL)
    return api.SpreadConstraint(topology_key=key, max_skew=skew, when_unsatisfiable=action, **more)


def placement(
    name: str = "p",
    number: int | None = None,
    *constraints: api.SpreadConstraint,
    labels: dict[str, str] | None = None,
    annotations: dict[str, str] | None = None,
    scope: str = api.NESTED,
    max_moves: int = 0,
    group: dict[str, str] | None = None,
    tolerations: tuple[Toleration, ...] = (),
    weights: dict[str, int] | None = None,
    **spec: Any,
) -> api.Placement:
    """A placement; `weights` are exact ones of built-in prioritizers."""
    if weights is not None:
        listed = tuple(
            api.PrioritizerConfig(score_coordinate=api.ScoreCoordinate(built_in=each), weight=weight)
            for each, weight in weights.items()
        )
        spec["prioritizer_policy"] = api.PrioritizerPolicy(mode=api.EXACT, configurations=listed)
    return api.Placement(
        metadata=ObjectMeta(name=name, namespace=NAMESPACE, labels=labels, annotations=annotations),
        spec=api.PlacementSpec(
            number_of_clusters=number,
            tolerations=tolerations or None,
            spread_policy=api.SpreadPolicy(
                spread_constraints=constraints or None,
                scope=scope,
                max_moves=max_moves,
                group_selector=None if group is None else LabelSelector(match_labels=group),
            ),
            **spec,
        ),
    )


def decided(placement_name: str, *names: str) -> api.PlacementDecision:
    """What an earlier run wrote."""
    return api.PlacementDecision(
        metadata=ObjectMeta(
            name=f"{placement_name}-decision-1", namespace=NAMESPACE, labels={api.PLACEMENT_LABEL: placement_name}
        ),
        status=api.PlacementDecisionStatus(decisions=tuple(api.ClusterDecision(cluster_name=name) for name in names)),
    )


def state_of(*things: ApiObject, now: float = 0.0) -> PlacementState:
    """A state that has seen these, and the usual set."""
    state = PlacementState(now)
    state.load([*bound_set(), *things])
    return state


def chosen(*things: ApiObject, name: str = "p", now: float = 0.0) -> tuple[str, ...]:
    """The clusters that a placement among these gets."""
    return state_of(*things, now=now).clusters(f"{NAMESPACE}/{name}")

"""Which pods cannot be evicted without breaking a disruption budget."""

from __future__ import annotations

import pytest

from bayplan.framework.preemption.disruption_budgets import DisruptionBudgets
from bayplan.objects.meta import LabelSelector, LabelSelectorRequirement, ObjectMeta
from bayplan.objects.pod import Pod
from bayplan.objects.policy import PodDisruptionBudget, PodDisruptionBudgetSpec, PodDisruptionBudgetStatus
from bayplan.testing import PodBuilder, pod


def budget(name: str, allowed: int, disrupted: tuple[str, ...] = (), **labels: str) -> PodDisruptionBudget:
    return PodDisruptionBudget(
        metadata=ObjectMeta(name=name, namespace="default", uid=f"pdb-{name}"),
        spec=PodDisruptionBudgetSpec(selector=LabelSelector(match_labels=labels)),
        status=PodDisruptionBudgetStatus(
            disruptions_allowed=allowed, disrupted_pods=dict.fromkeys(disrupted, "2026-01-01T00:00:00Z")
        ),
    )


def runs(name: str, **labels: str) -> PodBuilder:
    return pod(name).on("n1").label(labels)


DB = [runs(name, app="db").build() for name in ("db-0", "db-1", "db-2")]
PLAIN = runs("plain").build()
WEB = runs("web", app="web", tier="front").build()
NOT_DB = budget("not-db", 0).evolve(
    spec=PodDisruptionBudgetSpec(
        selector=LabelSelector(
            match_expressions=(LabelSelectorRequirement(key="app", operator="NotIn", values=("db",)),)
        )
    )
)

ODD = budget("odd", 0).evolve(
    spec=PodDisruptionBudgetSpec(
        selector=LabelSelector(match_expressions=(LabelSelectorRequirement(key="app", operator="Within"),))
    )
)


@pytest.mark.parametrize(
    ("pods", "budgets", "violating"),
    [
        (DB, (), []),
        (DB, (budget("db", 0, app="db"),), ["db-0", "db-1", "db-2"]),
        (DB, (budget("db", 2, app="db"),), ["db-2"]),
        (DB, (budget("db", -1, app="db"),), ["db-0", "db-1", "db-2"]),
        # one that is counted as disrupted already costs nothing
        (DB, (budget("db", 1, ("db-0",), app="db"),), ["db-2"]),
        # an empty selector covers nobody, and pods without labels are never covered
        ([PLAIN, WEB], (budget("all", 0),), []),
        ([PLAIN], (budget("db", 0, app="db"),), []),
        ([PLAIN, WEB], (NOT_DB,), ["web"]),
        # nor does a selector cover anybody that cannot be read
        (DB, (ODD, budget("db", 2, app="db")), ["db-2"]),
        # every budget that covers a pod is charged; one overdrawn is enough
        ([WEB], (budget("web", 5, app="web"), budget("front", 0, tier="front")), ["web"]),
        ([*DB, WEB], (budget("web", 1, app="web"), budget("db", 3, app="db")), []),
        # another namespace is another world
        ([pod("x").namespace("other").label(app="db").build()], (budget("db", 0, app="db"),), []),
    ],
)
def test_pods_are_split_by_budgets_in_their_order(
    pods: list[Pod], budgets: tuple[PodDisruptionBudget, ...], violating: list[str]
) -> None:
    breaks, harmless = DisruptionBudgets(budgets).split(pods)
    assert [each.name for each in breaks] == violating
    assert [each.name for each in harmless] == [each.name for each in pods if each.name not in violating]


def test_without_budgets_nobody_is_asked_about() -> None:
    assert not DisruptionBudgets()
    assert not DisruptionBudgets([budget("covers nobody", 0)])
    assert DisruptionBudgets([budget("db", 0, app="db")])

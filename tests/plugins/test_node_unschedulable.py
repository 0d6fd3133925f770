"""NodeUnschedulable: cordoned nodes take only pods that tolerate them; what uncordons brings pods back."""

from __future__ import annotations

import pytest

from bayplan.framework import Change, Code
from bayplan.objects.toleration import UNSCHEDULABLE_TAINT_KEY
from bayplan.plugins.node_unschedulable import NodeUnschedulable
from bayplan.testing import NodeBuilder, PodBuilder, cluster, make, node, pod, reasons, run_filter

TEXT = "node(s) were unschedulable"
OPEN, CORDONED = node("n1"), node("n1").cordoned()


@pytest.mark.parametrize(
    ("asked", "passes"),
    [
        (pod("plain"), False),
        (pod("tolerates-everything").tolerates(), True),
        (pod("tolerates-the-key").tolerates(UNSCHEDULABLE_TAINT_KEY), True),
        (pod("tolerates-the-effect").tolerates(UNSCHEDULABLE_TAINT_KEY, effect="NoSchedule"), True),
        (pod("tolerates-another-effect").tolerates(UNSCHEDULABLE_TAINT_KEY, effect="NoExecute"), False),
        (pod("tolerates-another-value").tolerates(UNSCHEDULABLE_TAINT_KEY, "x"), False),
        (pod("tolerates-another-key").tolerates("other"), False),
    ],
    ids=lambda case: case.build().name if isinstance(case, PodBuilder) else "",
)
def test_a_cordoned_node_takes_only_pods_that_tolerate_it(asked: PodBuilder, passes: bool) -> None:
    statuses = run_filter(make(NodeUnschedulable), asked, cluster([node("open"), node("shut").cordoned()]))
    assert reasons(statuses) == ({} if passes else {"shut": [TEXT]})
    assert all(status.code is Code.UNRESOLVABLE for status in statuses.values() if status is not None)


@pytest.mark.parametrize(
    ("old", "new", "helps"),
    [
        (None, OPEN, True),
        (None, CORDONED, False),
        (CORDONED, OPEN, True),
        (OPEN, OPEN.taint("x"), False),
        (OPEN, CORDONED, False),
        (CORDONED, CORDONED.taint("x"), False),
    ],
)
def test_nodes_that_open_bring_pods_back(old: NodeBuilder | None, new: NodeBuilder, helps: bool) -> None:
    rule = make(NodeUnschedulable).requeue_on()[0]
    assert (rule.kind, rule.change) == ("Node", Change.ADDED | Change.TAINT)
    assert rule.hint is not None
    assert rule.hint(pod("a").build(), old.build() if old else None, new.build()) is helps


def test_the_pods_own_toleration_brings_it_back_if_it_covers_cordons() -> None:
    rule = make(NodeUnschedulable).requeue_on()[1]
    asked = pod("a").build()
    assert (rule.kind, rule.change) == ("Pod", Change.POD_TOLERATION)
    assert rule.hint is not None
    assert rule.hint(asked, asked, pod("a").tolerates(UNSCHEDULABLE_TAINT_KEY).build())
    assert not rule.hint(asked, asked, pod("a").tolerates("other").build())
    assert not rule.hint(asked, None, pod("b").tolerates().build())

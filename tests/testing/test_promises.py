"""``assert_promises_hold`` finds the plugin that does not keep its word."""

from __future__ import annotations

from typing import Any

import pytest

from bayplan.framework import SKIP, Code, Depends, FilterPlugin, PreFilterPlugin, Promise, Reason, ScorePlugin
from bayplan.framework.plugin import ReservePlugin
from bayplan.objects.pod_template import ZONE_LABEL
from bayplan.testing import assert_promises_hold, pod

NO = Reason(Code.UNSCHEDULABLE, "node(s) are not wanted")


class Truthful(FilterPlugin, ScorePlugin):
    """Goes by the zone that a pod names, the node's zone, and how many pods the node has."""

    name = "Truthful"
    reasons = (NO,)
    filter_by: Depends = Depends.OBJECT
    score_by: Depends = Depends.AMOUNTS

    def promise(self, template: Any) -> Promise | None:
        return Promise(key=self.key(template), filter=self.filter_by, score=self.score_by)

    def key(self, template: Any) -> Any:
        return template.zone

    def filter_node(self, state: Any, pod: Any, node: Any) -> Any:
        return NO if pod.zone and node.labels.get(ZONE_LABEL) != pod.zone else None

    def score_node(self, state: Any, pod: Any, node: Any) -> int:
        return min(100, int(node.pods_count))


class ByName(Truthful):
    """Reads what no template has."""

    def filter_node(self, state: Any, pod: Any, node: Any) -> Any:
        return NO if pod.name.endswith("sibling") else None


class ByStatus(Truthful):
    def score_node(self, state: Any, pod: Any, node: Any) -> int:
        return len(pod.status.conditions or ())


class ShortKey(Truthful):
    def key(self, template: Any) -> Any:
        return ()


class ByPods(Truthful):
    """Looks at the pods of a node, and says that it looks at the node."""

    score_by = Depends.OBJECT


class ByOthers(Truthful):
    """Looks at other nodes, and says that it looks at one."""

    score_by = Depends.ROW

    def score(self, state: Any, pod: Any, nodes: Any) -> Any:
        return nodes.pods_count * 0 + min(100, len(nodes))

    def score_node(self, state: Any, pod: Any, node: Any) -> int:
        return 0


class Awake(PreFilterPlugin, Truthful):
    """Says that it skips pods that no term selects, and does not."""

    filter_by = Depends.TERMS

    def pre_filter(self, state: Any, pod: Any, nodes: Any) -> Any:
        return SKIP if pod.zone else None


class Grabs(ReservePlugin, Truthful):
    def promise(self, template: Any) -> Promise | None:
        return Promise(key=template.zone, filter=self.filter_by, score=self.score_by, reserves=False)

    def reserve(self, state: Any, pod: Any, node_name: str) -> Any:
        return NO

    def unreserve(self, state: Any, pod: Any, node_name: str) -> None:
        pass


ZONED = [pod(f"in-{zone}").node_selector({ZONE_LABEL: zone}).build() for zone in "ab"]


def test_who_keeps_a_promise_passes() -> None:
    assert_promises_hold(Truthful, ZONED)


def test_who_promises_nothing_passes() -> None:
    class Silent(ByName):
        def promise(self, template: Any) -> Promise | None:
            return None

    assert_promises_hold(Silent, ZONED)


@pytest.mark.parametrize(
    ("liar", "said"),
    [
        (ByName, "promises the same for"),
        (ByStatus, "promises the same for"),
        (ShortKey, "promises the same for"),
        (ByPods, "depends on OBJECT"),
        (ByOthers, "depends on ROW"),
        (Awake, "promises to skip"),
        (Grabs, "promises to reserve nothing"),
    ],
)
def test_who_does_not_is_named(liar: Any, said: str) -> None:
    with pytest.raises(AssertionError, match=rf"Truthful .*{said}"):
        assert_promises_hold(liar, ZONED)

"""Plugins that break, or answer nonsense, at one extension point each; and two that say no after a node was chosen."""

from __future__ import annotations

from typing import Any

import numpy as np

from bayplan.framework import (
    Code,
    FilterPlugin,
    PermitPlugin,
    PostFilterPlugin,
    PostFilterResult,
    PreEnqueuePlugin,
    PreFilterPlugin,
    PreScorePlugin,
    Reason,
    ReservePlugin,
    ScorePlugin,
    Wait,
)

NO = Reason(Code.UNSCHEDULABLE, "node(s) are spoken for")


class PreEnqueueRaises(PreEnqueuePlugin):
    name = "PreEnqueueRaises"

    def pre_enqueue(self, pod: Any) -> None:
        raise RuntimeError("broken")


class PreFilterRaises(PreFilterPlugin):
    name = "PreFilterRaises"

    def pre_filter(self, state: Any, pod: Any, nodes: Any) -> None:
        raise RuntimeError("broken")


class FilterRaises(FilterPlugin):
    name = "FilterRaises"

    def filter_node(self, state: Any, pod: Any, node: Any) -> None:
        raise RuntimeError("broken")


class FilterTalksNonsense(FilterPlugin):
    name = "FilterTalksNonsense"

    def filter_node(self, state: Any, pod: Any, node: Any) -> Any:
        return "broken"


class PreScoreRaises(PreScorePlugin):
    name = "PreScoreRaises"

    def pre_score(self, state: Any, pod: Any, nodes: Any, feasible: Any) -> None:
        raise RuntimeError("broken")


class ScoreRaises(ScorePlugin):
    name = "ScoreRaises"

    def score_node(self, state: Any, pod: Any, node: Any) -> int:
        raise RuntimeError("broken")


class ScoreIsNoNumber(ScorePlugin):
    name = "ScoreIsNoNumber"

    def score(self, state: Any, pod: Any, nodes: Any) -> Any:
        return np.full(len(nodes), np.nan)


class ScoreIsTooHigh(ScorePlugin):
    name = "ScoreIsTooHigh"

    def score_node(self, state: Any, pod: Any, node: Any) -> int:
        return 1000


class ReserveRaises(ReservePlugin):
    name = "ReserveRaises"

    def reserve(self, state: Any, pod: Any, node_name: str) -> None:
        raise RuntimeError("broken")

    def unreserve(self, state: Any, pod: Any, node_name: str) -> None:
        return None


class PermitRaises(PermitPlugin):
    name = "PermitRaises"

    def permit(self, state: Any, pod: Any, node_name: str) -> None:
        raise RuntimeError("broken")


class PostFilterRaises(FilterPlugin, PostFilterPlugin):
    name = "PostFilterRaises"

    def filter_node(self, state: Any, pod: Any, node: Any) -> Reason:
        return NO

    def post_filter(self, state: Any, pod: Any, diagnosis: Any) -> PostFilterResult:
        raise RuntimeError("broken")


class ReserveRejects(ReservePlugin):
    name = "ReserveRejects"

    def reserve(self, state: Any, pod: Any, node_name: str) -> Reason:
        return NO

    def unreserve(self, state: Any, pod: Any, node_name: str) -> None:
        return None


class PermitRejects(PermitPlugin):
    name = "PermitRejects"

    def permit(self, state: Any, pod: Any, node_name: str) -> Reason:
        return NO


class PermitHolds(PermitPlugin):
    name = "PermitHolds"

    def permit(self, state: Any, pod: Any, node_name: str) -> Wait:
        return Wait(60)


class NormalizeRaises(ScorePlugin):
    name = "NormalizeRaises"

    def score_node(self, state: Any, pod: Any, node: Any) -> int:
        return 1

    def normalize(self, state: Any, pod: Any, scores: Any, feasible: Any) -> Any:
        raise RuntimeError("broken")

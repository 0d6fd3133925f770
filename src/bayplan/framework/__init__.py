"""
The contract between the engine and plugins: everything a plugin author imports, and nothing else.

Start with ``FilterPlugin`` and ``ScorePlugin``; ``docs/guides/first-plugin.md`` walks through one.
"""

from bayplan.framework.args import PluginArgs
from bayplan.framework.cycle_state import CycleState, Key
from bayplan.framework.decision import Decision, PluginScores
from bayplan.framework.diagnosis import Diagnosis
from bayplan.framework.events import Change, ClusterEvent, On
from bayplan.framework.handle import Handle
from bayplan.framework.plugin import (
    EXTENSION_POINTS,
    MAX_SCORE,
    MIN_SCORE,
    PASS,
    BindPlugin,
    FilterPlugin,
    PermitPlugin,
    Plugin,
    PostBindPlugin,
    PostFilterPlugin,
    PreBindPlugin,
    PreEnqueuePlugin,
    PreFilterExtensions,
    PreFilterPlugin,
    PreScorePlugin,
    QueuedPod,
    QueueSortPlugin,
    ReservePlugin,
    ScorePlugin,
)
from bayplan.framework.promise import Depends, Promise
from bayplan.framework.results import Nomination, PostFilterResult, PreFilterResult, Verdicts, Wait
from bayplan.framework.snapshot import (
    Codes,
    ImageState,
    LabelColumn,
    Mask,
    NodeTable,
    NodeView,
    PodMatcher,
    Rows,
    Scores,
    Snapshot,
    TermColumn,
    TermKind,
)
from bayplan.framework.status import (
    SKIP,
    SUCCESS,
    Code,
    Reason,
    Status,
    Verdict,
    failed,
    unresolvable,
    unschedulable,
)
from bayplan.objects.kind import Kind
from bayplan.objects.pod_template import PodTemplate

__all__ = [
    "EXTENSION_POINTS",
    "MAX_SCORE",
    "MIN_SCORE",
    "PASS",
    "SKIP",
    "SUCCESS",
    "BindPlugin",
    "Change",
    "ClusterEvent",
    "Code",
    "Codes",
    "CycleState",
    "Decision",
    "Depends",
    "Diagnosis",
    "FilterPlugin",
    "Handle",
    "ImageState",
    "Key",
    "Kind",
    "LabelColumn",
    "Mask",
    "NodeTable",
    "NodeView",
    "Nomination",
    "On",
    "PermitPlugin",
    "Plugin",
    "PluginArgs",
    "PluginScores",
    "PodMatcher",
    "PodTemplate",
    "PostBindPlugin",
    "PostFilterPlugin",
    "PostFilterResult",
    "PreBindPlugin",
    "PreEnqueuePlugin",
    "PreFilterExtensions",
    "PreFilterPlugin",
    "PreFilterResult",
    "PreScorePlugin",
    "Promise",
    "QueueSortPlugin",
    "QueuedPod",
    "Reason",
    "ReservePlugin",
    "Rows",
    "ScorePlugin",
    "Scores",
    "Snapshot",
    "Status",
    "TermColumn",
    "TermKind",
    "Verdict",
    "Verdicts",
    "Wait",
    "failed",
    "unresolvable",
    "unschedulable",
]


def __getattr__(name: str) -> object:
    if name == "UNSIGNED":
        raise ImportError("there is no UNSIGNED any more: write def promise(self, template) in place of signature")
    raise AttributeError(f"module {__name__!r} has no attribute {name!r}")

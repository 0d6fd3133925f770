"""What the controller of spare capacity can be told."""

from __future__ import annotations

from dataclasses import dataclass

from bayplan.objects import load_estimate
from bayplan.objects.spare import CLOSE_AFTER_S


@dataclass(frozen=True, slots=True)
class SpareSettings:
    """Shares are fractions of a node's allocatable."""

    cpu_share: float = 0.65
    memory_share: float = 0.65
    """How far guaranteed and spare pods together may fill a node."""
    most_share: float = 0.5
    """No ledger is larger than this."""
    grow_per_minute: float = 0.1
    """How much of the node a ledger may grow in a minute; it shrinks at once."""
    close_after_s: float = CLOSE_AFTER_S
    cpu_watermark: float = 0.85
    memory_watermark: float = 0.8
    """Above one of these, for two samples in a row, spare pods are evicted until the node is below its share."""
    samples_above: int = 2
    node_cooldown_s: float = 300.0
    """How long a node is left alone after an eviction: its load takes that long to show it."""
    owner_cooldown_s: float = 600.0
    """Pods of a workload that lost one this short a time ago go last."""
    window_s: float = load_estimate.WINDOW_S
    cpu_metrics: tuple[str, ...] = ("cpu_usage_avg_5m",)
    memory_metrics: tuple[str, ...] = ("mem_usage_avg_5m",)
    """The annotations that hold a node's use; of several the largest counts, and the oldest says how old it is."""

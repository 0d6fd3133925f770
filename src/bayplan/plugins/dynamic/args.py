"""What a profile may set under ``pluginConfig: Dynamic``, with the defaults and the checks."""

from __future__ import annotations

from typing import Literal, TypeAlias

from pydantic import Field, field_validator

from bayplan.framework import PluginArgs
from bayplan.framework.config.duration import Duration
from bayplan.objects.load_estimate import CPU_SHARE, MEMORY_SHARE, WINDOW_S
from bayplan.objects.third_party.crane_annotations import time_zone

Source: TypeAlias = Literal["requests", "learned"]
Percentile: TypeAlias = Literal["p50", "p90", "p95", "p99"]


class Estimate(PluginArgs):
    """Count the pod itself and pods the load does not show yet."""

    source: Source = "requests"
    cpu_share: float = Field(CPU_SHARE, gt=0, le=10)
    memory_share: float = Field(MEMORY_SHARE, gt=0, le=10)
    window: Duration = WINDOW_S

    @field_validator("window")
    @classmethod
    def _takes_time(cls, seconds: float) -> float:
        if seconds <= 0:
            raise ValueError('must be more than 0, such as "5m"')
        return seconds


class DynamicArgs(PluginArgs):
    """Without a policy file the published policy holds."""

    policy_config_path: str = ""
    estimate: Estimate | None = None
    percentiles: Percentile | None = None
    time_zone: str = "UTC"
    reason_numbers: bool = True
    fresh_first: bool = False

    @field_validator("time_zone")
    @classmethod
    def _exists(cls, name: str) -> str:
        time_zone(name)
        return name

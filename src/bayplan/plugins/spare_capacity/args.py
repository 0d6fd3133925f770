"""What a profile may set under ``pluginConfig: SpareCapacity``."""

from __future__ import annotations

from pydantic import field_validator

from bayplan.framework import PluginArgs
from bayplan.framework.config.duration import Duration
from bayplan.objects.spare import CLOSE_AFTER_S


class SpareCapacityArgs(PluginArgs):
    """``closeAfter``: how old the load behind a node's ledger may be."""

    close_after: Duration = CLOSE_AFTER_S

    @field_validator("close_after")
    @classmethod
    def _takes_time(cls, seconds: float) -> float:
        if seconds <= 0:
            raise ValueError('must be more than 0, such as "6m"')
        return seconds

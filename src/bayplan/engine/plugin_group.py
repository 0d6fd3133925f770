"""
Some of a profile's plugins, by the point at which they are asked, in the profile's order.

An evaluation asks one group on top of what is kept of the others; the group of all plugins is the whole profile.
"""

from __future__ import annotations

from collections.abc import Iterable
from typing import TypeVar

from bayplan.framework.plugin import FilterPlugin, Plugin, PreFilterPlugin, PreScorePlugin, ScorePlugin
from bayplan.framework.profile import Profile

P = TypeVar("P", bound=Plugin)

POINTS = ("pre_filter", "filter", "pre_score", "score")
"""Where a group is asked about nodes."""


class PluginGroup:
    """Plugins that are asked together."""

    __slots__ = ("all", "pre_filters", "filters", "pre_scores", "scores")

    def __init__(self, plugins: Iterable[Plugin], profile: Profile) -> None:
        self.all = tuple(plugins)
        names = {plugin.name for plugin in self.all}
        self.pre_filters = _among(profile, "pre_filter", PreFilterPlugin, names)
        self.filters = _among(profile, "filter", FilterPlugin, names)
        self.pre_scores = _among(profile, "pre_score", PreScorePlugin, names)
        self.scores = _among(profile, "score", ScorePlugin, names)

    @classmethod
    def of_all(cls, profile: Profile) -> PluginGroup:
        """Every plugin of the profile that is asked about nodes."""
        return cls({plugin.name: plugin for point in POINTS for plugin in profile.extension(point)}.values(), profile)


def _among(profile: Profile, point: str, kind: type[P], names: set[str]) -> tuple[P, ...]:
    return tuple(each for each in profile.extension(point) if isinstance(each, kind) and each.name in names)

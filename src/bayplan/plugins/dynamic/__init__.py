"""The Dynamic plugin: nodes by their real load."""

from bayplan.plugins.dynamic.plugin import Dynamic

__all__ = ["Dynamic"]

"""DynamicResources: devices for the claims of pods.  ``plugin`` is the way in, ``allocator`` what it asks."""

from bayplan.plugins.dynamic_resources.plugin import DynamicResources

__all__ = ["DynamicResources"]

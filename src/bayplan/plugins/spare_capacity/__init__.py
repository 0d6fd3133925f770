"""The SpareCapacity plugin: pods that live on what others asked for and do not use."""

from bayplan.plugins.spare_capacity.plugin import SpareCapacity

__all__ = ["SpareCapacity"]

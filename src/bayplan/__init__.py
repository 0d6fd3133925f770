"""Bayplan: a Kubernetes scheduler, plugin framework, placement engine and simulator that share one engine.

Only names that anyone may rely on are listed here; everything else is imported from its own module.
"""

from __future__ import annotations

from bayplan.clock import Clock, SystemClock, VirtualClock
from bayplan.errors import BayplanError, ConfigError, InputError, InputErrors, PluginError

__version__ = "0.1.0"

__all__ = [
    "BayplanError",
    "Clock",
    "ConfigError",
    "InputError",
    "InputErrors",
    "PluginError",
    "SystemClock",
    "VirtualClock",
    "__version__",
]

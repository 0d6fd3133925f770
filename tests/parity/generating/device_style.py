"""What clusters about devices have in common, and what one of them is like."""

from __future__ import annotations

from dataclasses import dataclass

FIRST_DEVICE_SEED = 30_000
# From here on with DeviceTaintRules, for which the control plane needs a feature gate.
FIRST_TAINT_RULE_SEED = 36_000
STYLE = "devices"

DRIVERS = ("gpu.example.com", "nic.example.com")
MODELS = ("a", "b", "c")
CLASSES = ("any", "gpu", "model-a", "big")
RESOURCES = ("example.com/gpu", "example.com/big")
NAMESPACE = "default"
ADMIN_NAMESPACE = "admin"
PRIORITIES = {"low": -10, "high": 1000}
# Settings for drivers are empty: the API server compares them byte by byte, and refuses a change of spaces.
SETTINGS: dict[str, str] = {}


@dataclass(frozen=True, slots=True)
class Traits:
    """What may be found in one cluster."""

    # v1.36 gives a request for all devices the rest where one is used up; docs/parity.md has that difference.  So there
    # are devices to share in some clusters, and requests for all devices in the others.
    shares: bool = False
    # kube-scheduler looks every five seconds whether devices are prepared, so this is not in every cluster.
    prepares: bool = False
    administers: bool = False
    # little CPU, and pods of different priority
    is_crowded: bool = False
    has_large_pool: bool = False

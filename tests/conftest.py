"""What all tests share.  Random tests are the same in every run, and no test is judged by how long it takes."""

from __future__ import annotations

from hypothesis import HealthCheck, settings

settings.register_profile(
    "bayplan", deadline=None, derandomize=True, suppress_health_check=[HealthCheck.too_slow]
)
settings.load_profile("bayplan")

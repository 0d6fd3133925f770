"""What DeviceScore says of a choice, from what its rules say."""

from __future__ import annotations

from bayplan.plugins.dynamic_resources.device_score.merit import Merit, scored


def test_the_score_is_the_mean_by_weight() -> None:
    assert scored((10_000, 2_550), (3, 1), 7, is_best=True) == Merit(81, (100, 25), 7, True)

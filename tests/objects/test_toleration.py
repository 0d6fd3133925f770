"""Taints against tolerations."""

from __future__ import annotations

import pytest

from bayplan.objects.toleration import DO_NOT_SCHEDULE, PREFER_NO_SCHEDULE, Taint, Toleration, tolerates, untolerated

TAINT = Taint(key="team", value="a", effect="NoSchedule")


@pytest.mark.parametrize(
    ("toleration", "covers"),
    [
        (Toleration(key="team", operator="Equal", value="a", effect="NoSchedule"), True),
        (Toleration(key="team", value="a"), True),
        (Toleration(key="team", value="b"), False),
        (Toleration(key="team", operator="Exists"), True),
        (Toleration(key="team", operator="Exists", effect="NoExecute"), False),
        (Toleration(key="other", operator="Exists"), False),
        (Toleration(operator="Exists"), True),
        (Toleration(operator="Exists", effect="NoSchedule"), True),
        (Toleration(operator="Equal", value="a"), True),
        (Toleration(key="team", operator="Lt", value="5"), False),
        (Toleration(key="team", operator="Like", value="a"), False),
        (Toleration(key="team", value="a", effect="NoSchedule", toleration_seconds=0), True),
    ],
)
def test_a_toleration_covers_a_taint(toleration: Toleration, covers: bool) -> None:
    assert tolerates(toleration, TAINT) is covers


def test_the_first_taint_with_one_of_the_effects_that_nobody_covers_is_named() -> None:
    soft = Taint(key="soft", effect="PreferNoSchedule")
    run = Taint(key="run", effect="NoExecute")
    taints = (soft, TAINT, run)
    assert untolerated((), taints) == TAINT
    assert untolerated((Toleration(key="team", operator="Exists"),), taints, DO_NOT_SCHEDULE) == run
    assert untolerated((), taints, (PREFER_NO_SCHEDULE,)) == soft
    assert untolerated((Toleration(operator="Exists"),), taints) is None
    assert untolerated((), ()) is None

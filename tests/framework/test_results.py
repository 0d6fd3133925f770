"""What plugins return beside a verdict is checked where it is made, so that the plugin's own line is named."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

from bayplan.framework import Code, Nomination, PostFilterResult, PreFilterResult, Reason, Verdicts, Wait
from bayplan.testing import pod

POD = pod("p").build()
NO_CODES = np.zeros(0, np.uint8)


@pytest.mark.parametrize(
    ("make", "complaint"),
    [
        (lambda: PreFilterResult("n1"), "node_names is a set of node names"),  # type: ignore[arg-type]  # what is tested
        (lambda: Verdicts(NO_CODES, ["no room"]), "statuses is a tuple of Status or Reason"),  # type: ignore[arg-type]  # what is tested
        (lambda: PostFilterResult("n1"), "nomination is a Nomination or None"),  # type: ignore[arg-type]  # what is tested
        (lambda: PostFilterResult(Nomination("n1"), [POD]), "victims is a tuple of pods"),  # type: ignore[arg-type]  # what is tested
        (lambda: PostFilterResult(status=None), "status is a Status"),  # type: ignore[arg-type]  # what is tested
        (lambda: Wait("soon"), "timeout_s is a number of seconds"),  # type: ignore[arg-type]  # what is tested
        (lambda: Wait(float("nan")), "timeout_s is a number of seconds"),
    ],
)
def test_a_wrong_type_is_refused(make: Callable[[], Any], complaint: str) -> None:
    with pytest.raises(TypeError, match=complaint):
        make()


@pytest.mark.parametrize(
    ("make", "complaint"),
    [
        (lambda: PostFilterResult(victims=(POD,)), "victims without a nomination"),
        (lambda: PostFilterResult(Nomination(""), (POD,)), "victims without a nomination"),
        (lambda: Wait(-1), "0 or more seconds"),
    ],
)
def test_what_makes_no_sense_is_refused(make: Callable[[], Any], complaint: str) -> None:
    with pytest.raises(ValueError, match=complaint):
        make()


def test_what_makes_sense_is_taken() -> None:
    PreFilterResult(frozenset({"n1"}))
    Verdicts(NO_CODES, (Reason(Code.UNSCHEDULABLE, "no room"),))
    PostFilterResult(Nomination(""), ())
    PostFilterResult(Nomination("n1"), (POD,))
    Wait(0)

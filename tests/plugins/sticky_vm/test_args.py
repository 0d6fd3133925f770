"""What can be set, and what is refused."""

from __future__ import annotations

from typing import Any

import pytest

from bayplan.errors import InvalidArgsError
from bayplan.framework.args import load_args
from bayplan.plugins.sticky_vm import StickyVM, StickyVMArgs


def test_without_args_a_machine_waits_for_its_node() -> None:
    args = load_args(StickyVM, {}, "args")
    assert args == StickyVMArgs(
        mode="StickyVM", annotation_key="bayplan.io/sticky-node", when_node_is_gone="Wait", release_after=3600.0
    )


def test_a_duration_is_written_as_everywhere() -> None:
    assert load_args(StickyVM, {"whenNodeIsGone": "Release", "releaseAfter": "1m30s"}, "args").release_after == 90.0


@pytest.mark.parametrize(
    "args",
    [
        {"mode": "Sticky"},
        {"annotationKey": ""},
        {"annotationKey": "with space"},
        {"annotationKey": "a/b/c"},
        {"annotationKey": "a..b/c"},
        {"annotationKey": "a/" + "b" * 51},
        {"whenNodeIsGone": "Move"},
        {"releaseAfter": "0s"},
        {"releaseAfter": "-5m"},
        {"releaseAfter": 5},
        {"nodeGone": "Wait"},
    ],
    ids=str,
)
def test_what_makes_no_sense_is_refused_with_its_path(args: dict[str, Any]) -> None:
    (field,) = args
    with pytest.raises(InvalidArgsError, match=rf"args\.{field}"):
        load_args(StickyVM, args, "args")

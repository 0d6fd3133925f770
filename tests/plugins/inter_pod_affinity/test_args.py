"""InterPodAffinityArgs: defaults, bounds, and what a wrong setting is told."""

from __future__ import annotations

from typing import Any

import pytest

from bayplan.errors import InvalidArgsError
from bayplan.framework.args import load_args
from bayplan.plugins.inter_pod_affinity import InterPodAffinity, InterPodAffinityArgs


def test_by_default_required_affinity_weighs_1_and_preferences_count() -> None:
    assert load_args(InterPodAffinity, None, "args") == InterPodAffinityArgs(
        hard_pod_affinity_weight=1, ignore_preferred_terms_of_existing_pods=False
    )


@pytest.mark.parametrize("weight", [0, 100])
def test_weights_from_0_to_100_are_accepted(weight: int) -> None:
    assert load_args(InterPodAffinity, {"hardPodAffinityWeight": weight}, "args").hard_pod_affinity_weight == weight


BAD: list[tuple[str, dict[str, Any], str]] = [
    ("too heavy", {"hardPodAffinityWeight": 101}, "args.hardPodAffinityWeight: must be less than or equal to 100"),
    ("negative", {"hardPodAffinityWeight": -1}, "args.hardPodAffinityWeight: must be greater than or equal to 0"),
    ("not a number", {"hardPodAffinityWeight": "5"}, 'args.hardPodAffinityWeight: must be an integer, not "5"'),
    ("not a truth", {"ignorePreferredTermsOfExistingPods": "no"}, "must be true or false"),
    ("misspelt", {"hardPodAfinityWeight": 5}, 'did you mean "hardPodAffinityWeight"?'),
]


@pytest.mark.parametrize(("written", "told"), [case[1:] for case in BAD], ids=[case[0] for case in BAD])
def test_a_wrong_setting_is_named(written: dict[str, Any], told: str) -> None:
    with pytest.raises(InvalidArgsError) as raised:
        load_args(InterPodAffinity, written, "args")
    assert told in str(raised.value)

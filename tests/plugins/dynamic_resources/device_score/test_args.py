"""The args of DeviceScore: what is refused, in one line."""

from __future__ import annotations

from typing import Any

import pytest

from bayplan.errors import InvalidArgsError
from bayplan.framework.args import load_args
from bayplan.plugins.dynamic_resources.plugin import DynamicResources

PLACE = "args.deviceScore"


def test_without_rules_there_is_no_score() -> None:
    assert load_args(DynamicResources, {}, "args").device_score is None


def test_rules_have_defaults() -> None:
    args = load_args(DynamicResources, {"deviceScore": {"rules": [{"type": "Tightest"}]}}, "args").device_score
    assert (args.rules[0].weight, args.search_steps) == (1, 1000)


@pytest.mark.parametrize(
    ("written", "text"),
    [
        ("Pack", ': must be a mapping, not "Pack"'),
        ({}, ".rules: is missing, but required"),
        ({"rules": []}, ".rules: needs at least one rule, such as {type: Tightest}; or leave deviceScore out"),
        ({"rules": "Pack"}, '.rules: must be a list, not "Pack"'),
        (
            {"rules": [{"type": "Packed"}]},
            ".rules[0].type: must be 'Pack', 'Spread', 'Tightest' or 'Together', not \"Packed\"",
        ),
        (
            {"rules": [{"type": "Together"}]},
            ".rules[0]: type Together needs an attribute; add one, such as resource.kubernetes.io/pcieRoot",
        ),
        ({"rules": [{"type": "Pack", "attribute": "a.b/c"}]}, ".rules[0]: type Pack takes no attribute; remove it"),
        (
            {"rules": [{"type": "Together", "attribute": "numa"}]},
            '.rules[0].attribute: "numa" has no domain; write it with one, such as example.com/model',
        ),
        (
            {"rules": [{"type": "Together", "attribute": "a/b/c"}]},
            '.rules[0].attribute: "a/b/c" has more than one "/"; write domain/name, such as example.com/nvlink',
        ),
        (
            {"rules": [{"type": "Together", "attribute": "a.b/9"}]},
            '.rules[0].attribute: "9" cannot name an attribute; write at most 32 letters, digits and _, '
            "not beginning with a digit",
        ),
        ({"rules": [{"type": "Pack", "weight": "1"}]}, '.rules[0].weight: must be an integer, not "1"'),
        ({"rules": [{"type": "Pack", "weight": 0}]}, ".rules[0].weight: must be greater than or equal to 1, not 0"),
        ({"rules": [{"type": "Pack"}, {"type": "Spread"}]}, ".rules: Pack and Spread want the opposite; remove one"),
        (
            {"rules": [{"type": "Pack"}, {"type": "Pack"}]},
            ".rules: Pack is there 2 times; write it once, with a weight",
        ),
        (
            {"rules": [{"type": "Pack"}], "searchSteps": 0},
            ".searchSteps: must be greater than or equal to 1, not 0",
        ),
    ],
)
def test_a_mistake_gets_one_line(written: Any, text: str) -> None:
    with pytest.raises(InvalidArgsError) as caught:
        load_args(DynamicResources, {"deviceScore": written}, "args")
    assert str(caught.value) == PLACE + text

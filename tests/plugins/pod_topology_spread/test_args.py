"""PodTopologySpreadArgs: what is accepted, and what a wrong setting is told."""

from __future__ import annotations

from typing import Any

import pytest

from bayplan.errors import InvalidArgsError
from bayplan.framework.args import load_args
from bayplan.plugins.pod_topology_spread import PodTopologySpread

GOOD = {"maxSkew": 1, "topologyKey": "topology.kubernetes.io/zone", "whenUnsatisfiable": "ScheduleAnyway"}


def test_the_system_defaults_are_two_soft_constraints() -> None:
    args = load_args(PodTopologySpread, {}, "args")
    assert [(each.topology_key, each.max_skew, each.hard) for each in args.compiled()] == [
        ("kubernetes.io/hostname", 3, False),
        ("topology.kubernetes.io/zone", 5, False),
    ]


def test_listed_constraints_are_read_with_their_policies() -> None:
    written = GOOD | {"minDomains": 2, "nodeAffinityPolicy": "Ignore", "nodeTaintsPolicy": "Honor"}
    args = load_args(PodTopologySpread, {"defaultingType": "List", "defaultConstraints": [written]}, "args")
    (constraint,) = args.compiled()
    assert (constraint.min_domains, constraint.honor_affinity, constraint.honor_taints) == (2, False, True)


def listed(**changes: Any) -> dict[str, Any]:
    return {"defaultingType": "List", "defaultConstraints": [{**GOOD, **changes}]}


BAD: list[tuple[str, dict[str, Any], str]] = [
    ("an unknown type", {"defaultingType": "None"}, "args.defaultingType: must be 'System' or 'List'"),
    ("constraints beside System", {"defaultConstraints": [GOOD]}, "write defaultingType: List"),
    ("no skew at all", listed(maxSkew=0), "args.defaultConstraints[0].maxSkew: must be greater than 0"),
    ("a key that is no label", listed(topologyKey="a b"), 'Constraints[0].topologyKey: "a b" is not a label key'),
    ("an empty key", listed(topologyKey=""), 'args.defaultConstraints[0].topologyKey: "" is not a label key'),
    ("an unknown action", listed(whenUnsatisfiable="Never"), "args.defaultConstraints[0].whenUnsatisfiable: must be"),
    ("a selector", listed(labelSelector={}), "args.defaultConstraints[0].labelSelector: must be left out"),
    ("a misspelt field", listed(maxSkw=1), 'unknown field; did you mean "maxSkew"?'),
    (
        "a pair written twice",
        {"defaultingType": "List", "defaultConstraints": [GOOD, GOOD]},
        "args.defaultConstraints: entry [1] repeats topologyKey topology.kubernetes.io/zone",
    ),
]


@pytest.mark.parametrize(("written", "told"), [case[1:] for case in BAD], ids=[case[0] for case in BAD])
def test_a_wrong_setting_is_named(written: dict[str, Any], told: str) -> None:
    with pytest.raises(InvalidArgsError) as raised:
        load_args(PodTopologySpread, written, "args")
    assert told in str(raised.value)


def test_the_same_key_may_be_both_hard_and_soft() -> None:
    both = [GOOD, GOOD | {"whenUnsatisfiable": "DoNotSchedule"}]
    args = load_args(PodTopologySpread, {"defaultingType": "List", "defaultConstraints": both}, "args")
    assert [each.hard for each in args.compiled()] == [False, True]

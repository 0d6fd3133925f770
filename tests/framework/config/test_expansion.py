"""The rules of multiPoint, one sentence of kube-scheduler's behaviour a test."""

from __future__ import annotations

import pytest

from bayplan.framework.config.expansion import Listed, expanded, merged, score_weights
from bayplan.framework.config.model import PluginRef, PluginSet

DEFAULTS = [Listed("A", 1, "default"), Listed("B", 3, "default"), Listed("C", None, "default")]


def plugin_set(enabled: str = "", disabled: str = "") -> PluginSet:
    """``"A B:5"`` as a set."""

    def refs(text: str) -> tuple[PluginRef, ...]:
        parts = (word.partition(":") for word in text.split())
        return tuple(PluginRef(name=name, weight=int(weight) if weight else None) for name, _, weight in parts)

    return PluginSet(enabled=refs(enabled), disabled=refs(disabled))


@pytest.mark.parametrize(
    ("sentence", "enabled", "disabled", "result"),
    [
        ("nothing written leaves the defaults", "", "", "A:1 B:3 C"),
        ("a disabled default goes", "", "B", "A:1 C"),
        ("* drops all defaults", "", "*", ""),
        ("* keeps what is written", "X", "*", "X"),
        ("a default written again keeps its place and takes the weight written", "C:7 A:5", "", "A:5 B:3 C:7"),
        ("a default written again without a weight loses its own", "B", "", "A:1 B C"),
        ("other entries are appended in order", "Y X", "", "A:1 B:3 C Y X"),
        ("a default that is disabled and written is appended", "X A:2", "A", "B:3 C X A:2"),
        ("* and a default written again", "B:2 X", "*", "B:2 X"),
        ("disabling what is no default changes nothing", "", "Z", "A:1 B:3 C"),
    ],
)
def test_a_written_set_is_merged_into_the_defaults(sentence: str, enabled: str, disabled: str, result: str) -> None:
    found = merged(DEFAULTS, plugin_set(enabled, disabled), "multiPoint")
    expected = [(ref.name, ref.weight) for ref in plugin_set(result).enabled]
    assert [(entry.name, entry.weight) for entry in found] == expected, sentence


def test_merged_entries_know_where_they_stand() -> None:
    found = merged(DEFAULTS, plugin_set("X B:2"), "multiPoint")
    assert [entry.path for entry in found] == [
        "default",
        "multiPoint.enabled[1].name",
        "default",
        "multiPoint.enabled[0].name",
    ]


@pytest.mark.parametrize(
    ("sentence", "explicit", "multi", "disabled", "result"),
    [
        ("multiPoint brings what takes part in the point", "", "A n B", "", "A B"),
        ("* at the point keeps multiPoint away", "X", "A B", "*", "X"),
        ("a plugin disabled at the point is not brought", "", "A B", "A", "B"),
        ("what is written at the point only comes last", "X Y", "A B", "", "A B X Y"),
        ("what is in both comes first", "B", "A B C", "", "B A C"),
        ("overrides keep the order written at the point", "C X A", "A B C", "", "C A B X"),
        ("disabled and written at once is no override", "A", "A B", "A", "B A"),
        ("disabled, written and an override together", "A C", "A B C", "A", "C B A"),
        ("nothing at all", "", "", "", ""),
    ],
)
def test_a_point_is_expanded(sentence: str, explicit: str, multi: str, disabled: str, result: str) -> None:
    found = expanded(explicit.split(), multi.split(), frozenset(disabled.split()), str.isupper)
    assert found == tuple(result.split()), sentence


def test_weights_come_from_score_then_multi_point_and_zero_is_one() -> None:
    at_score = [Listed("A", 5, ""), Listed("Z", 0, "")]
    at_multi_point = [Listed("A", 2, ""), Listed("B", 3, ""), Listed("C", None, ""), Listed("n", 9, "")]
    assert score_weights([*at_score, *at_multi_point], str.isupper) == {"A": 5, "Z": 1, "B": 3, "C": 1}

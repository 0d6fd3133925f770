"""Changes make the new view of the old one, as the page applies them; numbers of texts last."""

from __future__ import annotations

import copy
from typing import Any

from hypothesis import given
from hypothesis import strategies as st

from bayplan.app.ui.changes import SPARE, Numbering, changes

columns = st.lists(st.integers(0, 3), max_size=30)
views = st.fixed_dictionaries(
    {
        "facts": st.lists(st.text(max_size=2), max_size=3),
        "timeline": st.none() | st.fixed_dictionaries({"at": columns}),
        "clusters": st.lists(
            st.fixed_dictionaries({"pods": st.fixed_dictionaries({"node": columns, "state": columns})}), max_size=2
        ),
    }
)


def applied(document: dict[str, Any], found: list[dict[str, Any]]) -> dict[str, Any]:
    """As ``applyChange`` of the page does."""
    made = copy.deepcopy(document)
    for change in found:
        holder: Any = made
        for key in change["path"][:-1]:
            holder = holder[key]
        last = change["path"][-1]
        if "rows" not in change:
            holder[last] = change["value"]
            continue
        column = holder[last]
        del column[change.get("length", len(column)) :]
        for row, value in zip(change["rows"], change["values"], strict=True):
            column[row : row + 1] = [value]
    return made


@given(views, views)
def test_changes_make_the_new_view_of_the_old_one(old: dict[str, Any], new: dict[str, Any]) -> None:
    assert applied(old, changes(old, new)) == new


def test_a_bind_among_many_pods_is_a_few_numbers() -> None:
    old = {"pods": {"node": [-1] * 1000, "state": [1] * 1000}}
    new = copy.deepcopy(old)
    new["pods"]["node"][7], new["pods"]["state"][7] = 3, 2
    assert changes(old, new) == [
        {"path": ["pods", "node"], "rows": [7], "values": [3]},
        {"path": ["pods", "state"], "rows": [7], "values": [2]},
    ]


def cluster(*messages: str) -> dict[str, Any]:
    strings = ["", *dict.fromkeys(messages)]
    empty = [0] * len(messages)
    names = ("namespace", "owner", "state", "scheduler")
    return {
        "strings": strings,
        "requestSets": [{"cpu": 1}],
        "pods": {
            "message": [strings.index(each) for each in messages],
            "requests": empty,
            **dict.fromkeys(names, empty),
        },
        "nodes": {"labels": {"zone": [0]}, "state": [0], "taints": [0], "kind": [0]},
    }


def messages(made: dict[str, Any]) -> list[str]:
    return [made["strings"][number] for number in made["pods"]["message"]]


def test_texts_keep_their_numbers_when_others_go() -> None:
    numbering = Numbering()
    before = numbering.renumber(cluster("no cpu", "no memory", "no disk"))
    after = numbering.renumber(cluster("", "no memory", "no disk"))
    assert before["pods"]["message"][1:] == after["pods"]["message"][1:]
    assert messages(after) == ["", "no memory", "no disk"]


def test_texts_that_are_out_of_use_do_not_pile_up() -> None:
    numbering = Numbering()
    for number in range(5 * SPARE):
        made = numbering.renumber(cluster(f"message {number}"))
        assert messages(made) == [f"message {number}"]
        assert len(made["strings"]) <= SPARE + 10

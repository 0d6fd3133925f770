"""What a recording keeps of a change: a merge patch, from which the new version can be made again."""

from __future__ import annotations

from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from bayplan.simulator.replay.merge_patch import difference, merged

Document = dict[str, Any]


@pytest.mark.parametrize(
    ("old", "new", "patch"),
    [
        ({"a": 1}, {"a": 1}, {}),
        ({"spec": {"x": 1}}, {"spec": {"x": 1, "nodeName": "n"}}, {"spec": {"nodeName": "n"}}),
        ({"a": 1, "b": 2}, {"b": 2}, {"a": None}),
        ({"a": [1, 2]}, {"a": [1, 3]}, {"a": [1, 3]}),
        ({"a": {"b": 1}}, {"a": 2}, {"a": 2}),
        ({"a": 2}, {"a": {"b": 1}}, {"a": {"b": 1}}),
        ({}, {"a": {}}, {"a": {}}),
        ({"a": 0}, {"a": False}, {}),
    ],
)
def test_a_patch_has_what_changed_and_no_more(old: Document, new: Document, patch: Document) -> None:
    assert difference(old, new) == patch
    assert merged(old, patch) == new


values = st.recursive(
    st.booleans() | st.integers(0, 3) | st.text("ab", max_size=2),
    lambda inner: st.lists(inner, max_size=2) | st.dictionaries(st.sampled_from("abc"), inner, max_size=3),
    max_leaves=6,
)
documents = st.dictionaries(st.sampled_from("abc"), values, max_size=3)


@given(documents, documents)
def test_the_patch_gives_the_new_version_whatever_changed(old: Document, new: Document) -> None:
    before = repr(old)
    assert merged(old, difference(old, new)) == new
    assert repr(old) == before

"""A snapshot as one List that says what it is without."""

from __future__ import annotations

from bayplan.app.snapshot.live_cluster import LiveCluster, as_list

POD = {"apiVersion": "v1", "kind": "Pod", "metadata": {"name": "web"}}


def test_the_list_names_the_annotations_it_is_without() -> None:
    made = as_list(LiveCluster([POD], "default", ("a.example/x", "note")))

    assert made["metadata"] == {"annotations": {"bayplan.io/annotations-left-out": "a.example/x, note"}}
    assert made["items"] == [POD]


def test_a_list_that_is_without_none_says_nothing() -> None:
    assert as_list(LiveCluster([POD], "default")) == {"apiVersion": "v1", "kind": "List", "items": [POD]}

"""Which whole objects are kept for extenders, and what is left out of them."""

from __future__ import annotations

import json
from typing import Any

import pytest

from bayplan.kube.originals import Originals
from bayplan.testing import node, pod

NODE = node("n1").build()
WAITING = pod("a").uid("u1").build()
PLACED = pod("a").uid("u1").on("n1").build()


def raw(**metadata: Any) -> bytes:
    document = {"kind": "Pod", "apiVersion": "v1", "metadata": metadata, "spec": {"z": [1.50, "\u00e9"], "a": None}}
    return json.dumps(document).encode()


def test_type_and_managed_fields_are_left_out_and_nothing_else() -> None:
    kept = Originals()
    kept.keep(WAITING, raw(name="a", managedFields=[{"manager": "m"}], annotations={"k": "v"}))
    assert json.loads(kept.pod(WAITING)) == {
        "metadata": {"name": "a", "annotations": {"k": "v"}},
        "spec": {"z": [1.50, "\u00e9"], "a": None},
    }


def test_a_pod_is_kept_until_it_has_a_node_unless_placed_pods_are_wanted() -> None:
    for wanted in (False, True):
        kept = Originals(placed_pods=wanted)
        kept.keep(WAITING, raw(name="a"))
        kept.keep(PLACED, raw(name="a", annotations={}))
        assert ("annotations" in json.loads(kept.pod(PLACED))["metadata"]) is wanted


def test_nodes_are_kept_only_if_they_are_wanted() -> None:
    for wanted in (False, True):
        kept = Originals(nodes=wanted)
        kept.keep(NODE, raw(name="n1", labels={"a": "b"}))
        assert ("labels" in json.loads(kept.node("n1"))["metadata"]) is wanted


@pytest.mark.parametrize("thing", [WAITING, NODE], ids=["pod", "node"])
def test_what_is_gone_is_written_anew_from_what_is_known(thing: Any) -> None:
    kept = Originals(nodes=True)
    kept.keep(thing, raw(name=thing.name, annotations={"k": "v"}))
    kept.drop(thing)
    written = json.loads(kept.node("n1") if thing is NODE else kept.pod(thing))
    assert written["metadata"]["name"] == thing.name
    assert "annotations" not in written["metadata"]

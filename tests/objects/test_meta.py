"""Names and owners."""

from __future__ import annotations

from bayplan.objects.meta import ObjectMeta, OwnerReference
from tests.objects.making import make_node, make_pod


def test_the_controller_is_the_owner_that_says_so() -> None:
    plain, boss = OwnerReference(kind="A", name="a"), OwnerReference(kind="B", name="b", controller=True)
    assert ObjectMeta(owner_references=(plain, boss)).controller == boss
    assert ObjectMeta(owner_references=(plain,)).controller is None
    assert ObjectMeta().controller is None


def test_keys_hold_the_namespace_where_there_is_one() -> None:
    assert make_pod(name="web", namespace="shop").key == "shop/web"
    assert make_node("n1").key == "n1"


def test_labels_and_annotations_are_never_none() -> None:
    node = make_node("n1")
    assert dict(node.labels) == {}
    assert dict(node.annotations) == {}

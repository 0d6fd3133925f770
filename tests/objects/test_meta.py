"""Names, owners and times."""

from __future__ import annotations

import pytest

from bayplan.objects.meta import ObjectMeta, OwnerReference, parse_time
from tests.objects.making import make_node, make_pod


@pytest.mark.parametrize(
    ("text", "seconds"),
    [
        (None, None),
        ("", None),
        ("1970-01-01T00:00:00Z", 0.0),
        ("2026-01-31T10:00:00Z", 1769853600.0),
        ("2026-01-31T10:00:00.25Z", 1769853600.25),
        ("2026-01-31T12:00:00+02:00", 1769853600.0),
        ("2026-01-31T10:00:00.123456789Z", 1769853600.123456),
    ],
)
def test_wire_times_become_epoch_seconds(text: str | None, seconds: float | None) -> None:
    assert parse_time(text) == seconds


@pytest.mark.parametrize(
    "text", ["yesterday", "2026-01-31", "2026-01-31T10:00:00", "2026-13-01T00:00:00Z", "1769853600"]
)
def test_other_times_are_refused_with_an_example(text: str) -> None:
    with pytest.raises(ValueError, match="write it like 2026-01-31T10:00:00Z"):
        parse_time(text)


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

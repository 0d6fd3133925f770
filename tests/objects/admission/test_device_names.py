from __future__ import annotations

import pytest

from bayplan.objects.admission import device_names


@pytest.mark.parametrize(
    ("name", "is_right"),
    [("gpu.example.com", True), ("GPU.example.com", True), ("", False), ("a b", False), ("x" * 64, False)],
)
def test_drivers(name: str, is_right: bool) -> None:
    assert (not [*device_names.driver("f", name)]) is is_right


@pytest.mark.parametrize(
    ("name", "is_right"), [("n1", True), ("rack/n1", True), ("", False), ("a//b", False), ("x" * 254, False)]
)
def test_pools(name: str, is_right: bool) -> None:
    assert (not [*device_names.pool("f", name)]) is is_right


@pytest.mark.parametrize(
    ("name", "is_right", "is_full"),
    [
        ("model", True, False),
        ("example.com/model", True, True),
        ("_x1", True, False),
        ("1x", False, False),
        ("a-b", False, False),
        ("x" * 33, False, False),
        ("/model", False, False),
        ("example.com/", False, False),
    ],
)
def test_attributes(name: str, is_right: bool, is_full: bool) -> None:
    assert (not [*device_names.attribute("f", name)]) is is_right
    assert (not [*device_names.attribute("f", name, with_domain=True)]) is is_full


def test_references_are_to_requests_of_the_claim() -> None:
    assert [*device_names.requests("f", ("a", "b/c"), ["a", "b", "b/c"])] == []
    assert len([*device_names.requests("f", ("a", "a"), ["a"])]) == 1
    (wrong,) = device_names.requests("f", ("x",), [])
    assert str(wrong) == 'f: there is no request "x" in this claim; write one of: none'

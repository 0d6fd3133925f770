"""What can be read of an object that makes no sense, and which of two versions is older."""

from __future__ import annotations

import msgspec
import pytest

from bayplan.kube.wire import Meta, is_older, named


@pytest.mark.parametrize(
    ("version", "than", "older"),
    [
        ("9", "10", True),
        ("10", "9", False),
        ("10", "10", False),
        ("", "10", True),
        ("10", "", False),
        ("x", "10", False),
    ],
)
def test_versions_are_compared_as_numbers_and_nothing_is_older_than_anything(
    version: str, than: str, older: bool
) -> None:
    assert is_older(version, than) is older


def test_an_object_is_named_as_far_as_it_can_be_read() -> None:
    raw = msgspec.Raw(b'{"metadata": {"name": "a", "namespace": "b", "uid": "u", "resourceVersion": "7", "labels": 5}}')
    assert named(raw) == Meta("b", "a", "u", "7")
    assert named(msgspec.Raw(b"{}")) == Meta()
    assert named(msgspec.Raw(b'{"metadata": {"name": 5}}')).name == '{"metadata": {"name": 5}}'
    assert len(named(msgspec.Raw(b'{"metadata": [' + b"1," * 100 + b"1]}")).name) == 80

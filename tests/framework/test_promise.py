"""A promise says no more than it is told to."""

from __future__ import annotations

import pytest

from bayplan.framework import Depends, Promise


def test_what_is_not_given_is_not_promised() -> None:
    promise = Promise(key=())
    assert (promise.filter, promise.score) == (Depends.ANYTHING, Depends.ANYTHING)
    assert promise.reserves


def test_what_is_read_must_be_said() -> None:
    with pytest.raises(TypeError, match="key"):
        Promise(filter=Depends.OBJECT)  # type: ignore[call-arg]  # the point of the test


def test_promises_are_the_same_that_say_the_same() -> None:
    assert Promise(key=(1,), filter=Depends.ROW) == Promise(key=(1,), filter=Depends.ROW)
    assert Promise(key=(1,), filter=Depends.ROW) != Promise(key=(1,), filter=Depends.OBJECT)


def test_who_imports_what_was_there_before_is_told_what_to_write() -> None:
    with pytest.raises(ImportError, match=r"write def promise\(self, template\) in place of signature"):
        from bayplan.framework import UNSIGNED  # type: ignore[attr-defined]  # noqa: F401  # it is gone

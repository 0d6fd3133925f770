"""Other objects by kind, namespace and name."""

from __future__ import annotations

import pytest

from bayplan.engine import journal
from bayplan.engine.store import Store


def test_objects_are_found_by_kind_namespace_and_name() -> None:
    store = Store()
    store.put("Service", "a", "web", "web of a")
    store.put("Service", "b", "web", "web of b")
    store.put("Namespace", "", "a", "a itself")
    assert store.get("Service", "a", "web") == "web of a"
    assert store.get("Service", "c", "web") is None
    assert store.get("Secret", "a", "web") is None
    assert list(store.list("Service")) == ["web of a", "web of b"]
    assert list(store.list("Service", "b")) == ["web of b"]
    assert list(store.list("Secret")) == []


def test_an_object_that_is_gone_is_not_found_and_dropping_it_again_is_no_error() -> None:
    store = Store()
    store.put("Service", "a", "web", "web of a")
    store.drop("Service", "a", "web")
    store.drop("Service", "a", "web")
    assert store.get("Service", "a", "web") is None
    assert list(store.list("Service", "a")) == []


def test_each_change_of_a_kind_moves_that_kinds_generation() -> None:
    store = Store()
    seen = [store.generation("Service")]
    for change in (
        lambda: store.put("Service", "a", "web", 1),
        lambda: store.put("Service", "a", "web", 2),
        lambda: store.drop("Service", "a", "web"),
    ):
        change()
        seen.append(store.generation("Service"))
    assert sorted(set(seen)) == seen
    assert store.generation("Namespace") == 0
    version = store.version
    store.put("Namespace", "", "a", 1)
    assert store.version > version
    assert store.generation("Service") == seen[-1]


def test_a_reader_learns_what_changed_since_it_last_looked() -> None:
    store = Store()
    store.put("Service", "a", "web", 1)
    seen = store.generation("Service")
    assert store.changes("Service", seen) == []
    store.put("Service", "a", "db", 1)
    store.put("Namespace", "", "a", 1)
    store.drop("Service", "a", "web")
    assert store.changes("Service", seen) == [("a", "db"), ("a", "web")]
    assert store.changes("Service", 0) == [("a", "web"), ("a", "db"), ("a", "web")]
    assert store.changes("Secret", 0) == []


def test_a_reader_who_fell_too_far_behind_is_told_to_read_it_all(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(journal, "MAX_CHANGES", 4)
    store = Store()
    for number in range(6):
        store.put("Service", "a", f"web-{number}", number)
    assert store.changes("Service", 0) is None
    assert store.changes("Service", 4) == [("a", "web-4"), ("a", "web-5")]

"""A bounded cache drops what was not used for longest."""

from __future__ import annotations

from hypothesis import given
from hypothesis import strategies as st

from bayplan.bounded_cache import BoundedCache


def test_the_entry_that_was_not_used_for_longest_goes_first() -> None:
    cache: BoundedCache[str, int] = BoundedCache(2)
    cache["a"], cache["b"] = 1, 2
    assert cache.get("a") == 1
    cache["c"] = 3
    assert (cache.get("a"), cache.get("b"), cache.get("c")) == (1, None, 3)


def test_an_entry_written_again_counts_as_used() -> None:
    cache: BoundedCache[str, int] = BoundedCache(2)
    cache["a"], cache["b"] = 1, 2
    cache["a"] = 10
    cache["c"] = 3
    assert list(cache.values()) == [10, 3]


def test_asking_whether_it_is_there_and_reading_all_is_not_using() -> None:
    cache: BoundedCache[str, int] = BoundedCache(2)
    cache["a"], cache["b"] = 1, 2
    assert "a" in cache
    assert list(cache.values()) == [1, 2]
    cache["c"] = 3
    assert "a" not in cache


def test_what_is_dropped_is_told_and_what_is_cleared_is_not() -> None:
    dropped: list[int] = []
    cache: BoundedCache[str, int] = BoundedCache(2, dropped=dropped.append)
    for number, key in enumerate("abcd"):
        cache[key] = number
    cache.clear()
    assert dropped == [0, 1]
    assert len(cache) == 0


def test_a_lower_limit_holds_from_the_next_entry_on() -> None:
    dropped: list[int] = []
    cache: BoundedCache[int, int] = BoundedCache(10, dropped=dropped.append)
    for number in range(10):
        cache[number] = number
    cache.limit = 3
    assert len(cache) == 10
    cache[10] = 10
    assert list(cache.values()) == [8, 9, 10]
    assert dropped == list(range(8))


def test_none_is_a_value_like_others() -> None:
    cache: BoundedCache[str, int | None] = BoundedCache(1)
    cache["a"] = None
    assert "a" in cache
    assert cache["a"] is None


@given(st.lists(st.tuples(st.booleans(), st.integers(0, 8))), st.integers(1, 6))
def test_it_holds_exactly_the_keys_used_last(steps: list[tuple[bool, int]], limit: int) -> None:
    cache: BoundedCache[int, int] = BoundedCache(limit)
    used: list[int] = []  # the model: keys in the order of their last use
    for is_write, key in steps:
        if is_write:
            cache[key] = key
        elif cache.get(key) is None:
            continue
        used = [*(each for each in used if each != key), key][-limit:]
    assert list(cache.values()) == used


def test_the_entry_used_last_is_the_newest_one_under_its_key() -> None:
    cache: BoundedCache[str, int] = BoundedCache(2)
    key = "a"
    cache[key] = 1
    assert cache.get(key) == 1
    cache[key] = 2
    assert cache.get(key) == 2
    cache.clear()
    assert cache.get(key) is None


def test_asking_again_for_the_entry_used_last_keeps_it() -> None:
    cache: BoundedCache[str, int] = BoundedCache(2)
    cache["a"], cache["b"] = 1, 2
    assert cache.get("a") == cache.get("a") == 1
    cache["c"] = 3
    assert "b" not in cache
    assert cache.get("a") == 1

"""LazyHeap: order, ties, removal from the middle, and that dead entries do not pile up."""

from __future__ import annotations

from bayplan.engine.queue.lazy_heap import LazyHeap
from bayplan.framework.plugin import QueuedPod
from tests.engine.queue.support import a_pod


def filled(*pairs: tuple[int, str]) -> LazyHeap:
    """By their timestamps."""
    heap = LazyHeap(lambda queued: queued.timestamp)
    for key, name in pairs:
        heap.add(QueuedPod(a_pod(name), key))
    return heap


def rekey(heap: LazyHeap, key: int, queued: QueuedPod) -> None:
    queued.timestamp = key
    heap.refresh(queued)


def drained(heap: LazyHeap) -> list[str]:
    names = []
    while (queued := heap.pop()) is not None:
        names.append(queued.pod.name)
    return names


def test_the_smallest_key_comes_out_first() -> None:
    assert drained(filled((3, "c"), (1, "a"), (2, "b"))) == ["a", "b", "c"]


def test_equal_keys_come_out_in_the_order_they_came_in() -> None:
    assert drained(filled((1, "z"), (1, "y"), (0, "first"), (1, "x"))) == ["first", "z", "y", "x"]


def test_a_removed_pod_does_not_come_out() -> None:
    heap = filled((1, "a"), (2, "b"), (3, "c"))
    removed = heap.remove("uid-b")
    assert removed is not None
    assert removed.pod.name == "b"
    assert heap.remove("uid-b") is None
    assert len(heap) == 2
    assert "uid-b" not in heap
    assert drained(heap) == ["a", "c"]


def test_a_pod_pushed_again_is_there_once_under_its_new_key() -> None:
    heap = filled((1, "a"), (2, "b"))
    heap.add(QueuedPod(a_pod("a"), 3))
    assert len(heap) == 2
    assert drained(heap) == ["b", "a"]


def test_a_new_key_moves_a_pod_and_keeps_its_place_among_equals() -> None:
    heap = filled((1, "a"), (2, "b"), (1, "c"))
    queued = heap.get("uid-a")
    assert queued is not None
    for key in (5, 1):
        rekey(heap, key, queued)
    assert drained(heap) == ["a", "c", "b"]


def test_first_key_looks_past_removed_pods() -> None:
    heap = filled((1, "a"), (2, "b"))
    assert heap.first_key() == 1
    heap.remove("uid-a")
    assert heap.first_key() == 2
    heap.remove("uid-b")
    assert heap.first_key() is None
    assert heap.pop() is None


def test_those_that_are_due_come_out_in_order_and_the_others_stay() -> None:
    heap = filled((3, "c"), (1, "a"), (2, "b"), (4, "d"))
    heap.remove("uid-b")
    assert [queued.pod.name for queued in heap.pop_while(lambda key: key < 4)] == ["a", "c"]
    assert [queued.pod.name for queued in heap] == ["d"]


def test_iteration_follows_the_order_of_popping_and_takes_nothing_out() -> None:
    heap = filled((2, "b"), (1, "a"), (2, "c"))
    assert [queued.pod.name for queued in heap] == ["a", "b", "c"]
    assert len(heap) == 3


def test_dead_entries_are_thrown_away_before_they_outgrow_the_living() -> None:
    heap = filled(*((number, f"pod-{number}") for number in range(1000)))
    for number in range(1000):
        heap.remove(f"uid-pod-{number}")
    assert len(heap._heap) <= 64
    queued = QueuedPod(a_pod("restless"), 0.0)
    heap.add(queued)
    for key in range(1000):
        rekey(heap, key, queued)
    assert len(heap._heap) <= 66
    assert drained(heap) == ["restless"]

"""Other orders: the states in which a scheduler may have decided a pod whose bind was seen later."""

from __future__ import annotations

from bayplan.controllers.shadow.event_order import Dated
from bayplan.controllers.shadow.orders import Arrival, Order, distinct, is_bind, matters, orders
from bayplan.engine.events import Event, NodeAdded, NodeChanged, NodeDeleted, PodAdded, PodChanged, PodDeleted
from bayplan.testing import cluster, node, pod
from tests.controllers.shadow.support import bound

X = pod("x").uid("x").build()
A, B = pod("a").uid("a"), pod("b").uid("b")


def dated(*events: Event) -> list[Dated]:
    return [Dated(float(number), event) for number, event in enumerate(events)]


def came(**numbers: int) -> dict[str, Arrival]:
    return {uid: Arrival(number, number - 10.0) for uid, number in numbers.items()}


def test_the_queue_goes_by_priority_and_then_by_arrival() -> None:
    earlier, later = bound(A, "n1"), bound(B, "n2")
    first = next(orders(X, "n1", "n2", dated(earlier), dated(later), came(x=2, a=3, b=1)))
    assert first == Order((earlier,), (later,))
    first = next(orders(X, "n1", "n2", dated(earlier), dated(later), came(x=2, a=1, b=3)))
    assert first == Order()
    important = bound(B.priority(5), "n2")
    first = next(orders(X, "n1", "n2", [], dated(important), came(x=2, b=3)))
    assert first == Order((), (important,))


def test_each_state_is_tried_once_and_never_the_visible_one() -> None:
    bind, gone = bound(A, "n1"), PodDeleted(pod("gone").on("n1").build())
    tried = list(distinct(orders(X, "n1", "n2", dated(gone, bind), dated(bound(B, "n2")), came(b=1))))
    keys = {(frozenset(map(id, each.undone)), frozenset(map(id, each.ahead))) for each in tried}
    assert len(keys) == len(tried)
    assert Order() not in tried
    assert Order((bind,)) in tried
    assert Order((gone,)) in tried
    assert Order((bind, gone)) in tried
    assert any(each.ahead and each.undone == (bind,) for each in tried)


def test_what_was_bound_before_the_pod_came_had_been_decided_before() -> None:
    bind, gone = Dated(100.0, bound(A, "n1")), Dated(100.5, PodDeleted(pod("gone").on("n1").build()))
    late = {"x": Arrival(5, 101.0)}
    assert list(distinct(orders(X, "n1", "n2", [bind, gone], [], late))) == [Order((gone.event,))]
    assert list(distinct(orders(X, "n1", "n2", [bind, gone], [], {"x": Arrival(5, 110.0)}))) == []


def test_pods_that_came_after_the_bind_were_not_decided_before_it() -> None:
    assert list(distinct(orders(X, "n1", "n2", [], dated(bound(B, "n2")), {}))) == []


def test_what_no_scheduler_reads_is_not_taken_back() -> None:
    quiet = [
        PodAdded(X),
        PodChanged(A.on("n1").build(), A.on("n1").phase("Running").build()),
        NodeChanged(node("n1").build(), node("n1").build()),
    ]
    assert [event for event in quiet if matters(event)] == []
    loud = [
        bound(A, "n1"),
        PodAdded(A.on("n1").build()),
        PodDeleted(A.on("n1").build()),
        PodChanged(A.on("n1").build(), A.on("n1").terminating().build()),
        NodeAdded(node("n1").build()),
        NodeChanged(node("n1").build(), node("n1").cordoned().build()),
        NodeDeleted(node("n1").build()),
    ]
    assert [event for event in loud if not matters(event)] == []


def test_an_order_is_applied_to_an_imagined_cluster() -> None:
    small, large = node("n1").cpu(2).build(), node("n1").cpu(4).build()
    cache = cluster([large, node("new")], [A.on("n1"), pod("named").on("n1")])
    order = Order(
        (
            bound(A, "n1"),
            PodAdded(pod("named").on("n1").build()),
            PodDeleted(pod("gone").on("n1").build()),
            NodeChanged(small, large),
            NodeAdded(node("new").build()),
            NodeDeleted(node("old").build()),
        ),
        (bound(B, "n1"),),
    )
    order.apply(cache)
    assert sorted(each.name for each in cache.pods()) == ["b", "gone"]
    assert sorted(cache.nodes.names) == ["n1", "old"]
    assert cache.nodes.objects[cache.nodes.row_of("n1") or 0] == small


def test_an_order_says_what_it_is() -> None:
    order = Order((bound(A, "n1"), NodeAdded(node("n9").build())), (bound(B, "n1"),))
    assert str(order) == "decided before the bind of default/a, n9 came and after the bind of default/b"
    many = Order(tuple(bound(pod(f"p{number}"), "n1") for number in range(5)))
    assert str(many) == "decided before the bind of default/p0, the bind of default/p1 and 3 more"


def test_a_bind_is_a_waiting_pod_that_has_a_node_now() -> None:
    assert is_bind(bound(A, "n1"))
    assert not is_bind(PodAdded(A.on("n1").build()))
    assert not is_bind(PodChanged(A.build(), A.priority(3).build()))
    assert not is_bind(PodChanged(A.on("n1").build(), A.on("n1").build()))
    assert not is_bind(PodChanged(A.build(), pod("a").uid("other").on("n1").build()))

from __future__ import annotations

from bayplan.engine.pod_indexes import PodIndexes
from bayplan.testing import pod

CLAIM = ("claim", "default", "data")
DB = pod("db").on("a").port(80).claim("data").claim("data").owned_by("StatefulSet", "db").build()
OWNER = ("StatefulSet", "default", "db")


def test_pods_are_found_by_port_storage_and_owner_while_they_are_there() -> None:
    indexes = PodIndexes()
    indexes.move(DB, "a", 1)
    assert list(indexes.port_users("TCP", 80)) == [("a", "0.0.0.0")]
    assert list(indexes.storage_users(CLAIM)) == [DB]
    assert indexes.owned(OWNER, lambda: [DB]) == {DB.uid: DB}
    indexes.move(DB, "a", -1)
    assert not list(indexes.port_users("TCP", 80))
    assert not list(indexes.storage_users(CLAIM))
    assert not indexes.owned(OWNER, lambda: [DB])


def test_all_pods_are_read_for_their_owners_once() -> None:
    indexes = PodIndexes()
    assert not indexes.owned(OWNER, list)
    indexes.put_owned([DB])
    assert indexes.owned(OWNER, list) == {DB.uid: DB}


def test_two_uses_of_a_port_are_two() -> None:
    indexes = PodIndexes()
    first, second = (pod(name).on("a").port(80).build() for name in ("p", "q"))
    indexes.move(first, "a", 1)
    indexes.move(second, "a", 1)
    indexes.move(first, "a", -1)
    assert len(list(indexes.port_users("TCP", 80))) == 1
    indexes.move(second, "a", -1)
    assert not list(indexes.port_users("TCP", 80))


def test_a_fork_goes_its_own_way() -> None:
    indexes = PodIndexes()
    indexes.owned(OWNER, list)
    indexes.move(DB, "a", 1)
    fork = indexes.fork()
    fork.move(DB, "a", -1)
    assert not fork.owned(OWNER, list)
    assert list(indexes.storage_users(CLAIM)) == [DB]
    assert indexes.owned(OWNER, list)

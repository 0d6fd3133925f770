"""What is kept of objects moves with them, however far behind its keeper is."""

from __future__ import annotations

from random import Random

import pytest

from bayplan.engine import journal
from bayplan.engine.store import Store
from bayplan.objects.volume import PersistentVolume
from bayplan.plugins.object_index import Index
from tests.plugins.storage import volume


def put(objects: Store, name: str, of: str) -> None:
    objects.put("PersistentVolume", "", name, volume(name, of=of))


def index(objects: Store) -> Index[PersistentVolume]:
    return Index(objects, "PersistentVolume", lambda each: each.storage_class)


def names(kept: Index[PersistentVolume], of: str) -> set[str]:
    return {each.name for each in kept.at(of)}


def test_objects_are_found_as_they_come_change_and_go() -> None:
    objects = Store()
    put(objects, "a", "x")
    kept = index(objects)
    assert names(kept, "x") == {"a"}
    put(objects, "b", "x")
    assert names(kept, "x") == {"a", "b"}
    put(objects, "a", "y")
    assert (names(kept, "x"), names(kept, "y")) == ({"b"}, {"a"})
    objects.drop("PersistentVolume", "", "b")
    assert names(kept, "x") == set()


@pytest.mark.parametrize("seed", range(10))
def test_a_keeper_that_looks_seldom_sees_the_same(seed: int, monkeypatch: pytest.MonkeyPatch) -> None:
    """With a journal so short that it often has to start over."""
    monkeypatch.setattr(journal, "MAX_CHANGES", 6)
    rng, objects = Random(seed), Store()
    kept = index(objects)
    for _ in range(40):
        for _ in range(rng.randrange(10)):
            name = rng.choice("abcde")
            if rng.random() < 0.3:
                objects.drop("PersistentVolume", "", name)
            else:
                put(objects, name, rng.choice("xyz"))
        now = list(objects.list("PersistentVolume"))
        for of in "xyz":
            assert names(kept, of) == {each.name for each in now if each.storage_class == of}

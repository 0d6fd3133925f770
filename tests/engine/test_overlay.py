from __future__ import annotations

from random import Random

import pytest

from bayplan.engine.overlay import Groups, Overlay


@pytest.mark.parametrize("seed", range(20))
def test_an_overlay_is_a_dictionary_that_leaves_the_one_below_alone(seed: int) -> None:
    rng = Random(seed)
    base = {number: f"base {number}" for number in range(5)}
    before, expected = dict(base), dict(base)
    layers = [Overlay(base)]
    for step in range(60):
        if step == 30:
            layers.append(Overlay(layers[-1]))
        overlay, key = layers[-1], rng.randrange(8)
        if rng.random() < 0.5:
            overlay[key] = expected[key] = f"step {step}"
        elif key in expected:
            del overlay[key], expected[key]
        else:
            with pytest.raises(KeyError):
                del overlay[key]
        assert dict(overlay) == expected
        assert len(overlay) == len(expected)
        assert (key in overlay, overlay.get(key)) == (key in expected, expected.get(key))
    assert base == before


@pytest.mark.parametrize("seed", range(20))
def test_groups_of_a_fork_are_its_own(seed: int) -> None:
    rng = Random(seed)
    groups: Groups[str, int, str] = Groups()
    expected: dict[str, dict[int, str]] = {key: {} for key in "abc"}
    below = []
    for step in range(90):
        if step in (30, 60):
            below.append((groups, {key: dict(members) for key, members in expected.items()}))
            groups = groups.fork()
        key, member = rng.choice("abc"), rng.randrange(4)
        if rng.random() < 0.5:
            groups.put(key, member, f"step {step}")
            expected[key][member] = f"step {step}"
        else:
            groups.drop(key, member)
            expected[key].pop(member, None)
        assert {each: dict(groups.of(each)) for each in "abc"} == expected
    for base, then in below:
        assert {each: dict(base.of(each)) for each in "abc"} == then


def test_groups_without_members_take_no_room() -> None:
    groups: Groups[str, int, str] = Groups()
    groups.put("a", 1, "x")
    groups.drop("a", 1)
    groups.drop("b", 1)
    assert not groups._groups

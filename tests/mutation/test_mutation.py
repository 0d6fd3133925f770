"""A few of the mutated inputs on every run; ``make mutate COUNT=200000`` tries many."""

from __future__ import annotations

from pathlib import Path

import pytest

from tests.mutation import seeds
from tests.mutation.running import run
from tests.mutation.trying import attempt, case


def test_a_number_stands_for_the_same_case_every_time() -> None:
    assert [case(number) for number in range(20)] == [case(number) for number in range(20)]


def test_every_kind_of_device_and_every_command_that_reads_files_is_among_them() -> None:
    made = [case(number) for number in range(1500)]
    assert {each.command[0] for each in made} >= {"simulate", "explain", "place", "rebalancer", "bench", "sticky"}
    for kind in ("ResourceClaim", "ResourceClaimTemplate", "ResourceSlice", "DeviceClass", "DeviceTaintRule"):
        assert any(kind in each.files["FILE"] for each in made), kind


@pytest.mark.parametrize("first", range(0, 300, 50))
def test_mutated_inputs_are_answered_or_refused(first: int, tmp_path: Path) -> None:
    assert [found for number in range(first, first + 50) if (found := attempt(number, tmp_path)) is not None] == []


def test_what_goes_wrong_is_found(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    def broken(*_: object, **__: object) -> None:
        raise ZeroDivisionError("broken")

    seeds.fixed()  # before nothing can be read any more
    monkeypatch.setattr("bayplan.objects.files.manifests.read", broken)
    found = attempt(3, tmp_path)
    assert found is not None
    assert "should not have happened: ZeroDivisionError" in found.what


def test_workers_try_all_of_them() -> None:
    told: list[int] = []
    assert run(1000, 500, 1, lambda done, found: told.append(done)) == []
    assert told == [500]

"""Bayplan decides as kube-scheduler v1.36 does: on recorded cases anywhere, on fresh clusters where the programs are.

More of it by hand: ``python -m tests.parity --seeds 0:500``, with storage ``--seeds 10000:10200``, and with devices
``--seeds 30000:30300``.
"""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from tests.parity.case import Case, read_case
from tests.parity.comparing import compare, gave_up, write_mismatch
from tests.parity.generating import generate
from tests.parity.generating.device_style import FIRST_DEVICE_SEED
from tests.parity.generating.style import FIRST_STORAGE_SEED, STORAGE_STYLES, STYLES
from tests.parity.oracle import Oracle
from tests.parity.replaying import Follower, judge

FRESH_STORAGE = range(FIRST_STORAGE_SEED + 1000, FIRST_STORAGE_SEED + 1000 + len(STORAGE_STYLES))
FRESH_DEVICES = range(FIRST_DEVICE_SEED + 1000, FIRST_DEVICE_SEED + 1003)
RECORDED = sorted((Path(__file__).parent / "recorded").glob("*.json.gz"))


def told(case: Case, folder: Path, asked: Callable[[Case], dict[str, Any]]) -> str:
    """The differences with the path of a manifest to look into; empty if there are none."""
    differences = [] if gave_up(case) else compare(case, asked(case))
    if not differences:
        return ""
    return "\n".join([f"{case.name}, see {write_mismatch(case, differences, folder)}", *differences])


def test_there_are_recorded_cases() -> None:
    assert len(RECORDED) > 100


@pytest.mark.parametrize("path", RECORDED, ids=lambda path: path.name.removesuffix(".json.gz"))
def test_recorded_decision_is_bayplans_decision(path: Path, tmp_path: Path) -> None:
    case = read_case(path)
    assert told(case, tmp_path, judge(case)) == ""


@pytest.mark.kube
@pytest.mark.slow
@pytest.mark.parametrize("seed", [*range(1000, 1000 + len(STYLES)), *FRESH_STORAGE, *FRESH_DEVICES])
def test_fresh_decisions_are_bayplans_decisions(seed: int, oracle: Oracle, tmp_path: Path) -> None:
    cases = oracle.record(generate(seed))
    follower = Follower()
    assert cases
    assert [text for case in cases if (text := told(case, tmp_path, follower.explain))] == []

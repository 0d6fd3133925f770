"""A case survives the way to disk and back, compressed or not."""

from __future__ import annotations

from pathlib import Path

import pytest

from tests.parity.case import Case, Result, read_case, read_cases, write_case

CASE = Case(
    name="0001-02-p",
    style="mixed",
    namespace="default",
    pod="p",
    objects=[{"kind": "Pod", "metadata": {"namespace": "default", "name": "p"}, "spec": {}}],
    result=Result("n1", feasible=["n1", "n2"], scores={"A": {"n1": 3, "n2": 1}, "B": {"n1": 1, "n2": 1}}),
)


@pytest.mark.parametrize("compress", [False, True])
def test_a_case_read_back_is_the_same(tmp_path: Path, compress: bool) -> None:
    path = write_case(CASE, tmp_path, compress=compress)
    assert read_case(path) == CASE
    assert read_cases(tmp_path) == [CASE]


def test_totals_add_up_what_plugins_gave() -> None:
    assert CASE.result.totals() == {"n1": 4, "n2": 2}


def test_a_folder_without_cases_is_an_error_that_says_what_to_do(tmp_path: Path) -> None:
    with pytest.raises(FileNotFoundError, match="record some with --record"):
        read_cases(tmp_path)

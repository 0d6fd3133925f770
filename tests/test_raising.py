"""Where an error was raised: in whose code, and on which line."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from bayplan.errors import PluginError
from bayplan.raising import place_of, with_place

HERE = Path(__file__)


def _line(text: str) -> int:
    return next(number for number, line in enumerate(HERE.read_text().splitlines(), 1) if line.strip() == text)


def _raised(act: Any) -> BaseException:
    try:
        act()
    except BaseException as error:
        return error
    raise AssertionError


def _divide() -> None:
    1 // 0  # noqa: B018


def _in_a_library() -> None:
    json.loads("{")


def _in_numpy() -> None:
    np.zeros(2).reshape(3)


@pytest.mark.parametrize(
    ("act", "line"),
    [(_divide, "1 // 0  # noqa: B018"), (_in_a_library, 'json.loads("{")'), (_in_numpy, "np.zeros(2).reshape(3)")],
)
def test_it_is_the_authors_own_line_that_is_named(act: Any, line: str, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(HERE.parent)
    error = _raised(act)

    assert place_of(error) == f"{HERE.name}:{_line(line)}"
    assert str(PluginError("A", "Filter", "default/p", error)).endswith(f"({HERE.name}:{_line(line)})")


def test_elsewhere_the_whole_path_is_shown(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    monkeypatch.chdir(tmp_path)

    assert place_of(_raised(_divide)).startswith(f"{HERE}:")


def test_what_was_never_raised_has_no_place() -> None:
    assert with_place("said", ValueError("x")) == "said"

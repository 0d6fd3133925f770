"""Messages here are compared without the line of a test that raised: `tests/test_raising.py` is about that."""

from __future__ import annotations

import pytest


@pytest.fixture(autouse=True)
def raised_nowhere(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("bayplan.raising.place_of", lambda error: "")

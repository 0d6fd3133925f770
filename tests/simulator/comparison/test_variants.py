"""Weights as they are written."""

from __future__ import annotations

import pytest

from bayplan.errors import InputError
from bayplan.simulator.comparison.variants import read_weights


def test_weights_are_names_and_numbers() -> None:
    assert read_weights("NodeResourcesFit=5, ImageLocality=2") == {"NodeResourcesFit": 5, "ImageLocality": 2}


@pytest.mark.parametrize(
    "text",
    ["", "NodeResourcesFit", "NodeResourcesFit=0", "NodeResourcesFit=-1", "=3", "A=1.5", "A=²", f"A={'9' * 5000}"],
)
def test_what_is_no_weight_is_told(text: str) -> None:
    with pytest.raises(InputError, match=r"--weights: .* is no weight; write such as"):
        read_weights(text)


def test_one_plugin_has_one_weight() -> None:
    with pytest.raises(InputError, match="A has two weights"):
        read_weights("A=1,A=2")

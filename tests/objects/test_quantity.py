"""Quantities: every suffix, rounding away from zero, canonical text, clear refusals."""

from __future__ import annotations

from fractions import Fraction

import pytest
from hypothesis import given
from hypothesis import strategies as st

from bayplan.objects import quantity

AMOUNTS = st.integers(min_value=0, max_value=2**60)


@pytest.mark.parametrize(
    ("text", "number"),
    [
        ("0", 0),
        ("1", 1),
        ("+1", 1),
        ("-5", -5),
        ("1.", 1),
        (".5", Fraction(1, 2)),
        ("250m", Fraction(1, 4)),
        ("1u", Fraction(1, 10**6)),
        ("1n", Fraction(1, 10**9)),
        ("0.1n", Fraction(1, 10**9)),
        ("-0.1n", Fraction(-1, 10**9)),
        ("1k", 1000),
        ("1M", 10**6),
        ("1G", 10**9),
        ("1T", 10**12),
        ("1P", 10**15),
        ("1E", 10**18),
        ("1Ki", 1024),
        ("1Mi", 1024**2),
        ("1.5Gi", 3 * 2**29),
        ("1Ti", 1024**4),
        ("1Pi", 1024**5),
        ("1Ei", 1024**6),
        ("1e3", 1000),
        ("1E3", 1000),
        ("1e+3", 1000),
        ("12e-3", Fraction(12, 1000)),
        ("10E", 2**63 - 1),
        ("-10E", -(2**63 - 1)),
        ("1e999999999", 2**63 - 1),
        (4, 4),
        (0.1, Fraction(1, 10)),
        (1e22, 2**63 - 1),
    ],
)
def test_parses_exactly(text: quantity.Quantity, number: Fraction | int) -> None:
    assert quantity.parse(text) == number


@pytest.mark.parametrize(
    ("text", "milli", "whole"),
    [
        ("250m", 250, 1),
        ("1", 1000, 1),
        ("1.0001", 1001, 2),
        ("1n", 1, 1),
        ("-1500m", -1500, -2),
        ("0.1Ki", 102400, 103),
        ("200Mi", 209715200000, 209715200),
    ],
)
def test_rounds_away_from_zero(text: str, milli: int, whole: int) -> None:
    assert quantity.milli_value(text) == milli
    assert quantity.value(text) == whole


@pytest.mark.parametrize(
    ("text", "canonical"),
    [
        ("0.1", "100m"),
        ("1.5", "1500m"),
        ("4", "4"),
        (4, "4"),
        ("1000m", "1"),
        ("1000", "1k"),
        ("1500", "1500"),
        ("100000", "100k"),
        ("0", "0"),
        ("0Gi", "0"),
        ("0.0001", "100u"),
        ("1.5Gi", "1536Mi"),
        ("1024Ki", "1Mi"),
        ("1000Ki", "1000Ki"),
        ("0.5Ki", "512"),
        ("0.1Ki", "102400m"),
        ("1e3", "1e3"),
        ("1.5e3", "1500"),
        ("1e4", "10e3"),
        ("12e-3", "12e-3"),
        ("-5", "-5"),
        ("32Gi", "32Gi"),
    ],
)
def test_writes_what_the_api_server_writes(text: quantity.Quantity, canonical: str) -> None:
    assert quantity.canonical(text) == canonical


@pytest.mark.parametrize(
    ("name", "amount", "text"),
    [
        ("cpu", 100, "100m"),
        ("cpu", 4000, "4"),
        ("memory", 200 * 2**20, "200Mi"),
        ("ephemeral-storage", 32 * 2**30, "32Gi"),
        ("hugepages-2Mi", 2**21, "2Mi"),
        ("memory", 1000, "1k"),
        ("memory", 1025, "1025"),
        ("pods", 110, "110"),
        ("example.com/gpu", 2, "2"),
    ],
)
def test_writes_amounts_as_people_do(name: str, amount: int, text: str) -> None:
    assert quantity.format_resource(name, amount) == text


@pytest.mark.parametrize(
    ("text", "advice"),
    [
        ("1 Gi", 'write "1Gi" instead'),
        (" 1", 'write "1" instead'),
        ("1GB", 'write "1G" instead'),
        ("500MB", 'write "500M" instead'),
        ("1K", 'write "1k" instead'),
        ("2gi", 'write "2Gi" instead'),
        ("abc", "such as 1, 250m"),
        ("", "such as 1, 250m"),
        ("1e", "such as 1, 250m"),
        ("--1", "such as 1, 250m"),
        ("1..2", "such as 1, 250m"),
        (".", "such as 1, 250m"),
        ("１", "such as 1, 250m"),
        ("1" * 5000, "fewer digits"),
        (True, "write a number"),
    ],
)
def test_refuses_with_advice(text: quantity.Quantity, advice: str) -> None:
    with pytest.raises(ValueError, match="is not a quantity") as caught:
        quantity.milli_value(text)
    assert advice in str(caught.value)
    assert len(str(caught.value)) < 200


@given(AMOUNTS)
def test_binary_text_reads_back_as_the_same_number(amount: int) -> None:
    assert quantity.value(quantity.format_binary(amount)) == amount


@given(AMOUNTS)
def test_decimal_text_reads_back_as_the_same_number(milli: int) -> None:
    assert quantity.milli_value(quantity.format_decimal(Fraction(milli, 1000))) == milli


@given(
    st.decimals(min_value=0, max_value=10**6, places=4).map(lambda number: f"{number:f}"),
    st.sampled_from(["", "n", "u", "m", "k", "M", "G", "T", "Ki", "Mi", "Gi", "e2", "E-2"]),
)
def test_canonical_text_stands_for_the_same_number_and_is_stable(number: str, suffix: str) -> None:
    text = quantity.canonical(number + suffix)
    assert quantity.parse(text) == quantity.parse(number + suffix)
    assert quantity.canonical(text) == text


@given(AMOUNTS, AMOUNTS)
def test_milli_is_never_less_than_asked_and_never_a_whole_milli_more(top: int, bottom: int) -> None:
    exact = Fraction(top, bottom + 1)
    text = f"{float(exact % 10**6):.9f}"
    over = Fraction(quantity.milli_value(text), 1000) - quantity.parse(text)
    assert 0 <= over < Fraction(1, 1000)

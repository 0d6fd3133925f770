"""Kubernetes quantities: `quantity("1Gi").isGreaterThan(quantity("500M"))`."""

from __future__ import annotations

from fractions import Fraction
from functools import lru_cache

from bayplan.cel import costs
from bayplan.cel.errors import EvaluationError
from bayplan.cel.functions import function
from bayplan.cel.values import INT_MAX, INT_MIN
from bayplan.objects.quantity import parse


class Quantity:
    """An exact amount. One that was computed cannot stand right of `==`: Kubernetes takes it for another type then."""

    __slots__ = ("amount", "is_computed")
    cel_type = "kubernetes.Quantity"

    def __init__(self, amount: Fraction, is_computed: bool = False) -> None:
        self.amount = amount
        self.is_computed = is_computed

    def __eq__(self, other: object) -> bool:
        return isinstance(other, Quantity) and self.amount == other.amount

    def __hash__(self) -> int:
        return hash(self.amount)


@lru_cache(maxsize=4096)
def quantity(text: str) -> Quantity:
    """EvaluationError if the text is none."""
    if type(text) is str and text == text.strip():
        try:
            return Quantity(parse(text))
        except ValueError:
            pass
    raise EvaluationError("quantities must match the regular expression '^([+-]?[0-9.]+)([eEinumkKMGTP]*[-+]?[0-9]*)$'")


def _is_quantity(text: str) -> bool:
    try:
        quantity(text)
    except EvaluationError:
        return False
    return True


def _is_integer(given: Quantity) -> bool:
    return given.amount.denominator == 1 and INT_MIN <= given.amount <= INT_MAX


def _as_integer(given: Quantity) -> int:
    if not _is_integer(given):
        raise EvaluationError("cannot convert value to integer")
    return int(given.amount)


def _order(left: Quantity, right: Quantity) -> int:
    return (left.amount > right.amount) - (left.amount < right.amount)


def _sum(given: Quantity, change: Fraction | int) -> Quantity:
    return Quantity(given.amount + change, is_computed=True)


FUNCTIONS = (
    function("quantity", ("string_to_quantity", "(string) -> quantity", quantity), cost=costs.traversal),
    function("isQuantity", ("is_quantity_string", "(string) -> bool", _is_quantity), cost=costs.traversal),
    function("sign", ("quantity_sign", "(quantity) -> int", lambda q: (q.amount > 0) - (q.amount < 0))),
    function(
        "isGreaterThan",
        ("quantity_is_greater_than", "quantity.(quantity) -> bool", lambda one, other: one.amount > other.amount),
    ),
    function(
        "isLessThan",
        ("quantity_is_less_than", "quantity.(quantity) -> bool", lambda one, other: one.amount < other.amount),
    ),
    function("compareTo", ("quantity_compare_to", "quantity.(quantity) -> int", _order)),
    function("asApproximateFloat", ("quantity_get_float", "quantity.() -> double", lambda q: float(q.amount))),
    function("asInteger", ("quantity_get_int", "quantity.() -> int", _as_integer)),
    function("isInteger", ("quantity_is_integer", "quantity.() -> bool", _is_integer)),
    function(
        "add",
        ("quantity_add", "quantity.(quantity) -> quantity", lambda one, other: _sum(one, other.amount)),
        ("quantity_add_int", "quantity.(int) -> quantity", _sum),
    ),
    function(
        "sub",
        ("quantity_sub", "quantity.(quantity) -> quantity", lambda one, other: _sum(one, -other.amount)),
        ("quantity_sub_int", "quantity.(int) -> quantity", lambda one, other: _sum(one, -other)),
    ),
)

"""The nodes of a parsed expression. The parser makes them, the checker annotates them, the planner reads them."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, TypeAlias

if TYPE_CHECKING:
    from bayplan.cel.functions import Function, Overload
    from bayplan.cel.types import Type


@dataclass(slots=True)
class Literal:
    value: Any
    at: int


@dataclass(slots=True)
class Ident:
    name: str
    at: int
    names_type: Type | None = None
    """Set by the checker if the name is that of a type, such as `int`."""


@dataclass(slots=True)
class Select:
    """A field, or for `has()` the question whether there is one."""

    operand: Expr
    name: str
    at: int
    is_test: bool = False


@dataclass(slots=True)
class Call:
    """A function, an operator or a method; operators have names such as ``_+_``."""

    function: str
    target: Expr | None
    arguments: list[Expr]
    at: int
    declaration: Function | None = None
    overloads: Sequence[Overload] = ()
    """Those that fit the types of the arguments; set by the checker."""
    is_exact: bool = False
    """No argument is of a type that is known only at run time."""


@dataclass(slots=True)
class ListLiteral:
    elements: list[Expr]
    at: int
    optional: frozenset[int] = frozenset()


@dataclass(slots=True)
class MapLiteral:
    entries: list[tuple[Expr, Expr]]
    at: int
    optional: frozenset[int] = frozenset()


@dataclass(slots=True)
class Fold:
    """What all comprehension macros and `cel.bind` expand to: a loop with an accumulator."""

    over: Expr
    variable: str
    second: str
    accumulator: str
    start: Expr
    condition: Expr
    step: Expr
    result: Expr
    at: int


Expr: TypeAlias = Literal | Ident | Select | Call | ListLiteral | MapLiteral | Fold


@dataclass(slots=True)
class Source:
    """The text of an expression, to tell where in it something is wrong."""

    text: str

    def place(self, at: int) -> str:
        """Line and column, counted from one."""
        line = self.text.count("\n", 0, at) + 1
        return f"{line}:{at - (self.text.rfind(chr(10), 0, at) + 1) + 1}"

"""Tokens to a tree, with macros expanded. `environment` calls `parse`.

How deep an expression may be is limited as in Kubernetes: `DEEPEST` nested brackets, and as many steps from the root
of the tree to a leaf.
"""

from __future__ import annotations

from collections.abc import Callable

from bayplan.cel.errors import CelError
from bayplan.cel.lexer import RESERVED, Token, tokens
from bayplan.cel.macros import expand
from bayplan.cel.syntax import Call, Expr, Ident, ListLiteral, Literal, MapLiteral, Select, Source

DEEPEST = 250

_PRECEDENCE = {
    "||": 1, "&&": 2,
    "<": 3, "<=": 3, ">": 3, ">=": 3, "==": 3, "!=": 3, "in": 3,
    "+": 4, "-": 4, "*": 5, "/": 5, "%": 5,
}  # fmt: skip
_LOGICAL = ("||", "&&")
_WORDS = {"true": True, "false": False, "null": None}


def parse(source: Source) -> Expr:
    """CelError with line and column if the text is not an expression."""
    return _Parser(source).whole()


class _Parser:
    """Every method gives the node it read and its height in the tree."""

    def __init__(self, source: Source) -> None:
        self._source = source
        self._tokens = tokens(source)
        self._next = 0
        self._nesting = 0

    def whole(self) -> Expr:
        made, height = self._expression()
        if self._token.kind != "end":
            raise self._unexpected()
        if height > DEEPEST:
            raise CelError(f"1:1: max recursion depth exceeded: {height}, at most {DEEPEST}")
        return made

    @property
    def _token(self) -> Token:
        return self._tokens[self._next]

    def _unexpected(self, wanted: str = "") -> CelError:
        token = self._token
        shown = "the end" if token.kind == "end" else f"'{token.text[:40]}'"
        hint = f", wanted {wanted}" if wanted else ""
        return self._error(token.at, f"Syntax error: unexpected {shown}{hint}")

    def _error(self, at: int, problem: str) -> CelError:
        return CelError(f"{self._source.place(at)}: {problem}")

    def _is(self, text: str) -> bool:
        token = self._token
        return token.text == text and token.kind in ("symbol", "name")

    def _take(self, text: str) -> bool:
        if self._is(text):
            self._next += 1
            return True
        return False

    def _expect(self, text: str) -> Token:
        token = self._token
        if not self._take(text):
            raise self._unexpected(f"'{text}'")
        return token

    def _expression(self) -> tuple[Expr, int]:
        """A condition with its two branches, or what stands between operators."""
        self._nesting += 1
        if self._nesting > DEEPEST:
            raise self._error(self._token.at, f"expression recursion limit exceeded: {DEEPEST}")
        parts: list[tuple[Expr, int]] = [self._operators()]
        marks: list[int] = []
        while self._is("?"):
            marks.append(self._token.at)
            self._next += 1
            parts.append(self._operators())
            self._expect(":")
            parts.append(self._operators())
        made, height = parts.pop()
        while marks:
            (truthy, left), (condition, top) = parts.pop(), parts.pop()
            height = 1 + max(height, left, top)
            made = Call("_?_:_", None, [condition, truthy, made], marks.pop())
        self._nesting -= 1
        return made, height

    def _operators(self) -> tuple[Expr, int]:
        operands = [self._operand()]
        waiting: list[Token] = []
        while (level := self._level()) is not None:
            while waiting and _PRECEDENCE[waiting[-1].text] >= level:
                self._combine(operands, waiting.pop())
            waiting.append(self._token)
            self._next += 1
            operands.append(self._operand())
        while waiting:
            self._combine(operands, waiting.pop())
        return operands[0]

    def _level(self) -> int | None:
        token = self._token
        return _PRECEDENCE.get(token.text) if token.kind in ("symbol", "name") else None

    @staticmethod
    def _combine(operands: list[tuple[Expr, int]], operator: Token) -> None:
        (right, right_height), (left, left_height) = operands.pop(), operands.pop()
        name = "@in" if operator.text == "in" else f"_{operator.text}_"
        height = max(left_height, right_height)
        if operator.text not in _LOGICAL:
            operands.append((Call(name, None, [left, right], operator.at), height + 1))
        elif isinstance(left, Call) and left.function == name:
            left.arguments.append(right)
            operands.append((left, height))
        else:
            operands.append((Call(name, None, [left, right], operator.at), height))

    def _operand(self) -> tuple[Expr, int]:
        first = self._token
        count = 0
        sign = first.text if first.kind == "symbol" and first.text in ("!", "-") else ""
        while sign and self._is(sign):
            count += 1
            self._next += 1
        if sign == "-" and count % 2 and self._token.kind in ("int", "double"):
            return self._members(self._number(negative=True))
        made, height = self._members(self._primary())
        if count % 2 == 0:
            return made, height
        return Call(f"{sign}_", None, [made], first.at), height

    def _members(self, start: tuple[Expr, int]) -> tuple[Expr, int]:
        """Fields, calls and indexes that follow a value."""
        made, height = start
        while True:
            token = self._token
            if self._take("."):
                made, height = self._field(made, height, token.at)
            elif self._take("["):
                optional = self._take("?")
                index, inner = self._expression()
                self._expect("]")
                made = Call("_[?_]" if optional else "_[_]", None, [made, index], token.at)
                height = 1 + max(height, inner)
            else:
                return made, height

    def _field(self, operand: Expr, height: int, at: int) -> tuple[Expr, int]:
        optional = self._take("?")
        name = self._token
        if name.kind != "name" or name.text in ("in", *_WORDS):
            raise self._unexpected("a field name")
        self._next += 1
        if optional:
            return Call("_?._", None, [operand, Literal(name.text, name.at)], at), height + 1
        opened = self._token.at
        if self._take("("):
            arguments, inner = self._arguments(")")
            call = Call(name.text, operand, arguments, opened)
            return self._expanded(call), 1 + max(height, inner)
        return Select(operand, name.text, at), height + 1

    def _expanded(self, call: Call) -> Expr:
        return expand(call, lambda at, problem: self._error(at, problem))

    def _arguments(self, closing: str) -> tuple[list[Expr], int]:
        made: list[Expr] = []
        height = 0
        while not self._take(closing):
            if made:
                self._expect(",")
            each, inner = self._expression()
            made.append(each)
            height = max(height, inner)
        return made, height

    def _number(self, negative: bool = False) -> tuple[Expr, int]:
        token = self._token
        self._next += 1
        value = -token.value if negative else token.value
        if token.kind == "int" and not -(2**63) <= value < 2**63:
            raise self._error(token.at, "invalid int literal")
        return Literal(value, token.at), 0

    def _primary(self) -> tuple[Expr, int]:
        token = self._token
        if token.kind in ("int", "uint", "double"):
            return self._number()
        if token.kind in ("string", "bytes"):
            self._next += 1
            return Literal(token.value, token.at), 0
        if self._take("("):
            made = self._expression()
            self._expect(")")
            return made
        if self._take("["):
            return self._list(token.at)
        if self._take("{"):
            return self._map(token.at)
        return self._name()

    def _name(self) -> tuple[Expr, int]:
        dot = "." if self._take(".") else ""
        token = self._token
        if token.kind != "name":
            raise self._unexpected()
        self._next += 1
        if not dot and token.text in _WORDS:
            return Literal(_WORDS[token.text], token.at), 0
        if token.text in RESERVED:
            raise self._error(token.at, f"reserved identifier: {token.text}")
        opened = self._token.at
        if self._take("("):
            arguments, height = self._arguments(")")
            return self._expanded(Call(token.text, None, arguments, opened)), height
        if self._is("{"):
            raise self._error(token.at, f"undeclared reference to '{token.text}'; messages cannot be made here")
        return Ident(token.text, token.at), 0

    def _list(self, at: int) -> tuple[Expr, int]:
        elements: list[Expr] = []

        def element() -> int:
            each, inner = self._expression()
            elements.append(each)
            return inner

        optional, height = self._items("]", element)
        return ListLiteral(elements, at, optional), height

    def _map(self, at: int) -> tuple[Expr, int]:
        entries: list[tuple[Expr, Expr]] = []

        def entry() -> int:
            key, first = self._expression()
            self._expect(":")
            value, second = self._expression()
            entries.append((key, value))
            return max(first, second)

        optional, height = self._items("}", entry)
        return MapLiteral(entries, at, optional), height

    def _items(self, closing: str, item: Callable[[], int]) -> tuple[frozenset[int], int]:
        """Items between commas, a last comma allowed: which of them are optional, and the height of the highest."""
        optional, height, count = [], 0, 0
        while not self._take(closing):
            if count:
                self._expect(",")
                if self._take(closing):
                    break
            elif self._take(","):
                self._expect(closing)
                break
            if self._take("?"):
                optional.append(count)
            height = max(height, item())
            count += 1
        return frozenset(optional), height

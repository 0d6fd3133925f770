"""Types: every name is declared, every call has an overload that fits. `environment` calls `check` after parsing.

The checker also notes in the tree which overloads fit, because what a call costs depends on whether the types alone
tell which one it is.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence

from bayplan.cel.errors import CelError
from bayplan.cel.functions import Function, Overload
from bayplan.cel.literal_checks import Elements, FormatCall, wrong_element, wrong_format
from bayplan.cel.syntax import Call, Expr, Fold, Ident, ListLiteral, Literal, MapLiteral, Select, Source
from bayplan.cel.types import (
    BOOL,
    BYTES,
    DOUBLE,
    DYN,
    INT,
    NULL,
    STRING,
    UINT,
    Signature,
    Substitution,
    Type,
    contains_dynamic,
    list_of,
    map_of,
    most_general,
    optional_of,
    substituted,
    unify,
)
from bayplan.cel.values import Uint

_LITERALS: dict[type, Type] = {
    bool: BOOL,
    int: INT,
    Uint: UINT,
    float: DOUBLE,
    str: STRING,
    bytes: BYTES,
    type(None): NULL,
}


class Declarations:
    """What an expression may speak of."""

    def __init__(
        self,
        variables: Mapping[str, Type],
        functions: Mapping[str, Function],
        types: Mapping[str, Type],
        fields: Mapping[str, Mapping[str, Type]],
    ) -> None:
        self.variables = variables
        self.functions = functions
        self.types = types
        self.fields = fields
        """The fields of each type that has fields."""


def check(expression: Expr, source: Source, declarations: Declarations) -> Callable[[Expr], Type]:
    """The type of each part of the expression; CelError at the first place that does not fit."""
    checker = _Checker(source, declarations)
    checker.check(expression, declarations.variables)
    checker.check_literals()
    return checker.type_of


class _Checker:
    def __init__(self, source: Source, declarations: Declarations) -> None:
        self._source = source
        self._declared = declarations
        self.known: Substitution = {}
        self._types: dict[int, Type] = {}
        self._fresh = 0
        self._elements: list[Elements] = []
        self._formats: list[FormatCall] = []
        self._format_depth = 0

    def check(self, node: Expr, scope: Mapping[str, Type]) -> Type:
        found = self._types[id(node)] = self._type(node, scope)
        return found

    def type_of(self, node: Expr) -> Type:
        return self.final(self._types.get(id(node), DYN))

    def _type(self, node: Expr, scope: Mapping[str, Type]) -> Type:
        match node:
            case Call():
                return self._call(node, scope)
            case Select():
                return self._select(node, scope)
            case Ident():
                return self._ident(node, scope)
            case Literal():
                return _LITERALS[type(node.value)]
            case ListLiteral():
                return self._list(node, scope)
            case MapLiteral():
                return self._map(node, scope)
            case Fold():
                return self._fold(node, scope)

    def final(self, given: Type) -> Type:
        return substituted(given, self.known, rest_is_dyn=True)

    def check_literals(self) -> None:
        for elements in self._elements:
            wrong = wrong_element(elements, self.final)
            if wrong is not None:
                raise self._error(*wrong)
        for call in self._formats:
            wrong = wrong_format(call, self.final)
            if wrong is not None:
                raise self._error(*wrong)

    def _error(self, at: int, problem: str) -> CelError:
        return CelError(f"{self._source.place(at)}: {problem}")

    def _variable(self) -> Type:
        self._fresh += 1
        return Type(f"${self._fresh}")

    def _unified(self, left: Type, right: Type) -> bool:
        found = unify(self.known, (left,), (right,))
        if found is None:
            return False
        self.known = found
        return True

    def _ident(self, node: Ident, scope: Mapping[str, Type]) -> Type:
        found = scope.get(node.name)
        if found is not None:
            return found
        named = self._declared.types.get(node.name)
        if named is None:
            raise self._error(node.at, f"undeclared reference to '{node.name}'")
        node.names_type = Type(named.name)
        return Type("type", (named,))

    def _select(self, node: Select, scope: Mapping[str, Type]) -> Type:
        found = self._field(node.operand, node.name, node.at, scope)
        return BOOL if node.is_test else substituted(found, self.known)

    def _field(self, operand: Expr, name: str, at: int, scope: Mapping[str, Type]) -> Type:
        given = substituted(self.check(operand, scope), self.known)
        is_optional = given.name == "optional_type"
        target = given.parameters[0] if is_optional else given
        if target.name == "map":
            found = target.parameters[1]
        elif target.name in self._declared.fields:
            fields = self._declared.fields[target.name]
            if name not in fields:
                raise self._error(at, f"undefined field '{name}'; fields: {', '.join(sorted(fields))}")
            found = fields[name]
        elif target.is_variable:
            self._unified(DYN, target)
            found = DYN
        elif target.is_dynamic:
            found = DYN
        else:
            raise self._error(at, f"type '{target}' does not support field selection")
        return optional_of(found) if is_optional else found

    def _call(self, node: Call, scope: Mapping[str, Type]) -> Type:
        if node.function == "_?._":
            operand, name = node.arguments
            assert isinstance(name, Literal)
            found = self._field(operand, name.value, node.at, scope)
            return found if found.name == "optional_type" else optional_of(found)
        self._format_depth += node.function == "format"
        given = [self.check(each, scope) for each in node.arguments]
        if node.target is not None:
            path = _qualified(node.target)
            if path and f"{path}.{node.function}" in self._declared.functions:
                node.function = f"{path}.{node.function}"
                node.target = None
            else:
                given.insert(0, self.check(node.target, scope))
        self._format_depth -= node.function == "format"
        declared = self._declared.functions.get(node.function)
        if declared is None:
            raise self._error(node.at, f"undeclared reference to '{node.function}'")
        node.declaration = declared
        if node.function in ("_&&_", "_||_"):
            for each, argument in zip(given, node.arguments, strict=True):
                self._must_be(BOOL, each, argument)
            return BOOL
        result = self._resolved(node, declared, given)
        if node.function == "format" and isinstance(node.target, Literal):
            self._note_format(node.target.value, node.arguments[0], scope, node.at)
        return result

    def _note_format(self, text: str, arguments: Expr, scope: Mapping[str, Type], at: int) -> None:
        if isinstance(arguments, ListLiteral):
            self._format_depth += 1
            given = [self.check(each, scope) for each in arguments.elements]
            self._format_depth -= 1
            self._formats.append(FormatCall(text, given, at))

    def _note_elements(self, types: Sequence[Type], nodes: Sequence[Expr]) -> None:
        if len(types) > 1 and not self._format_depth:
            self._elements.append(Elements(types, [each.at for each in nodes]))

    def _resolved(self, node: Call, declared: Function, given: list[Type]) -> Type:
        """The result of those overloads that fit."""
        result: Type | None = None
        fitting: list[Overload] = []
        for overload in declared.overloads:
            if overload.signature.is_method != (node.target is not None):
                continue
            wanted = self._instantiated(overload.signature)
            found = unify(self.known, given, wanted.parameters)
            if found is None:
                continue
            self.known = found
            fitting.append(overload)
            gives = substituted(wanted.result, self.known)
            if result is None:
                result = gives
            elif not result.is_dynamic and gives != result:
                result = DYN
        if result is None:
            raise self._error(node.at, self._no_overload(node, given))
        node.overloads = fitting
        node.is_exact = not any(contains_dynamic(substituted(each, self.known)) for each in given)
        return result

    def _instantiated(self, declared: Signature) -> Signature:
        """With type variables of its own for this call."""
        fresh: dict[str, Type] = {}

        def renamed(given: Type) -> Type:
            if given.is_variable:
                if given.name not in fresh:
                    fresh[given.name] = self._variable()
                return fresh[given.name]
            return Type(given.name, tuple(map(renamed, given.parameters))) if given.parameters else given

        return Signature(tuple(map(renamed, declared.parameters)), renamed(declared.result), declared.is_method)

    def _no_overload(self, node: Call, given: list[Type]) -> str:
        told = [str(substituted(each, self.known, rest_is_dyn=True)) for each in given]
        if node.target is not None:
            applied = f"{told[0]}.({', '.join(told[1:])})"
        else:
            applied = f"({', '.join(told)})"
        return f"found no matching overload for '{node.function}' applied to '{applied}'"

    def _must_be(self, wanted: Type, given: Type, node: Expr) -> None:
        if not self._unified(given, wanted):
            shown = substituted(given, self.known, rest_is_dyn=True)
            raise self._error(node.at, f"expected type '{wanted}' but found '{shown}'")

    def _joined(self, types: Sequence[Type]) -> Type:
        """One type for all elements of a literal; a fresh one if there are none."""
        if not types:
            return self._variable()
        joined = types[0]
        for given in types[1:]:
            joined = most_general(joined, given) if self._unified(joined, given) else DYN
        return joined

    def _element(self, node: Expr, is_optional: bool, scope: Mapping[str, Type]) -> Type:
        given = self.check(node, scope)
        if not is_optional or given.is_dynamic:
            return given
        given = substituted(given, self.known)
        if given.name != "optional_type":
            raise self._error(node.at, f"expected type 'optional_type({given})' but found '{given}'")
        return given.parameters[0]

    def _list(self, node: ListLiteral, scope: Mapping[str, Type]) -> Type:
        types = [self._element(each, index in node.optional, scope) for index, each in enumerate(node.elements)]
        self._note_elements(types, node.elements)
        return list_of(self._joined(types))

    def _map(self, node: MapLiteral, scope: Mapping[str, Type]) -> Type:
        keys, values = [], []
        for index, (key, value) in enumerate(node.entries):
            keys.append(self.check(key, scope))
            values.append(self._element(value, index in node.optional, scope))
        self._note_elements(keys, [key for key, _ in node.entries])
        self._note_elements(values, [value for _, value in node.entries])
        return map_of(self._joined(keys), self._joined(values))

    def _fold(self, node: Fold, scope: Mapping[str, Type]) -> Type:
        over = substituted(self.check(node.over, scope), self.known)
        start = self.check(node.start, scope)
        first, second = self._loop_variables(node, over)
        outer = {**scope, node.accumulator: start}
        inner = {**outer, node.variable: first}
        if node.second:
            inner[node.second] = second
        self._must_be(BOOL, self.check(node.condition, inner), node.condition)
        step = self.check(node.step, inner)
        if not self._unified(start, step):
            raise self._error(node.step.at, f"expected type '{start}' but found '{step}'")
        return substituted(self.check(node.result, outer), self.known)

    def _loop_variables(self, node: Fold, over: Type) -> tuple[Type, Type]:
        if over.name == "list":
            return (INT, over.parameters[0]) if node.second else (over.parameters[0], DYN)
        if over.name == "map":
            return over.parameters[0], over.parameters[1]
        if over == DYN or over.is_variable:
            self._unified(DYN, over)
            return DYN, DYN
        problem = f"expression of type '{over}' cannot be range of a comprehension (must be list, map, or dynamic)"
        raise self._error(node.over.at, problem)


def _qualified(node: Expr) -> str:
    """``a.b.c`` as it stands there, or an empty text if it is more than names and dots."""
    names = []
    while isinstance(node, Select) and not node.is_test:
        names.append(node.name)
        node = node.operand
    return ".".join([node.name, *reversed(names)]) if isinstance(node, Ident) else ""

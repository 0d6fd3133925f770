"""The most that a checked expression can cost, put together from its parts."""

from __future__ import annotations

from collections.abc import Callable
from typing import NamedTuple

from bayplan.cel.costs import LIST, MAP, READ
from bayplan.cel.estimates.calls import Asked, Part, estimate
from bayplan.cel.estimates.device_sizes import Path
from bayplan.cel.estimates.sizes import MOST, UNKNOWN, Size, capped, exactly
from bayplan.cel.syntax import Call, Expr, Fold, Ident, ListLiteral, Literal, MapLiteral, Select
from bayplan.cel.types import BOOL, DOUBLE, DURATION, INT, TIMESTAMP, UINT, Type

_OF_SIZE_ONE = (BOOL, DOUBLE, INT, UINT, DURATION, TIMESTAMP)


class _Entries(NamedTuple):
    """What is known of the entries of a list or map."""

    is_list: bool
    key: Size
    value: Size


class _Local(NamedTuple):
    """A name that a comprehension or `cel.bind` gives."""

    path: Path
    size: Size | None
    entries: _Entries | None = None


def highest_cost(tree: Expr, type_of: Callable[[Expr], Type], size_at: Callable[[Path], Size | None]) -> int:
    """`size_at` tells how large a part of a variable can be. What is not bounded costs `MOST`."""
    return _Walker(type_of, size_at).cost(tree)


class _Walker:
    """Nodes are known by identity; what was found out about one is kept for those above it."""

    def __init__(self, type_of: Callable[[Expr], Type], size_at: Callable[[Path], Size | None]) -> None:
        self._type_of = type_of
        self._size_at = size_at
        self._paths: dict[int, Path] = {}
        self._sizes: dict[int, Size] = {}
        self._entries: dict[int, _Entries] = {}
        self._locals: dict[str, list[_Local]] = {}

    def cost(self, node: Expr) -> int:
        match node:
            case Literal():
                return 0
            case Ident():
                local = self._local(node)
                self._paths[id(node)] = Path(node.name) if local is None else local.path
                return READ
            case Select():
                return self._select(node)
            case Call():
                return self._dyn(node) if node.function == "dyn" else self._call(node)
            case ListLiteral():
                return self._list(node)
            case MapLiteral():
                return self._map(node)
            case Fold():
                return self._bind(node) if _is_bind(node) else self._fold(node)

    def _select(self, node: Select) -> int:
        cost = self.cost(node.operand)
        if node.is_test:
            return cost
        self._paths[id(node)] = self._path(node.operand).then(node.name)
        operand = self._type_of(node.operand)
        return cost if operand.is_dynamic or operand.name == "optional_type" else capped(cost + READ)

    def _dyn(self, node: Call) -> int:
        (given,) = node.arguments
        cost = self.cost(given)
        self._take_over(node, given)
        return capped(cost + 1)

    def _call(self, node: Call) -> int:
        costs, parts = [], []
        for each in node.arguments:
            costs.append(self.cost(each))
            parts.append(self._part(each))
        if node.function in ("_&&_", "_||_"):
            self._keep_size(node, self._size(node))
            return capped(sum(costs))
        if node.function == "_?_:_":
            return self._conditional(node, costs, parts)
        before = 0
        if node.target is not None:
            before = self.cost(node.target)
            parts.insert(0, self._part(node.target))
        highest, size = 0, None
        for overload in [each.name for each in node.overloads] or [""]:
            found = estimate(node.function, Asked(overload, parts))
            highest = max(highest, found.cost)
            if found.size is not None:
                size = found.size if size is None else size.either(found.size)
            size = self._followed(node, overload, size)
        self._keep_size(node, size)
        return capped(before + highest + sum(costs))

    def _followed(self, node: Call, overload: str, size: Size | None) -> Size | None:
        """What an overload tells of its result beyond its own size."""
        if overload in ("index_list", "index_map"):
            operand = node.arguments[0]
            entries = self._entries_of(operand)
            size = None if entries is None else entries.value
            self._paths[id(node)] = self._path(operand).then("@items" if overload == "index_list" else "@values")
        elif overload in ("add_list", "add_string", "add_bytes"):
            self._keep_either(node, node.arguments[0], node.arguments[1])
        return self._size(node) if size is None else size

    def _conditional(self, node: Call, costs: list[int], parts: list[Part]) -> int:
        _, one, other = node.arguments
        self._keep_either(node, one, other)
        self._keep_size(node, parts[1].size.either(parts[2].size))
        return capped(costs[0] + max(costs[1:]))

    def _list(self, node: ListLiteral) -> int:
        cost, items = LIST, exactly(0) if not node.elements else Size(MOST, 0)
        for each in node.elements:
            cost += self.cost(each)
            items = items.either(self._size(each) or UNKNOWN)
        self._entries[id(node)] = _Entries(True, exactly(1), items)
        return capped(cost)

    def _map(self, node: MapLiteral) -> int:
        cost = MAP
        keys = values = exactly(0) if not node.entries else Size(MOST, 0)
        for key, value in node.entries:
            cost += self.cost(key) + self.cost(value)
            keys = keys.either(self._size(key) or UNKNOWN)
            values = values.either(self._size(value) or UNKNOWN)
        self._entries[id(node)] = _Entries(False, keys, values)
        return capped(cost)

    def _fold(self, node: Fold) -> int:
        cost = self.cost(node.over) + self.cost(node.start)
        self._push(node.accumulator, self._bound(node.start))
        self._push_loop(node)
        turn = capped(self.cost(node.condition) + self.cost(node.step))
        self._locals[node.variable].pop()
        if node.second:
            self._locals[node.second].pop()
        cost += self.cost(node.result)
        self._locals[node.accumulator].pop()
        turns = self._size(node.over) or UNKNOWN
        if isinstance(node.start, Literal):
            self._keep_size(node, self._size(node.start))
        elif isinstance(node.start, (ListLiteral, MapLiteral)):
            self._keep_size(node, turns)
            self._keep_entries(node, self._entries_of(node.step))
        return capped(cost + turns.most * turn)

    def _push_loop(self, node: Fold) -> None:
        entries, path = self._entries_of(node.over), self._path(node.over)
        is_list = self._type_of(node.over).name == "list" if entries is None else entries.is_list
        key = None if entries is None else entries.key
        value = None if entries is None else entries.value
        if node.second:
            self._push(node.variable, _Local(path.then("@indices" if is_list else "@keys"), key))
            self._push(node.second, _Local(path.then("@items" if is_list else "@values"), value))
        elif is_list:
            self._push(node.variable, _Local(path.then("@items"), value))
        else:
            self._push(node.variable, _Local(path.then("@keys"), key))

    def _bind(self, node: Fold) -> int:
        cost = self.cost(node.over) + self.cost(node.start)
        self._push(node.accumulator, self._bound(node.start))
        cost += self.cost(node.result)
        self._locals[node.accumulator].pop()
        self._take_over(node, node.result)
        return capped(cost)

    def _bound(self, value: Expr) -> _Local:
        return _Local(self._path(value), self._size(value), self._entries_of(value))

    def _push(self, name: str, local: _Local) -> None:
        self._locals.setdefault(name, []).append(local)

    def _local(self, node: Expr) -> _Local | None:
        known = self._locals.get(node.name) if isinstance(node, Ident) else None
        return known[-1] if known else None

    def _path(self, node: Expr) -> Path:
        local = self._local(node)
        return self._paths.get(id(node), Path()) if local is None else local.path

    def _part(self, node: Expr) -> Part:
        return Part(node, self._type_of(node), self._size(node))

    def _size(self, node: Expr) -> Size | None:
        known = self._sizes.get(id(node))
        if known is not None:
            return known
        match node:
            case Literal():
                return exactly(len(node.value) if isinstance(node.value, (str, bytes)) else 1)
            case ListLiteral():
                return exactly(len(node.elements))
            case MapLiteral():
                return exactly(len(node.entries))
        declared = self._size_at(self._path(node))
        if declared is not None:
            self._sizes[id(node)] = declared
            return declared
        if _is_of_size_one(self._type_of(node)):
            return exactly(1)
        local = self._local(node)
        return None if local is None else local.size

    def _entries_of(self, node: Expr) -> _Entries | None:
        known = self._entries.get(id(node))
        local = self._local(node)
        return local.entries if known is None and local is not None else known

    def _keep_size(self, node: Expr, size: Size | None) -> None:
        if size is not None:
            self._sizes[id(node)] = size

    def _keep_entries(self, node: Expr, entries: _Entries | None) -> None:
        if entries is not None:
            self._entries[id(node)] = entries

    def _keep_either(self, node: Expr, one: Expr, other: Expr) -> None:
        left, right = self._entries_of(one), self._entries_of(other)
        if left is not None and right is not None:
            both = _Entries(left.is_list, left.key.either(right.key), left.value.either(right.value))
            self._keep_entries(node, both)

    def _take_over(self, node: Expr, source: Expr) -> None:
        self._keep_size(node, self._size(source))
        self._keep_entries(node, self._entries_of(source))


def _is_bind(node: Fold) -> bool:
    """`cel.bind` expands to a loop over nothing that never goes on."""
    is_empty = isinstance(node.over, ListLiteral) and not node.over.elements
    never = isinstance(node.condition, Literal) and node.condition.value is False
    return is_empty and never and node.accumulator != "__result__"


def _is_of_size_one(given: Type) -> bool:
    return _is_of_size_one(given.parameters[0]) if given.name == "optional_type" else given in _OF_SIZE_ONE

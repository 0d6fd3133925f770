"""What a library declares: functions with their overloads, what each does and what it costs.

`library` has the functions of Kubernetes, `environment` collects them, the checker chooses overloads by type and the
planner calls them.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from typing import Any, NamedTuple, TypeAlias

from bayplan.cel.types import DURATION, TIMESTAMP, Signature, Type, signature
from bayplan.cel.values import MAPS, Duration, Growing, Optional, Timestamp, Uint, type_name

Cost: TypeAlias = int | Callable[[Sequence[Any], Any], int]
"""Either always the same, or from the arguments and the result."""


class Overload(NamedTuple):
    """One way to call a function."""

    name: str
    signature: Signature
    run: Callable[..., Any]
    cost: Cost | None


class Function(NamedTuple):
    """`stops_early`: the rest of the arguments is not worked out after one that failed, nor is the call paid for.

    `cost` is what a call costs if its overload says nothing, or if the types do not tell which overload it is.
    """

    name: str
    overloads: tuple[Overload, ...]
    cost: Cost = 1
    stops_early: bool = False


def function(
    name: str,
    *overloads: tuple[str, str, Callable[..., Any]] | tuple[str, str, Callable[..., Any], Cost],
    cost: Cost = 1,
    stops_early: bool = False,
) -> Function:
    """Overloads as name, signature, what it does and, if it is not that of the function, its cost."""
    made = [Overload(each[0], signature(each[1]), each[2], each[3] if len(each) == 4 else None) for each in overloads]
    return Function(name, tuple(made), cost, stops_early)


def collected(libraries: Iterable[Iterable[Function]]) -> dict[str, Function]:
    """All functions by name; overloads of the same name from several libraries are put together."""
    found: dict[str, Function] = {}
    for library in libraries:
        for each in library:
            known = found.get(each.name)
            if known is not None:
                each = known._replace(
                    overloads=known.overloads + each.overloads,
                    cost=each.cost if known.cost == 1 else known.cost,
                )
            found[each.name] = each
    return found


_CLASSES: dict[str, tuple[type, ...]] = {
    "bool": (bool,),
    "int": (int,),
    "uint": (Uint,),
    "double": (float,),
    "string": (str,),
    "bytes": (bytes,),
    "null_type": (type(None),),
    "list": (list, Growing),
    "map": tuple(MAPS),
    "optional_type": (Optional,),
    DURATION.name: (Duration,),
    TIMESTAMP.name: (Timestamp,),
    "type": (Type,),
}


def takes(overload: Overload, arguments: Sequence[Any]) -> bool:
    """Whether these values are of the types the overload was declared with."""
    wanted = overload.signature.parameters
    return len(wanted) == len(arguments) and all(map(is_a, arguments, wanted))


def is_a(value: Any, wanted: Type) -> bool:
    """Whether a value is of a declared type; what a list or map holds is not looked at."""
    if wanted.is_dynamic or wanted.is_variable:
        return True
    classes = _CLASSES.get(wanted.name)
    return type(value) in classes if classes is not None else type_name(value) == wanted.name

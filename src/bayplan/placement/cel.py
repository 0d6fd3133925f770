"""CEL expressions over a cluster: compiled once for a placement, asked of every cluster.

`plan` calls `compile_expressions`; the Predicate filter asks. The library is the extra ``bayplan[cel]``; without
it a placement that uses expressions is misconfigured and says so. An error or too much work while an expression runs
means that the cluster does not match.

The variable is `managedCluster`; `managedCluster.scores("name")` lists an add-on's scores. Strings, `parseJSON`,
`quantity` and `semver` with their comparisons are there; the URL, IP and CIDR functions of the API server are not.
"""

from __future__ import annotations

import json
import re
import time
from collections.abc import Callable, Mapping, Sequence
from functools import lru_cache
from importlib import import_module
from typing import Any

from bayplan.objects.meta import ObjectMeta
from bayplan.objects.quantity import parse
from bayplan.objects.third_party.placement import ManagedCluster

MISSING = 'the CEL library is not installed; install bayplan[cel] ("pip install cel-expr-python")'

SLOWEST_S = 0.02
_BARE = ManagedCluster(metadata=ObjectMeta(name="cluster"))

Scores = Callable[[str, str], Sequence[Mapping[str, Any]] | None]
"""Cluster and resource to the scores of an add-on; None if there are none."""

_SEMVER = re.compile(r"v?(\d+)\.(\d+)\.(\d+)(?:-([0-9A-Za-z.-]+))?(?:\+[0-9A-Za-z.-]+)?")


class CelError(ValueError):
    """An expression that does not compile, or no library to compile it with."""


class Program:
    """Expressions that must all hold."""

    def __init__(self, compiled: Sequence[Any], texts: Sequence[str]) -> None:
        self._compiled = compiled
        self.texts = tuple(texts)

    def matches(self, cluster: ManagedCluster, scores: Scores) -> bool:
        _asking.scores = scores
        values = {"managedCluster": cluster.as_mapping}
        return all(_is_true(each, values) for each in self._compiled)


def compile_expressions(texts: Sequence[str]) -> Program:
    """CelError if the library is missing, an expression is wrong, or they take too long already for a bare cluster."""
    compiled = [_compile(text) for text in texts]
    seconds, text = max(((cost, text) for (_, cost), text in zip(compiled, texts, strict=True)), default=(0.0, ""))
    if sum(cost for _, cost in compiled) > SLOWEST_S:
        problem = f"takes {1000 * seconds:.0f} ms for one cluster, and a hub asks it of every one"
        raise CelError(f"{_shown(text)}: {problem}; write something simpler")
    return Program([each for each, _ in compiled], texts)


def is_available() -> bool:
    return _environment() is not None


class _Asking:
    """Whose scores an expression asks for; functions of an environment are made once, before anybody asks."""

    scores: Scores = staticmethod(lambda cluster, resource: None)


_asking = _Asking()


@lru_cache(maxsize=4096)
def _compile(text: str) -> tuple[Any, float]:
    """The expression, and how many seconds it takes."""
    environment = _environment()
    if environment is None:
        raise CelError(MISSING)
    try:
        compiled = environment.compile(text)
    except RuntimeError as error:
        first = str(error).splitlines()[0].removeprefix("INVALID_ARGUMENT: ERROR: ")
        raise CelError(f"{_shown(text)}: {first[:300]}; correct the expression") from None
    if compiled.return_type().name() not in ("BOOL", "DYN", "bool", "dyn"):
        raise CelError(f"{_shown(text)}: gives no truth value; write a condition")
    return compiled, min(_seconds(compiled), _seconds(compiled))


def _seconds(compiled: Any) -> float:
    """What one cluster costs; processor time, as others may be busy too."""
    started = time.thread_time()
    _is_true(compiled, {"managedCluster": _BARE.as_mapping})
    return time.thread_time() - started


def _shown(text: str) -> str:
    """So much of an expression that somebody finds it again."""
    return text if len(text) <= 200 else f"{text[:197]}..."


def _is_true(compiled: Any, values: Mapping[str, Any]) -> bool:
    try:
        return compiled.eval(data=values).value() is True
    except RuntimeError:
        return False


def _scores(cluster: Mapping[str, Any], name: str) -> list[dict[str, Any]]:
    metadata = cluster["metadata"]
    metadata = getattr(metadata, "value", lambda: metadata)()
    given = metadata["name"]
    found = _asking.scores(str(getattr(given, "value", lambda: given)()), name)
    if found is None:
        raise ValueError(f"no scores {name}")
    return [dict(each) for each in found]


def _semver(text: str) -> str:
    if not _SEMVER.fullmatch(text):
        raise ValueError(f"{text} is not a version")
    return text


def _version(text: str) -> tuple[Any, ...]:
    """A version as something that compares: a pre-release comes before its release."""
    found = _SEMVER.fullmatch(text)
    assert found is not None
    numbers, extra = tuple(int(each) for each in found.groups()[:3]), found[4]
    if extra is None:
        return (*numbers, 1)
    parts = [(0, int(each), "") if each.isdecimal() else (1, 0, each) for each in extra.split(".")]
    return (*numbers, 0, *parts)


def _compared(value: Callable[[Any], Any]) -> dict[str, Callable[[Any, Any], Any]]:
    return {
        "isLessThan": lambda left, right: value(left) < value(right),
        "isGreaterThan": lambda left, right: value(left) > value(right),
        "compareTo": lambda left, right: (value(left) > value(right)) - (value(left) < value(right)),
    }


@lru_cache(maxsize=1)
def _environment() -> Any:
    try:
        cel = import_module("cel_expr_python.cel")
        ext_math = import_module("cel_expr_python.ext.ext_math")
        ext_strings = import_module("cel_expr_python.ext.ext_strings")
    except ImportError:
        return None
    kinds = cel.Type

    def function(name: str, *overloads: tuple[list[Any], Any, Callable[..., Any], bool]) -> Any:
        made = [
            cel.Overload(
                f"bayplan_{name}_{index}", return_type=gives, parameters=takes, is_member=is_member, impl=function
            )
            for index, (takes, gives, function, is_member) in enumerate(overloads)
        ]
        return cel.FunctionDecl(name, made)

    numbers, versions = _compared(float), _compared(_version)
    compared = [
        function(
            name,
            ([kinds.DOUBLE, kinds.DOUBLE], kinds.INT if name == "compareTo" else kinds.BOOL, numbers[name], True),
            ([kinds.STRING, kinds.STRING], kinds.INT if name == "compareTo" else kinds.BOOL, versions[name], True),
        )
        for name in numbers
    ]
    listed = kinds.List(kinds.DYN)
    functions = [
        function("scores", ([kinds.Map(kinds.STRING, kinds.DYN), kinds.STRING], listed, _scores, True)),
        function("parseJSON", ([kinds.STRING], kinds.DYN, json.loads, True)),
        function("quantity", ([kinds.STRING], kinds.DOUBLE, lambda text: float(parse(text)), False)),
        function("semver", ([kinds.STRING], kinds.STRING, _semver, False)),
        *compared,
    ]
    return cel.NewEnv(
        variables={"managedCluster": kinds.Map(kinds.STRING, kinds.DYN)},
        functions=functions,
        extensions=[ext_strings.ExtStrings(), ext_math.ExtMath()],
    )

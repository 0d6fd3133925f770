"""CEL expressions over a cluster: compiled once for a placement, asked of every cluster.

`plan` calls `compile_expressions`; the Predicate filter asks. The variable is `managedCluster`, and
`managedCluster.scores("name")` lists an add-on's scores; the functions of Kubernetes and `parseJSON` are there. An
error or too much work while an expression runs means that the cluster does not match.
"""

from __future__ import annotations

import json
from collections.abc import Callable, Mapping, Sequence
from functools import lru_cache
from typing import Any

from bayplan.cel import CelError, CelRuntimeError, Environment, EvaluationError, Program
from bayplan.cel.functions import function
from bayplan.cel.types import BOOL, DYN, STRING, map_of
from bayplan.cel.values import INT_MAX, INT_MIN, AttachedMap
from bayplan.objects.meta import ObjectMeta
from bayplan.objects.third_party.placement import ManagedCluster

MOST_FOR_BARE = 20_000
"""What the expressions of a predicate may cost together for a cluster that has nothing but a name."""
_LONGEST = 100_000
_BARE = ManagedCluster(metadata=ObjectMeta(name="cluster"))

Scores = Callable[[str, str], Sequence[Mapping[str, Any]] | None]
"""Cluster and resource to the scores of an add-on; None if there are none."""


class Expressions:
    """Expressions that must all hold."""

    def __init__(self, programs: Sequence[Program]) -> None:
        self._programs = programs

    def matches(self, cluster: ManagedCluster, scores: Scores) -> bool:
        values = {"managedCluster": AttachedMap(cluster.as_mapping, scores)}
        return all(_is_true(each, values) for each in self._programs)


def compile_expressions(texts: Sequence[str]) -> Expressions:
    """CelError if an expression is wrong, or if they cost too much already for a bare cluster."""
    compiled = [_compile(text) for text in texts]
    cost, text = max(((cost, text) for (_, cost), text in zip(compiled, texts, strict=True)), default=(0, ""))
    if sum(each for _, each in compiled) > MOST_FOR_BARE:
        problem = f"costs {cost} for one cluster, and a hub asks it of every one"
        raise CelError(f"{_shown(text)}: {problem}; write something simpler")
    return Expressions([each for each, _ in compiled])


@lru_cache(maxsize=4096)
def _compile(text: str) -> tuple[Program, int]:
    """The expression, and what it costs for a bare cluster."""
    try:
        program = _ENVIRONMENT.compile(text)
    except CelError as error:
        raise CelError(f"{_shown(text)}: {str(error)[:300]}; correct the expression") from None
    if program.type not in (BOOL, DYN):
        raise CelError(f"{_shown(text)}: gives no truth value; write a condition")
    try:
        _, cost = program.evaluate({"managedCluster": AttachedMap(_BARE.as_mapping, lambda cluster, resource: None)})
    except CelRuntimeError as error:
        cost = error.cost
    return program, cost


def _shown(text: str) -> str:
    """So much of an expression that somebody finds it again."""
    return text if len(text) <= 200 else f"{text[:197]}..."


def _is_true(program: Program, values: Mapping[str, Any]) -> bool:
    try:
        return program.evaluate(values)[0] is True
    except CelRuntimeError:
        return False


def _scores(cluster: Any, name: str) -> list[dict[str, Any]]:
    found = cluster.attached(cluster["metadata"]["name"], name) if isinstance(cluster, AttachedMap) else None
    if found is None:
        raise EvaluationError(f"no scores {name}")
    return [dict(each) for each in found]


def _whole_number(text: str) -> int | float:
    number = int(text[:40])
    return number if INT_MIN <= number <= INT_MAX else float(text)


def _parsed(text: str) -> Any:
    try:
        return json.loads(text, parse_int=_whole_number)
    except (ValueError, RecursionError):
        raise EvaluationError("the text is not JSON") from None


_ENVIRONMENT = Environment(
    {"managedCluster": map_of(STRING, DYN)},
    [
        function("scores", ("managed_cluster_scores", "map<string, dyn>.(string) -> list<dyn>", _scores)),
        function("parseJSON", ("string_parse_json", "string.() -> dyn", _parsed)),
    ],
    longest=_LONGEST,
)

"""
What is wrong with a plugin class, told when it is registered, and what about it looks like a slip of the pen.

``registry`` refuses a class with a problem; ``profile`` warns of slips in the plugins that are in use.
"""

from __future__ import annotations

import inspect
from collections.abc import Iterator
from functools import cache
from types import CodeType, FunctionType
from typing import Any

from bayplan.framework.config.mistakes import did_you_mean
from bayplan.framework.plugin import (
    EXTENSION_POINTS,
    MAX_WEIGHT,
    Plugin,
    PreFilterExtensions,
    ScorePlugin,
)
from bayplan.objects import kinds
from bayplan.objects.kind import Kind
from bayplan.objects.mistakes import nearest

# What a class must define itself to take part in a point.  Filter and Score have two forms and their own check.
_METHODS: tuple[tuple[type[Plugin], tuple[str, ...]], ...] = (
    (EXTENSION_POINTS["pre_enqueue"], ("pre_enqueue",)),
    (EXTENSION_POINTS["queue_sort"], ("queue_key",)),
    (EXTENSION_POINTS["pre_filter"], ("pre_filter",)),
    (PreFilterExtensions, ("add_pod", "remove_pod")),
    (EXTENSION_POINTS["post_filter"], ("post_filter",)),
    (EXTENSION_POINTS["pre_score"], ("pre_score",)),
    (EXTENSION_POINTS["reserve"], ("reserve", "unreserve")),
    (EXTENSION_POINTS["permit"], ("permit",)),
    (EXTENSION_POINTS["pre_bind"], ("pre_bind",)),
    (EXTENSION_POINTS["bind"], ("bind",)),
    (EXTENSION_POINTS["post_bind"], ("post_bind",)),
)


_MAY_WAIT = ("background", "bind", "post_bind", "pre_bind")
"""The only methods that may be coroutines; ``background`` must be one."""


_FLAGS = ("allows_parallel", "binds_every_pod")
"""What is declared as true or false."""

_REPLACED = frozenset({
    "filter_depends", "score_depends", "signature", "signature_by_template", "sits_out", "sits_out_by_template",
    "sits_out_by_terms", "reserves",
})  # fmt: skip
"""What plugins declared before there was ``promise``."""


@cache
def _contract() -> dict[str, Any]:
    """Everything a plugin may define, by name."""
    bases = (Plugin, PreFilterExtensions, *EXTENSION_POINTS.values())
    return {name: value for base in bases for name, value in vars(base).items() if not name.startswith("_")}


def points_of(cls: type[Any]) -> tuple[str, ...]:
    """The extension points a plugin class takes part in, in the order a pod meets them."""
    return tuple(point for point, kind in EXTENSION_POINTS.items() if issubclass(cls, kind))


def problem_of(cls: object) -> str:
    """Why this cannot be a plugin; empty if it can."""
    if not isinstance(cls, type):
        return f"{cls!r} is not a class; name one that derives from FilterPlugin, ScorePlugin or the like"
    if not issubclass(cls, Plugin):
        return f"class {cls.__name__} is not a plugin; derive it from FilterPlugin, ScorePlugin or the like"
    name = getattr(cls, "name", None)
    if not isinstance(name, str) or not name:
        return f'class {cls.__name__} has no name; add the line name = "{cls.__name__}" to it'
    if not points_of(cls):
        return f"class {cls.__name__} takes part in no extension point; derive it from FilterPlugin or the like"
    missing = _missing_methods(cls)
    if missing:
        return f"class {cls.__name__} is abstract; define {', '.join(missing)}"
    wrong = _wrong_reads(cls.reads) or _wrong_weight(cls) or _wrong_flag(cls) or _wrong_form(cls)
    return f"class {cls.__name__}: {wrong}" if wrong else ""


def _wrong_reads(reads: object) -> str:
    if not isinstance(reads, tuple) or not all(isinstance(kind, str | Kind) for kind in reads):
        example = reads if isinstance(reads, str) else reads.called if isinstance(reads, Kind) else "Node"
        return f'reads is {reads!r}; write a tuple of kinds: reads = ("{example}",)'
    for kind in reads:
        if isinstance(kind, str) and not kinds.is_known(kind):
            known = (each.called for each in kinds.all_kinds())
            guess = did_you_mean(kind, known) or f'; write Kind("example.com", "v1", "{kind.rpartition("/")[2]}")'
            return f'reads names the kind "{kind}", which is not known{guess}'
    return ""


def _wrong_weight(cls: type[Plugin]) -> str:
    weight: object = cls.default_weight if issubclass(cls, ScorePlugin) else 1
    if not isinstance(weight, int) or isinstance(weight, bool) or weight < 1:
        return f"default_weight is {weight!r}; write a whole number of 1 or more"
    if weight > MAX_WEIGHT:
        return f"default_weight is {weight}; write at most {MAX_WEIGHT}"
    return ""


def _wrong_flag(cls: type[Plugin]) -> str:
    for name in _FLAGS:
        value: object = getattr(cls, name, False)
        if not isinstance(value, bool):
            return f"{name} is {value!r}; write True or False"
    return ""


def _wrong_form(cls: type[Plugin]) -> str:
    """What is called must answer at once, but for a few methods that are waited for."""
    contract = {name for kind in cls.__mro__ if kind.__module__ == Plugin.__module__ for name in vars(kind)}
    for name in sorted(contract & _contract().keys()):
        waits = inspect.iscoroutinefunction(getattr(cls, name))
        if waits and name not in _MAY_WAIT:
            return f"{name} is async; write def {name}: only {', '.join(_MAY_WAIT)} may be async"
        if wrong := _wrong_signature(cls, name):
            return wrong
    if not inspect.iscoroutinefunction(cls.background):
        return "background is not async; write async def background(self)"
    return ""


def _wrong_signature(cls: type[Plugin], name: str) -> str:
    """Whether a method takes what it will be called with."""
    contract = _contract()[name]
    own = next(vars(base)[name] for base in cls.__mro__ if name in vars(base))
    if own is contract or not inspect.isfunction(contract) or _takes_as_many(own, contract):
        return ""
    if not callable(getattr(cls, name)):
        return f"{name} is {own!r}; write a method: def {name}{inspect.signature(contract)}"
    wanted = list(inspect.signature(contract).parameters)
    given = wanted if inspect.isfunction(own) else wanted[1:]
    try:
        signature = inspect.signature(getattr(cls, name))
    except (TypeError, ValueError):
        return ""  # something that does not tell what it takes
    try:
        signature.bind(*given)
    except TypeError:
        return f"{name}{_bare(signature)} cannot be called; write def {name}({', '.join(wanted)})"
    return ""


def _takes_as_many(own: object, contract: FunctionType) -> bool:
    """The quick answer for most: plain functions with as many arguments."""
    code, wanted = getattr(own, "__code__", None), contract.__code__
    if not inspect.isfunction(own) or not isinstance(code, CodeType):
        return False
    return code.co_argcount == wanted.co_argcount and not code.co_kwonlyargcount


def _bare(signature: inspect.Signature) -> str:
    return f"({', '.join(signature.parameters)})"


def _missing_methods(cls: type[Plugin]) -> list[str]:
    abstract = sorted(getattr(cls, "__abstractmethods__", ())) if inspect.isabstract(cls) else []
    inherited = [
        method
        for kind, methods in _METHODS
        if issubclass(cls, kind)
        for method in methods
        if getattr(cls, method) is getattr(kind, method)
    ]
    return [*inherited, *(method for method in abstract if method not in inherited)]


# -- slips of the pen --


def slips(cls: type[Plugin]) -> Iterator[str]:
    """What a class defines that nobody will ever ask for, though it looks as if somebody should."""
    own = [base for base in cls.__mro__ if base.__module__ != Plugin.__module__ and base is not object]
    old = [name for name in sorted(_REPLACED) if any(name in vars(base) for base in own)]
    if old and cls.promise is Plugin.promise:
        yield f"nobody asks for {', '.join(old)} any more; write def promise(self, template), else it is always asked"
    used = {name for base in own for value in vars(base).values() for name in _names_in(value)}
    for name in dict.fromkeys(name for base in own for name in vars(base)):
        if name.startswith("_") or name in used or name in _REPLACED or hasattr(Plugin, name):
            continue
        if name in _contract():
            if not any(hasattr(base, name) for base in cls.__mro__ if base.__module__ == Plugin.__module__):
                base = next(base for base in EXTENSION_POINTS.values() if name in vars(base))
                yield f"nobody calls {name}, since the class is no {base.__name__}; add that to its bases"
            continue
        meant = nearest(name, [each for each in _contract() if not any(each in vars(base) for base in own)])
        if meant is not None:
            yield f'nobody asks for "{name}"; did you mean "{meant}"?'


def _names_in(value: object) -> Iterator[str]:
    """The names that the code of a function or property mentions."""
    for function in (value, *(getattr(value, part, None) for part in ("fget", "func", "__func__", "__wrapped__"))):
        code = getattr(function, "__code__", None)
        if isinstance(code, CodeType):
            yield from _names_of(code)


def _names_of(code: CodeType) -> Iterator[str]:
    yield from code.co_names
    for constant in code.co_consts:
        if isinstance(constant, CodeType):
            yield from _names_of(constant)

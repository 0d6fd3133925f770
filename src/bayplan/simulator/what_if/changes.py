"""
The changes that ``bayplan what-if`` plays: what each says, how it is written, and in which order they are played.

The command line makes them of options, ``reading`` of a file.  What they mean in a cluster is found out by
``checking``; ``scenario`` plays them.
"""

from __future__ import annotations

import re
from collections.abc import Iterable
from dataclasses import dataclass
from typing import Any, TypeAlias

from bayplan.errors import InputError
from bayplan.simulator.explain import subject
from bayplan.simulator.explain.subject import Subject


@dataclass(frozen=True, slots=True)
class Reconfigure:
    """Another configuration, or plugins beside it, for the scheduler."""

    config: str = ""
    plugins: tuple[str, ...] = ()

    def document(self) -> dict[str, Any]:
        return {
            **({"withConfig": self.config} if self.config else {}),
            **({"withPlugin": list(self.plugins)} if self.plugins else {}),
        }


@dataclass(frozen=True, slots=True)
class Add:
    """So many nodes more, like one that is there or as a file describes one."""

    count: int
    like: str = ""
    template: str = ""

    def document(self) -> dict[str, Any]:
        return {"add": self.count, **({"like": self.like} if self.like else {"nodeTemplate": self.template})}


@dataclass(frozen=True, slots=True)
class Delete:
    what: Subject
    text: str

    def document(self) -> dict[str, Any]:
        return {"delete": self.text}


@dataclass(frozen=True, slots=True)
class Apply:
    path: str

    def document(self) -> dict[str, Any]:
        return {"apply": self.path}


@dataclass(frozen=True, slots=True)
class Scale:
    what: Subject
    replicas: int
    text: str

    def document(self) -> dict[str, Any]:
        return {"scale": self.text}


@dataclass(frozen=True, slots=True)
class Remove:
    """Nodes that are gone at once: one by its name, or those that a selector finds."""

    which: str

    def document(self) -> dict[str, Any]:
        return {"remove": self.which}


@dataclass(frozen=True, slots=True)
class Drain:
    node: str

    def document(self) -> dict[str, Any]:
        return {"drain": self.node}


Change: TypeAlias = Reconfigure | Add | Delete | Apply | Scale | Remove | Drain
ORDER = (Reconfigure, Add, Delete, Apply, Scale, Remove, Drain)
"""In which order changes are played, in whichever they were written."""


def in_order(changes: Iterable[Change]) -> list[Change]:
    return sorted(changes, key=lambda each: ORDER.index(type(each)))


# -- as they are written --

_WHOLE = re.compile(r"-?[0-9]{1,20}")


def read_scale(text: str, field: str) -> Scale:
    """``deploy/web=20``."""
    what, equals, number = text.rpartition("=")
    if not equals or not _WHOLE.fullmatch(number.strip()):
        raise InputError(f'"{text}" is not a size of a workload', field=field, fix="write one such as deploy/web=20")
    return Scale(read_subject(what, field), at_least(int(number), 0, field, text), text)


def read_delete(text: str, field: str) -> Delete:
    """``deploy/web``, ``pod/NAMESPACE/NAME``, ``pdb/web``."""
    return Delete(read_subject(text, field), text)


def read_add(count: int, like: str, template: str, field: str) -> Add:
    if bool(like) == bool(template):
        both = "like a node and as a file has it" if like else "nothing says what the nodes are like"
        raise InputError(both, field=field, fix="write --like NODE or --node-template FILE, one for each --add")
    return Add(at_least(count, 1, field, str(count)), like, template)


def read_remove(text: str, field: str) -> Remove:
    if not text.strip():
        raise InputError(
            "an empty selector would remove every node", field=field, fix="write a node, or such as zone=a"
        )
    return Remove(text)


def at_least(number: int, least: int, field: str, text: str) -> int:
    if number < least:
        raise InputError(f'"{text}" is too few', field=field, fix=f"write at least {least}")
    return number


_OTHER_KINDS = {
    "pdb": "PodDisruptionBudget",
    "poddisruptionbudget": "PodDisruptionBudget",
    "svc": "Service",
    "service": "Service",
    "workloadpolicy": "WorkloadPolicy",
}
"""What else can be deleted, beside pods and workloads."""


def read_subject(text: str, field: str) -> Subject:
    """``deploy/web``, ``deploy/shop/web``, ``pdb/web``."""
    word, slash, rest = text.partition("/")
    kind = _OTHER_KINDS.get(word.lower().removesuffix("s") if word.lower().endswith("ts") else word.lower())
    if not slash or (kind is None and subject.kind_of(word) is None):
        near = subject.kind_near(word) if slash else None
        hint = f"; did you mean {near.lower()}/{rest}?" if near else ""
        problem = f'"{text}" does not name a workload, a pod or a budget{hint}'
        raise InputError(problem, field=field, fix="write KIND/NAME or KIND/NAMESPACE/NAME, such as deploy/web")
    if kind is not None:
        space, _, name = rest.rpartition("/")
        return Subject(kind, space, name)
    try:
        return subject.read([text])
    except InputError as error:
        raise InputError(error.problem, field=field, fix=error.fix) from None

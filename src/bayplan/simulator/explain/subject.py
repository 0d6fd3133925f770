"""
What ``bayplan explain`` is asked about: one pod, or all pods of a workload; and what to say if there is no such thing.

The command line reads a ``Subject`` from what was typed, ``world`` asks it which pods are meant, ``outcomes`` and
``explanation`` look them up.
"""

from __future__ import annotations

from collections.abc import Collection, Iterable, Sequence
from typing import NamedTuple, Protocol

from bayplan.errors import InputError
from bayplan.framework.config.mistakes import did_you_mean
from bayplan.objects import kinds
from bayplan.objects.mistakes import nearest
from bayplan.objects.pod import Pod

POD = "Pod"
WORKLOADS = (
    "Deployment", "StatefulSet", "DaemonSet", "ReplicaSet", "ReplicationController", "Job", "CronJob",
    "VirtualMachine", "VirtualMachineInstance",
)  # fmt: skip
SHORT_NAMES = {
    "po": POD, "deploy": "Deployment", "sts": "StatefulSet", "ds": "DaemonSet", "rs": "ReplicaSet",
    "rc": "ReplicationController", "cj": "CronJob", "vm": "VirtualMachine", "vms": "VirtualMachine",
    "vmi": "VirtualMachineInstance", "vmis": "VirtualMachineInstance",
}  # fmt: skip
"""As kubectl has them."""

FIX = "write pod/NAME, deployment/NAME or another workload, or NAMESPACE/POD"


class Owners(Protocol):
    """Knows who looks after a pod: ``Workloads``."""

    def owners(self, pod: Pod) -> list[tuple[str, str]]: ...


class Subject(NamedTuple):
    """Kind, namespace and name; the namespace is "" until it is known."""

    kind: str
    namespace: str
    name: str

    def __str__(self) -> str:
        return f"{self.kind} {self.namespace}/{self.name}"

    def covers(self, pod: Pod, workloads: Owners) -> bool:
        """Whether it is about this pod."""
        if pod.namespace != self.namespace:
            return False
        return pod.name == self.name if self.kind == POD else self._owned(workloads.owners(pod))

    def _owned(self, owners: Iterable[tuple[str, str]]) -> bool:
        # A kind that is not known here stays as it was typed.
        return any(name == self.name and kind.lower() == self.kind.lower() for kind, name in owners)


def read(words: Sequence[str]) -> Subject:
    """``pod NAME``, ``deploy/NAME``, ``sts NAMESPACE/NAME``, ``NAMESPACE/POD`` or ``POD``."""
    parts = [part for word in words for part in word.split("/")]
    if len(words) > 2 or not 1 <= len(parts) <= 3 or not all(parts) or any(" " in part for part in parts):
        raise InputError(f'"{" ".join(words)}" does not name a pod or a workload', fix=FIX)
    kind = kind_of(parts[0])
    if kind is None and (len(parts) == 3 or (len(words) == 2 and "/" not in words[0])):
        kind = parts[0]
    rest = parts if kind is None else parts[1:]
    if not rest or len(rest) > 2:
        raise InputError(f'"{" ".join(words)}" does not name a pod or a workload', fix=FIX)
    return Subject(kind or POD, "" if len(rest) == 1 else rest[0], rest[-1])


def kind_of(word: str) -> str | None:
    """The kind that a word stands for: its name, its plural, a short form, ``deployments.apps``; None for others."""
    lower = word.lower()
    if lower in SHORT_NAMES:
        return SHORT_NAMES[lower]
    for kind in kinds.all_kinds():
        if kind.name in (POD, *WORKLOADS):
            forms = (kind.name.lower(), kind.plural)
            if lower in forms or lower in [f"{form}.{kind.group}" for form in forms]:
                return kind.name
    return None


def missing(subject: Subject, known: Collection[Subject]) -> InputError:
    """There is no such thing; what was probably meant is among what is known."""
    # A scheduler does not read workloads, so of those without pods live clusters and snapshots know nothing.
    what = f'pod "{subject.name}"' if subject.kind == POD else f'{subject.kind} "{subject.name}" with pods'
    problem = f'there is no {what} in namespace "{subject.namespace}"'
    return InputError(f"{problem}{_hint(subject, known)}")


def _hint(subject: Subject, known: Collection[Subject]) -> str:
    kind, namespace, name = subject
    no_namespace = _no_namespace(subject, known)
    if no_namespace:
        return no_namespace
    others = [each for each in known if each.namespace == namespace and each.name == name]
    if others:
        return f"; there is a {others[0].kind} of that name: write {others[0].kind.lower()}/{name}"
    alike = [each for each in known if each.kind == kind]
    elsewhere = list(dict.fromkeys(each.namespace for each in alike if each.name == name))
    if elsewhere:
        return f"; there is one in {', '.join(elsewhere)}: add -n {elsewhere[0]}"
    if kind not in (POD, *WORKLOADS):
        return did_you_mean(kind, [POD, *WORKLOADS]) or f"; nothing here is looked after by a {kind}"
    here = [each.name for each in alike if each.namespace == namespace]
    near = nearest(name, here) or next((each for each in here if each.startswith(f"{name}-")), None)
    if near is not None:
        return f'; did you mean "{near}"?'
    return _nearby(subject, known)


def _no_namespace(subject: Subject, known: Collection[Subject]) -> str:
    """What was taken for a namespace may have been meant as a kind."""
    kind, word, name = subject
    if kind != POD or any(each.namespace == word for each in known):
        return ""
    meant = kind_near(word)
    if meant is not None and any((each.kind, each.name) == (meant, name) for each in known):
        return f'; did you mean "{meant.lower()}/{name}"?'
    if any(word.lower() in (each.name.lower(), each.plural) for each in kinds.all_kinds()):
        return f"; {word} is neither a pod nor a workload: {FIX}"
    return ""


def _nearby(subject: Subject, known: Collection[Subject]) -> str:
    """Something near in another namespace, or of another kind."""
    spaces = {each.namespace for each in known}
    if subject.namespace not in spaces:
        guess = nearest(subject.namespace, spaces)
        return f"; nothing is in that namespace{f', did you mean -n {guess}?' if guess else ''}"
    by_name = {each.name: each for each in known if each.kind == subject.kind or each.namespace == subject.namespace}
    near = nearest(subject.name, by_name)
    if near is None:
        return ""
    found = by_name[near]
    where = "" if found.namespace == subject.namespace else f" -n {found.namespace}"
    return f'; did you mean "{found.kind.lower()}/{near}"{where}?'


def kind_near(word: str) -> str | None:
    """The kind that was probably meant by a word with a mistake in it."""
    forms = {form: name for name in (POD, *WORKLOADS) for form in (name.lower(), f"{name.lower()}s")}
    guess = nearest(word, [*forms, *SHORT_NAMES])
    return None if guess is None else forms.get(guess) or SHORT_NAMES[guess]

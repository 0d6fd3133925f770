"""Documents from files to objects as a cluster would hold them: decode, check, fill in.

The command line calls `load` on what `manifests.read` found. All mistakes of all files are reported together.
"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Collection, Iterable, Iterator
from dataclasses import dataclass, field
from hashlib import sha256

from msgspec.structs import replace

from bayplan.errors import InputError, InputErrors
from bayplan.objects import kinds, policy
from bayplan.objects.admission import api_fields, created, defaulting, own_keys, validating
from bayplan.objects.files.manifests import Document
from bayplan.objects.meta import ApiObject
from bayplan.objects.third_party.kosmos_noticing import notes
from bayplan.objects.third_party.placement_noticing import notes as placement_notes


@dataclass(frozen=True, slots=True)
class Loaded:
    """What the files hold: objects ready to use, and the documents of kinds that are not known here."""

    objects: list[ApiObject] = field(default_factory=list)
    strangers: list[Document] = field(default_factory=list)
    warnings: list[str] = field(default_factory=list)
    """What is accepted, and still not written as it should be."""

    @property
    def note(self) -> str:
        """One line about the kinds that were passed over, or "" if there were none."""
        counted = Counter(f"{each.api_version} {each.kind}" for each in self.strangers)
        named = ", ".join(f"{name} ({count})" for name, count in sorted(counted.items()))
        return f"not needed and left out: {named}" if named else ""


def load(
    documents: Iterable[Document],
    *,
    with_namespaces: bool = True,
    strict: bool = True,
    reads: Collection[str] = (),
) -> Loaded:
    """Objects as an API server would store them; namespaces that are only mentioned are added at the end.

    `reads` are the kinds that plugins read; of those without a class, all others are left out.

    `strict` is for what people write: fields that no API server knows are misspelt, and a pod has containers.
    Raises InputError for one mistake, InputErrors for more.
    """
    loaded = Loaded()
    mistakes: list[InputError] = []
    decoded = [*_decode(documents, loaded, mistakes, strict, reads)]
    told = {(each.source, each.line, each.object) for each in mistakes}
    for document, thing in decoded:
        found = [_located(each, document) for each in validating.check_object(thing)]
        if strict and not found and not _is_from_server(document) and _place(document) not in told:
            found = [_located(each, document) for each in created.check_created(thing)]
        mistakes.extend(found)
        place = ": ".join(filter(None, (document.place, kinds.describe(document.raw))))
        loaded.warnings.extend(f"{place}: {note}" for note in (*notes(thing), *placement_notes(thing)))
    mistakes.extend(_second_defaults(decoded))
    mistakes.extend(_shared_uids(decoded))
    if not mistakes:
        _fill_in(decoded, loaded.objects, mistakes)
    if len(mistakes) == 1:
        raise mistakes[0]
    if mistakes:
        raise InputErrors(mistakes)
    if with_namespaces:
        loaded.objects.extend(defaulting.implied_namespaces(loaded.objects))
    return loaded


_INDEX = re.compile(r"\[\d+\]")
_Decoded = list[tuple[Document, ApiObject]]


def _decode(
    documents: Iterable[Document],
    loaded: Loaded,
    mistakes: list[InputError],
    strict: bool,
    reads: Collection[str],
) -> Iterator[tuple[Document, ApiObject]]:
    noticed: set[str] = set()
    for order, document in enumerate(documents):
        try:
            kind = kinds.check_type(document.raw)
            if kind is None or (kind.is_plain and kind.called not in reads):
                loaded.strangers.append(document)
                loaded.warnings.extend(_taken_for_another(document, reads))
                continue
            if strict:
                _check_as_written(kind, document, loaded.warnings, mistakes, noticed)
            yield document, _named(kinds.convert(document.raw, kind.struct), order)
        except InputError as error:
            mistakes.append(_located(error, document))


def _taken_for_another(document: Document, reads: Collection[str]) -> Iterator[str]:
    """A stranger by the name of a kind that a plugin reads."""
    if document.kind in reads:
        meant = kinds.named(document.kind).api_version
        yield (
            f"{document}: left out: plugins read the {document.kind} of {meant}; "
            f"write apiVersion: {meant} if that is what it is"
        )


def _check_as_written(
    kind: kinds.Kind, document: Document, warnings: list[str], mistakes: list[InputError], noticed: set[str]
) -> None:
    unknown = api_fields.check_fields(kind.name, document.raw) if api_fields.knows(kind) else []
    if not _is_from_server(document):
        found = unknown or api_fields.check_containers(kind.name, document.raw)
        found += own_keys.check_own_keys(kind.name, document.raw)
        mistakes.extend(_located(each, document) for each in found)
        return
    # A server drops what it does not know, so it knew these: it is newer, or the file was edited.  One line for each.
    for each in (*unknown, *own_keys.check_own_keys(kind.name, document.raw)):
        place = f"{kind.name}.{_INDEX.sub('[]', each.field)}"
        if place not in noticed:
            noticed.add(place)
            told = InputError(f"{each.problem}, not taken into account", field=each.field, fix=each.fix)
            warnings.append(str(_located(told, document)))


def _is_from_server(document: Document) -> bool:
    """Does it come from a cluster, as `kubectl get` shows it?"""
    return bool(document.meta.get("uid"))


def _named(thing: ApiObject, order: int) -> ApiObject:
    """With a name where only generateName is given; the same one in every run."""
    meta = thing.metadata
    if meta.name or not meta.generate_name:
        return thing
    suffix = sha256(f"{meta.namespace}/{meta.generate_name}/{order}".encode()).hexdigest()[:5]
    return replace(thing, metadata=replace(meta, name=f"{meta.generate_name}{suffix}"))


def _fill_in(decoded: _Decoded, objects: list[ApiObject], mistakes: list[InputError]) -> None:
    classes = defaulting.Classes.among(thing for _, thing in decoded)
    for document, thing in decoded:
        try:
            objects.append(defaulting.default_object(thing, classes))
        except InputError as error:
            mistakes.append(_located(error, document))


def _second_defaults(decoded: _Decoded) -> Iterator[InputError]:
    """Only one PriorityClass can be the one for pods that name none."""
    first: str | None = None
    for document, thing in decoded:
        if isinstance(thing, policy.PriorityClass) and thing.global_default:
            if first is not None:
                problem = f'"{first}" is the default already'
                yield _located(InputError(problem, field="globalDefault", fix="write false here or there"), document)
            first = first or thing.name


def _shared_uids(decoded: _Decoded) -> Iterator[InputError]:
    """A uid is one object's alone, whatever its kind; the same object at several moments keeps it."""
    first: dict[str, tuple[tuple[str, str, str], Document]] = {}
    for document, thing in decoded:
        if not thing.uid:
            continue
        whose = (document.kind, thing.namespace, thing.name)
        owner, before = first.setdefault(thing.uid, (whose, document))
        if owner != whose:
            problem = (
                f'"{thing.uid}" is the uid of {kinds.describe(before.raw)} at {before.place or "the input"} already'
            )
            yield _located(InputError(problem, field="metadata.uid", fix="remove it here"), document)


def _place(document: Document) -> tuple[str, int, str]:
    return document.source, document.line, kinds.describe(document.raw)


def _located(error: InputError, document: Document) -> InputError:
    return error.located(document.source, document.line, kinds.describe(document.raw))

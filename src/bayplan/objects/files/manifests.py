"""Reads what `-f` names: files, folders, standard input; YAML streams, JSON, and lists of objects.

The command line calls `read`; `loading` then makes objects of the documents. Nothing here knows what the
objects mean, only where each one stands, so that a mistake can be pointed at.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from bayplan.errors import InputError, InputErrors
from bayplan.objects import kinds
from bayplan.objects.files import file_reading, json_reading, yaml_reading
from bayplan.objects.files.file_finding import expand
from bayplan.objects.files.file_reading import STDIN

AT = "simulation.bayplan.io/at"
"""An annotation: in a simulation the object is so from this moment on, such as "5m"."""
UNTIL = "simulation.bayplan.io/until"
"""An annotation: in a simulation the object is deleted at this moment."""
LEFT_OUT = "bayplan.io/annotations-left-out"
"""An annotation of a List: names of annotations that its objects had, and have no more."""


@dataclass(frozen=True, slots=True)
class Document:
    """One object as it was written, and where."""

    source: str
    line: int
    raw: dict[str, Any]
    left_out: tuple[str, ...] = ()
    """Names of annotations that the objects of its List had, and have no more."""

    @property
    def kind(self) -> str:
        return str(self.raw.get("kind", ""))

    @property
    def api_version(self) -> str:
        return str(self.raw.get("apiVersion", ""))

    @property
    def meta(self) -> dict[str, Any]:
        """Its metadata; empty where something else is written there, which decoding will tell."""
        meta = self.raw.get("metadata")
        return meta if isinstance(meta, dict) else {}

    @property
    def annotations(self) -> dict[str, object]:
        """As they are written; whether they are text is found out later."""
        annotations = self.meta.get("annotations")
        return annotations if isinstance(annotations, dict) else {}

    @property
    def moment(self) -> object:
        """What it says of the moment from which it holds; None for the start."""
        return self.annotations.get(AT)

    @property
    def place(self) -> str:
        return f"{self.source}:{self.line}" if self.line else self.source

    def __str__(self) -> str:
        return f"{self.place}: {kinds.describe(self.raw)}"


def read(
    inputs: Sequence[str | Path],
    *,
    recursive: bool = False,
    stdin: bytes | None = None,
    warn: Callable[[str], None] = lambda warning: None,
) -> list[Document]:
    """Every object of every input, in order; `stdin` stands in for standard input, `warn` hears what is left out.

    Raises InputError (or InputErrors, one for each file that cannot be read or object that occurs twice).
    """
    found: list[Document] = []
    mistakes: list[InputError] = []
    if [str(each) for each in inputs].count(STDIN) > 1:
        raise InputError("standard input can be read only once", field="-f", fix="write -f - once")
    for name, must_hold_something in expand(inputs, recursive, mistakes, warn):
        try:
            before = len(found)
            found.extend(_read_one(name, stdin))
            if must_hold_something and len(found) == before:
                raise InputError(
                    "holds no objects", source=file_reading.shown(name), fix="give a file with at least one object"
                )
        except InputError as error:
            mistakes.append(error)
    mistakes.extend(repeated(found))
    _raise(mistakes)
    return found


def _raise(mistakes: list[InputError]) -> None:
    if len(mistakes) == 1:
        raise mistakes[0]
    if mistakes:
        raise InputErrors(mistakes)


def _read_one(name: str, stdin: bytes | None) -> Iterator[Document]:
    source = file_reading.shown(name)
    text = file_reading.text_of(name, stdin=stdin)
    found = json_reading.documents(text, source)
    for each in found or _yaml(text, source):
        # It is not known on which line of its only list an object stands.
        line = 0 if found and len(found) == 1 and _is_list(each.value) else each.line
        yield from _flatten(each.value, source, line, each.item_lines)


def _yaml(text: str, source: str) -> Iterator[yaml_reading.YamlDocument]:
    """The text as YAML; what is broken in a file that is called JSON is told in terms of that."""
    try:
        yield from yaml_reading.documents(text, source)
    except InputError:
        if source.endswith(".json"):
            json_reading.check(text, source)
        raise


def _is_list(raw: dict[str, Any]) -> bool:
    kind = raw.get("kind")
    return isinstance(kind, str) and kind.endswith("List") and ("items" in raw or kind == "List")


def _flatten(
    raw: Any, source: str, line: int, item_lines: tuple[int, ...] = (), left_out: tuple[str, ...] = ()
) -> Iterator[Document]:
    if not isinstance(raw, dict):
        what = "null" if raw is None else "a list" if isinstance(raw, list) else f'"{str(raw)[:40]}"'
        raise InputError(
            f"expected an object, found {what}",
            source=source,
            line=line,
            fix="begin with apiVersion, kind and metadata",
        )
    if not _is_list(raw):
        yield Document(source, line, raw, left_out)
        return
    items = raw.get("items") or []
    if not isinstance(items, list):
        raise InputError("items must be a list", source=source, line=line, fix='begin each object with "- "')
    left_out = _left_out(raw) or left_out
    for index, item in enumerate(items):
        at = item_lines[index] if index < len(item_lines) else line
        if isinstance(item, dict) and raw["kind"] != "List" and "kind" not in item:
            item = {"apiVersion": raw.get("apiVersion"), "kind": raw["kind"].removesuffix("List"), **item}
        yield from _flatten(item, source, at, left_out=left_out)


def _left_out(raw: dict[str, Any]) -> tuple[str, ...]:
    meta = raw.get("metadata")
    annotations = meta.get("annotations") if isinstance(meta, dict) else None
    names = annotations.get(LEFT_OUT) if isinstance(annotations, dict) else None
    return tuple(name.strip() for name in names.split(",")) if isinstance(names, str) else ()


def repeated(found: Iterable[Document]) -> Iterator[InputError]:
    """A mistake for every object that was there before."""
    first: dict[tuple[str, ...], Document] = {}
    for document in found:
        key = _identity(document)
        if key is None:
            continue
        before = first.setdefault(key, document)
        if before is not document:
            yield InputError(
                f"this object is already at {before.place}",
                source=document.source,
                line=document.line,
                object=kinds.describe(document.raw),
                fix="remove one of the two or give it another name",
            )


def _identity(document: Document) -> tuple[str, ...] | None:
    """Objects that change in the course of time have a document for every moment."""
    meta = document.meta
    if not isinstance(meta.get("name"), str):
        return None
    known = kinds.find(document.api_version, document.kind)
    namespace = meta.get("namespace") or ("default" if known is None or known.namespaced else "")
    group = document.api_version.rpartition("/")[0]
    return group, document.kind, str(namespace), meta["name"], str(document.moment)

"""Reads what `-f` names: files, folders, standard input; YAML streams, JSON, and lists of objects.

The command line calls `read`; `loading` then makes objects of the documents. Nothing here knows what the
objects mean, only where each one stands, so that a mistake can be pointed at.
"""

from __future__ import annotations

import errno
import json
import os
import sys
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import msgspec

from bayplan.errors import InputError, InputErrors
from bayplan.objects import kinds, yaml_reading

STDIN = "-"
_SUFFIXES = (".yaml", ".yml", ".json")
_FIXES = {
    errno.EACCES: "check its permissions",
    errno.EPERM: "check its permissions",
    errno.ELOOP: "the link leads back to itself: give the file itself",
}
_FIX = "give another file"

AT = "simulation.bayplan.io/at"
"""An annotation: in a simulation the object is so from this moment on, such as "5m"."""
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
        """Its metadata; empty where something else is written there, which whoever decodes it will tell."""
        meta = self.raw.get("metadata")
        return meta if isinstance(meta, dict) else {}

    @property
    def moment(self) -> object:
        """What it says of the moment from which it holds; None for the start."""
        annotations = self.meta.get("annotations")
        return annotations.get(AT) if isinstance(annotations, dict) else None

    @property
    def place(self) -> str:
        return f"{self.source}:{self.line}" if self.line else self.source

    def __str__(self) -> str:
        return f"{self.place}: {kinds.describe(self.raw)}"


def read(inputs: Sequence[str | Path], *, recursive: bool = False, stdin: bytes | None = None) -> list[Document]:
    """Every object of every input, in order; `stdin` stands in for standard input.

    Raises InputError (or InputErrors, one for each file that cannot be read or object that occurs twice).
    """
    found: list[Document] = []
    mistakes: list[InputError] = []
    if [str(each) for each in inputs].count(STDIN) > 1:
        raise InputError("standard input can be read only once", field="-f", fix="write -f - once")
    for name, must_hold_something in _expand(inputs, recursive, mistakes):
        try:
            before = len(found)
            found.extend(_read_one(name, stdin))
            if must_hold_something and len(found) == before:
                raise InputError("holds no objects", source=_shown(name), fix="give a file with at least one object")
        except InputError as error:
            mistakes.append(error)
    mistakes.extend(_repeated(found))
    _raise(mistakes)
    return found


def _raise(mistakes: list[InputError]) -> None:
    if len(mistakes) == 1:
        raise mistakes[0]
    if mistakes:
        raise InputErrors(mistakes)


def _expand(inputs: Iterable[str | Path], recursive: bool, mistakes: list[InputError]) -> Iterator[tuple[str, bool]]:
    """(file, whether it was named itself) for every input; a file found in a folder may be empty."""
    for given in inputs:
        name = str(given)
        if not name:
            mistakes.append(InputError("an empty path", field="-f", fix="name a file, a folder or -"))
        elif name != STDIN and name.startswith(("http://", "https://")):
            mistakes.append(
                InputError("web addresses are not read", source=name, fix="download it first and give the file")
            )
        elif name != STDIN and os.path.isdir(name):
            files = _files_in(Path(name), recursive)
            if not files:
                hint = "" if recursive else ", or add -R to look into its folders"
                problem = "no .yaml, .yml or .json file in this folder"
                mistakes.append(InputError(problem, source=name, fix=f"give another one{hint}"))
            yield from ((str(file), False) for file in files)
        else:
            yield name, True


def _files_in(folder: Path, recursive: bool) -> list[Path]:
    entries = folder.rglob("*") if recursive else folder.iterdir()
    return sorted(each for each in entries if each.suffix in _SUFFIXES and each.is_file())


def _shown(name: str) -> str:
    return "standard input" if name == STDIN else name


def _read_one(name: str, stdin: bytes | None) -> Iterator[Document]:
    source = _shown(name)
    text = _text(name, source, stdin)
    for each in _json(text) or _yaml(text, source):
        yield from _flatten(each.value, source, each.line, each.item_lines)


def _yaml(text: str, source: str) -> Iterator[yaml_reading.YamlDocument]:
    """The text as YAML; what is broken in a file that is called JSON is told in terms of that."""
    try:
        yield from yaml_reading.documents(text, source)
    except InputError:
        if source.endswith(".json"):
            _check_json(text, source)
        raise


def _check_json(text: str, source: str) -> None:
    try:
        json.loads(text)
    except json.JSONDecodeError as error:
        problem = f"this is not JSON: {error.msg[:1].lower()}{error.msg[1:]}"
        fix = "check the commas, quotes and brackets there"
        raise InputError(problem, source=source, line=error.lineno, fix=fix) from None


def _text(name: str, source: str, stdin: bytes | None) -> str:
    try:
        if name == STDIN:
            content = _standard_input() if stdin is None else stdin
        else:
            content = Path(name).read_bytes()
        return content.decode("utf-8-sig")
    except FileNotFoundError:
        raise InputError("no such file or folder", source=source, fix="check the path") from None
    except UnicodeDecodeError as error:
        line = error.object.count(b"\n", 0, error.start) + 1
        raise InputError("this is not UTF-8 text", source=source, line=line, fix="save the file as UTF-8") from None
    except OSError as error:
        raise InputError(
            f"cannot be read: {error.strerror}", source=source, fix=_FIXES.get(error.errno or 0, _FIX)
        ) from None


def _standard_input() -> bytes:
    # Python has no stdin, whatever its type says, in a process that was started without one.
    if sys.stdin is None:
        raise InputError("is closed", source=_shown(STDIN), fix="send objects through a pipe or name a file")
    return sys.stdin.buffer.read()


def _json(text: str) -> list[yaml_reading.YamlDocument] | None:
    """The text as JSON objects, one after the other. Broken JSON is left to YAML, which knows lines."""
    if text.lstrip()[:1] != "{":
        return None
    try:
        value = msgspec.json.decode(text)
        return [yaml_reading.YamlDocument(0 if _is_list(value) else 1, value)]
    except msgspec.DecodeError:
        return _json_stream(text)


def _json_stream(text: str) -> list[yaml_reading.YamlDocument] | None:
    found: list[yaml_reading.YamlDocument] = []
    decoder, at = json.JSONDecoder(), 0
    try:
        while rest := text[at:].lstrip():
            at = len(text) - len(rest)
            value, end = decoder.raw_decode(text, at)
            found.append(yaml_reading.YamlDocument(text.count("\n", 0, at) + 1, value))
            at = end
    except json.JSONDecodeError:
        return None
    return found


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


def _repeated(found: Iterable[Document]) -> Iterator[InputError]:
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

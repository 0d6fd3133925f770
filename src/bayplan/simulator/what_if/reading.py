"""
Changes from a file, and the files that changes name.

``bayplan what-if --changes FILE`` has a list of changes, written as the document ``kind: WhatIf`` shows them, so that
the ``changes`` of one answer are the question of another.
"""

from __future__ import annotations

import copy
from collections.abc import Iterable, Iterator, Sequence
from pathlib import Path
from typing import Any

import yaml
from msgspec.structs import replace

from bayplan.errors import InputError
from bayplan.objects import kinds
from bayplan.objects.files import file_reading, manifests
from bayplan.objects.files.manifests import AT, Document
from bayplan.objects.meta import ApiObject
from bayplan.objects.mistakes import nearest
from bayplan.objects.node import Node
from bayplan.objects.workload import Scalable
from bayplan.plugins.plugin_set import Plugins
from bayplan.simulator import loading
from bayplan.simulator.loading import Given
from bayplan.simulator.what_if.changes import (
    Apply,
    Change,
    Drain,
    Reconfigure,
    read_add,
    read_delete,
    read_remove,
    read_scale,
)
from bayplan.simulator.what_if.chosen_workloads import resized

_KEYS = {
    "drain": ("drain",),
    "remove": ("remove",),
    "add": ("add", "like", "nodeTemplate"),
    "scale": ("scale",),
    "apply": ("apply",),
    "delete": ("delete",),
    "withConfig": ("withConfig", "withPlugin"),
    "withPlugin": ("withConfig", "withPlugin"),
}
"""What an entry begins with, and what may stand in it."""

MOMENT = "1s"
"""What marks an object that is applied, while everything is read together."""


def changes_of(path: str) -> list[Change]:
    """The list in a file; it may stand under ``changes``, as in the document of an earlier run."""
    source = file_reading.shown(path)
    try:
        found = yaml.safe_load(file_reading.text_of(path))
    except yaml.YAMLError as error:
        raise InputError(f"is not YAML: {error}", source=source, fix="write a list of changes") from None
    entries = found.get("changes") if isinstance(found, dict) else found
    if not isinstance(entries, list) or not entries:
        raise InputError("holds no list of changes", source=source, fix="write such as - drain: node-1")
    try:
        return [_change(entry, f"changes[{number}]") for number, entry in enumerate(entries)]
    except InputError as error:
        raise error.located(source) from None


def _change(entry: Any, field: str) -> Change:
    fix = f"write one of {', '.join(_KEYS)}"
    if not isinstance(entry, dict) or not entry:
        raise InputError("is not a change", field=field, fix=fix)
    kind = next((key for key in entry if key in _KEYS), None)
    strangers = [str(key) for key in entry if kind is None or key not in _KEYS[kind]]
    if kind is None or strangers:
        near = nearest(strangers[0], _KEYS)
        raise InputError(f'"{strangers[0]}" is not known here', field=field, fix=f"write {near}" if near else fix)
    for key, value in entry.items():
        wanted: type | tuple[type, ...] = int if key == "add" else (str, list) if key == "withPlugin" else str
        if not isinstance(value, wanted) or isinstance(value, bool):
            raise InputError(f"{value!r} is no {'number' if key == 'add' else 'text'}", field=f"{field}.{key}")
    return _made(kind, entry, f"{field}.{kind}")


def _made(kind: str, entry: dict[str, Any], field: str) -> Change:
    match kind:
        case "drain":
            return Drain(entry["drain"])
        case "remove":
            return read_remove(entry["remove"], field)
        case "add":
            return read_add(entry["add"], entry.get("like", ""), entry.get("nodeTemplate", ""), field)
        case "scale":
            return read_scale(entry["scale"], field)
        case "apply":
            return Apply(entry["apply"])
        case "delete":
            return read_delete(entry["delete"], field)
    plugins = entry.get("withPlugin", [])
    return Reconfigure(entry.get("withConfig", ""), (plugins,) if isinstance(plugins, str) else tuple(plugins))


# -- the files that changes name --


def applied(changes: Iterable[Change]) -> list[Document]:
    """The objects to apply, marked as coming later: so they are judged together with what is there."""
    documents = manifests.read([each.path for each in changes if isinstance(each, Apply)])
    return [_marked(each) for each in documents]


def _marked(document: Document) -> Document:
    if document.moment is not None:
        fix = "leave the annotation out: what is applied comes at once"
        wrong = InputError("has no place in what-if", field=f"metadata.annotations[{AT}]", fix=fix)
        raise wrong.located(document.source, document.line, kinds.describe(document.raw))
    raw = copy.deepcopy(document.raw)
    meta = raw.get("metadata")
    if isinstance(meta, dict) and isinstance(meta.get("annotations") or {}, dict):
        meta["annotations"] = {**(meta.get("annotations") or {}), AT: MOMENT}
    return Document(document.source, document.line, raw)


def coming(given: Given) -> list[ApiObject]:
    """The objects to apply, as an API server would store them."""
    there = (each for each in given.objects if isinstance(each, Scalable))
    sizes = {(kinds.kind_of(each), each.key): each.spec.replicas for each in there}
    return [_unmarked(_sized(each, given, sizes.get((kinds.kind_of(each), each.key)))) for _, each in given.later]


def _sized(thing: ApiObject, given: Given, size: int | None) -> ApiObject:
    """A file that says nothing of the size leaves it as it is, as ``kubectl apply`` does."""
    document = given.place(thing)
    if size is None or document is None or not isinstance(thing, Scalable):
        return thing
    return thing if "replicas" in document.raw["spec"] else resized(thing, size)


def _unmarked(thing: ApiObject) -> ApiObject:
    kept = {name: text for name, text in thing.annotations.items() if name != AT}
    plain: ApiObject = thing.evolve(metadata=replace(thing.metadata, annotations=kept or None))
    return plain


def refuse_timetables(documents: Iterable[Document], applied: Sequence[Document] = ()) -> None:
    """Before anything is asked of a cluster it must stand still."""
    own = {id(each) for each in applied}
    for each in documents:
        for name in (AT, manifests.UNTIL) if id(each) not in own else (manifests.UNTIL,):
            if name in each.annotations:
                problem = "objects that come or go later have no place here"
                wrong = InputError(problem, field=f"metadata.annotations[{name}]", fix="leave the annotation out")
                raise wrong.located(each.source, each.line, kinds.describe(each.raw))


def node_template(path: str, plugins: Plugins) -> Node:
    """The one node that a file describes."""
    documents = list(_named(manifests.read([path]), path))
    listed = list(dict.fromkeys(each.kind or "no kind" for each in documents))
    if len(documents) != 1 or documents[0].kind != "Node":
        found = ", ".join(listed)
        problem = (
            f"expected one Node, found {len(documents)} objects: {found}" if len(documents) > 1 else f"is a {found}"
        )
        raise InputError(problem, source=str(path), fix="write one Node; the number of nodes is --add N")
    (node,) = (each for each in loading.load(documents, None, plugins, strict=True).objects if isinstance(each, Node))
    if not node.allocatable_map:
        wrong = InputError("says nothing", field="status.allocatable", fix='write such as {cpu: "4", memory: 8Gi}')
        raise wrong.located(documents[0].source, documents[0].line, kinds.describe(documents[0].raw))
    return node


def _named(documents: Iterable[Document], path: str) -> Iterator[Document]:
    """A template needs no name: its file has one."""
    for each in documents:
        meta = each.raw.get("metadata") or {}
        is_nameless = each.kind == "Node" and isinstance(meta, dict) and not meta.get("name")
        named = {**each.raw, "metadata": {**meta, "name": Path(path).stem.lower()}} if is_nameless else each.raw
        yield Document(each.source, each.line, named)

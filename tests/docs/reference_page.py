"""
The page ``docs/reference/python.md``, made of the code: what plugins and their tests can ask for, with signatures.

``test_reference_page`` compares; ``make reference`` (``python -m tests.docs.reference_page``) writes it anew.
"""

from __future__ import annotations

import inspect
import re
from collections.abc import Iterator
from functools import cached_property
from typing import Any

import bayplan.testing
from bayplan.framework.handle import Handle, NominatedPods, ObjectStore, WaitingPod, WaitingPods
from bayplan.framework.ports import ClusterWriter, EventSink, MetricSink
from bayplan.framework.snapshot import COLUMNS, NodeTable, NodeView, Snapshot
from bayplan.objects.kind import Kind
from bayplan.objects.meta import ApiObject, ObjectMeta
from bayplan.objects.node import Node
from bayplan.objects.plain import PlainObject
from bayplan.objects.pod import Pod
from bayplan.testing.builders import Builder
from tests.docs.pages import ROOT

PAGE = ROOT / "docs" / "reference" / "python.md"
HEAD = """\
# Reference: what Python sees

Everything that a plugin is given, and everything that `bayplan.testing` offers for its tests. This page is made of the
code by `make reference`; a test fails while it is not up to date. The extension points themselves are on
[a page of their own](extension-points.md), how to go about a test is in [Test a plugin](../guides/test-a-plugin.md).

Objects are frozen: `evolve(...)` gives a copy with other fields. Names of fields are those of the API in snake case.
"""
SECTIONS: tuple[tuple[str, str, tuple[type[Any], ...]], ...] = (
    ("Objects", "What pods, nodes and all other objects have.", (ApiObject, ObjectMeta, Pod, Node, PlainObject, Kind)),
    (
        "Nodes as plugins see them",
        "`node` of the one-node form, `nodes` of the other.",
        (NodeView, NodeTable, Snapshot),
    ),
    (
        "The handle",
        "`self.handle` of a plugin, and what is on it.",
        (Handle, ObjectStore, WaitingPods, WaitingPod, NominatedPods, ClusterWriter, EventSink, MetricSink),
    ),
    (
        "Builders",
        "Each method gives a new builder; `build()` makes the object.",
        (Builder, bayplan.testing.PodBuilder, bayplan.testing.NodeBuilder, bayplan.testing.ObjectBuilder),
    ),
    ("Harness", "What else `bayplan.testing` has.", (bayplan.testing.Holding, bayplan.testing.Recorder)),
)


def page() -> str:
    parts = [HEAD]
    for title, text, classes in SECTIONS:
        parts.append(f"## {title}\n\n{text}\n")
        parts += [_class(cls) for cls in classes]
    functions = [getattr(bayplan.testing, name) for name in bayplan.testing.__all__]
    rows = [_row(_called(each), each) for each in functions if inspect.isfunction(each)]
    parts.append("## Functions of `bayplan.testing`\n\n" + _table("function", rows))
    return "\n".join(parts)


def _class(cls: type[Any]) -> str:
    rows = [*_fields(cls), *_members(cls)]
    return f"### {cls.__name__}\n\n{_sentence(cls)}\n\n{_table('name', rows)}"


def _table(what: str, rows: list[tuple[str, str]]) -> str:
    lines = [f"| {what} | meaning |", "|---|---|", *(f"| `{name}` | {text} |" for name, text in rows)]
    return "\n".join(lines) + "\n"


def _fields(cls: type[Any]) -> Iterator[tuple[str, str]]:
    """Fields of the class itself, with the text that stands under each."""
    texts = _texts_under_fields(cls)
    for name, hint in inspect.get_annotations(cls).items():
        if not name.startswith("_") and "ClassVar" not in str(hint):
            told = texts.get(name) or ("a column: one number per node" if cls is NodeTable and name in COLUMNS else "")
            yield f"{name}: {_hint(hint)}", told


def _texts_under_fields(cls: type[Any]) -> dict[str, str]:
    pattern = re.compile(r'^\s+(?:self\.)?(\w+)(?:: [^\n]*| = [^\n]*)\n\s+"""(.*?)"""', re.MULTILINE | re.DOTALL)
    return {name: _told(text) for name, text in pattern.findall(inspect.getsource(cls))}


def _members(cls: type[Any]) -> Iterator[tuple[str, str]]:
    for name, value in vars(cls).items():
        if name.startswith("_"):
            continue
        if isinstance(value, property | cached_property):
            getter = value.fget if isinstance(value, property) else value.func
            if getter is not None and not (cls is NodeView and name in COLUMNS):
                yield f"{name}: {_hint(getter.__annotations__.get('return', ''))}", _sentence(getter)
        elif inspect.isfunction(value):
            yield _row(_called(value), value)
        elif isinstance(value, classmethod):
            yield _row(_called(value.__func__), value.__func__)


def _called(function: Any) -> str:
    """A signature without ``self``."""
    signature = inspect.signature(function)
    kept = [each for name, each in signature.parameters.items() if name not in ("self", "cls")]
    text = str(signature.replace(parameters=kept)).replace("'", "")
    text = re.sub(r"<function .*? at 0x[0-9a-f]+>", "…", text)
    start = "async " if inspect.iscoroutinefunction(function) else ""
    return f"{start}{function.__name__}{text}".replace("|", "\\|")


def _row(name: str, value: Any) -> tuple[str, str]:
    return name, _sentence(value)


def _hint(hint: Any) -> str:
    text = hint if isinstance(hint, str) else getattr(hint, "__name__", str(hint))
    return text.replace("|", "\\|")


def _sentence(value: Any) -> str:
    return _told(getattr(value, "__doc__", None) or "")


def _told(text: str) -> str:
    """The first paragraph, on one line, with the code as pages write it."""
    paragraph = inspect.cleandoc(text).partition("\n\n")[0]
    return " ".join(paragraph.split()).replace("``", "`").replace("|", "\\|")


if __name__ == "__main__":
    PAGE.write_text(page())
    print(f"{PAGE.relative_to(ROOT)}: written anew")

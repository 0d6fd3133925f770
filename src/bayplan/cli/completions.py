"""
What could be typed next: commands, options and values, for the scripts that ``bayplan completion`` prints.

They ask ``bayplan __complete``.  Heavy things are imported only where a value needs them: a person waits at the prompt.
"""

from __future__ import annotations

import ast
import os
import shlex
from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass, field
from typing import Any

FILES = ":files"
"""In place of values: a file or a folder, which the shell knows best."""

Candidate = tuple[str, str]
"""What could stand there, and a few words about it."""


@dataclass(slots=True)
class Typed:
    """A command line as far as it is typed."""

    command: Any
    """The command that was found so far, of the library's type."""
    given: dict[str, list[str]] = field(default_factory=dict)
    """Values of its options, by the option's name."""
    arguments: list[str] = field(default_factory=list)
    awaited: Any = None
    """The option whose value comes next."""


def complete(root: Any, line: str) -> Iterator[Candidate]:
    """Everything that could stand where the line ends."""
    *before, last = _split(line)
    typed = _read(root, before[1:])
    if typed.awaited is not None:
        yield from _values(typed, typed.awaited, last)
    elif last.startswith("-"):
        name, equals, value = last.partition("=")
        option = _options(typed.command).get(name) if equals else None
        if option is not None:
            yield from ((each if each == FILES else f"{name}={each}", _) for each, _ in _values(typed, option, value))
        else:
            yield from _starting(last, _option_names(typed))
    elif hasattr(typed.command, "commands"):
        visible = ((name, each) for name, each in typed.command.commands.items() if not each.hidden)
        yield from _starting(last, ((name, _first_sentence(each.help)) for name, each in visible))
    else:
        arguments = [each for each in typed.command.params if each.param_type_name == "argument"]
        position = min(len(typed.arguments), len(arguments) - 1)
        if arguments and (position == len(typed.arguments) or arguments[position].nargs == -1):
            yield from _values(typed, arguments[position], last)


def _split(line: str) -> list[str]:
    """Words as a shell has them; the last one may be empty, or have a quote that is not closed yet."""
    for closing in ("", '"', "'"):
        try:
            words = shlex.split(line + closing)
        except ValueError:
            continue
        return words if words and not line[-1:].isspace() else [*words, ""]
    return [*line.split(), ""]


def _read(root: Any, words: Iterable[str]) -> Typed:
    typed = Typed(root)
    for word in words:
        name, equals, value = word.partition("=")
        option = _options(typed.command).get(name)
        if typed.awaited is not None:
            typed.given.setdefault(typed.awaited.name, []).append(word)
            typed.awaited = None
        elif option is not None and equals:
            typed.given.setdefault(option.name, []).append(value)
        elif option is not None:
            typed.awaited = None if option.is_flag else option
            typed.given.setdefault(option.name, [])
        elif word in getattr(typed.command, "commands", {}):
            typed = Typed(typed.command.commands[word])
        elif not word.startswith("-"):
            typed.arguments.append(word)
    return typed


def _options(command: Any) -> dict[str, Any]:
    options = (each for each in command.params if each.param_type_name == "option")
    return {name: each for each in options for name in (*each.opts, *each.secondary_opts)}


def _option_names(typed: Typed) -> Iterator[Candidate]:
    """Long names of what is not given yet, or may be given many times."""
    for name, option in _options(typed.command).items():
        if name.startswith("--") and not option.hidden and (option.multiple or option.name not in typed.given):
            yield name, _first_sentence(option.help)
    yield "--help", "Show this message and exit"


# -- values --


def _values(typed: Typed, parameter: Any, begun: str) -> Iterator[Candidate]:
    choices = _choices(parameter)
    find = _BY_NAME.get(parameter.name) if not choices else None
    if choices:
        yield from _starting(begun, ((each, "") for each in choices))
    elif find is not None:
        yield from find(typed, begun)
    elif any(word in (parameter.metavar or "") for word in ("FILE", "PATH", "FOLDER")):
        yield FILES, ""


def _choices(parameter: Any) -> list[str]:
    """The words of an option that takes one of a few."""
    default = parameter.default
    return [str(each) for each in type(default)] if hasattr(type(default), "__members__") else _of_argument(parameter)


def _of_argument(parameter: Any) -> list[str]:
    words = (parameter.metavar or "").split("|")
    return words if len(words) > 1 and all(word.islower() for word in words) else []


def _workloads(_: Typed, begun: str) -> Iterator[Candidate]:
    from bayplan.cli.bench import ALONE
    from bayplan.simulator.benchmarks.workload_file import shipped

    yield from _starting(begun, ((name, "") for name in (*shipped(), *ALONE)))
    yield from _paths(begun, (".yaml", ".yml"))


def _plugins(_: Typed, begun: str) -> Iterator[Candidate]:
    """Classes in a file, files, and what is installed: by its module, or by the name of the plugin."""
    file, colon, _name = begun.rpartition(":")
    if colon and file.endswith(".py"):
        yield from _starting(begun, ((f"{file}:{name}", "") for name in _classes(file)))
        return
    yield from _paths(begun, (".py",))
    for spec, name in _installed():
        if spec.startswith(begun) or name.startswith(begun):
            yield spec, name


def _installed() -> Iterator[tuple[str, str]]:
    from importlib.metadata import entry_points

    from bayplan.framework.registry import GROUP
    from bayplan.plugins import IN_TREE
    from bayplan.plugins.defaults import DEFAULT_PLUGINS

    yield from ((point.value, point.name) for point in entry_points(group=GROUP))
    on_anyway = {each.name for each in DEFAULT_PLUGINS}
    for cls in IN_TREE:
        if cls.name not in on_anyway:
            yield f"{cls.__module__.removesuffix('.plugin')}:{cls.__name__}", cls.name


def _classes(file: str) -> list[str]:
    """Classes of a file that look like plugins.  It is read and not run."""
    try:
        with open(os.path.expanduser(file), encoding="utf-8") as stream:
            tree = ast.parse(stream.read())
    except (OSError, ValueError, SyntaxError):
        return []
    classes = [each for each in tree.body if isinstance(each, ast.ClassDef)]
    return [each.name for each in classes if any("Plugin" in ast.unparse(base) for base in each.bases)]


def _paths(begun: str, endings: tuple[str, ...]) -> Iterator[Candidate]:
    """Files that end like this, and folders to go on in."""
    folder, _, start = begun.rpartition("/")
    above = f"{folder}/" if "/" in begun else ""
    try:
        entries = sorted(os.scandir(os.path.expanduser(above) or "."), key=lambda entry: entry.name)
    except OSError:
        return
    for entry in entries:
        if entry.name.startswith(start) and (start or not entry.name.startswith(".")):
            if entry.is_dir():
                yield f"{above}{entry.name}/", ""
            elif entry.name.endswith(endings):
                yield f"{above}{entry.name}" + (":" if endings == (".py",) else ""), ""


def _subjects(typed: Typed, begun: str) -> Iterator[Candidate]:
    """Kinds, and the names that the files given so far have."""
    from bayplan.simulator.explain.subject import POD, WORKLOADS, kind_of

    named = [(each["kind"], each["metadata"]["name"]) for each in _documents(typed)]
    if typed.arguments:
        kind, above = kind_of(typed.arguments[0]), ""
    else:
        word, slash, _ = begun.partition("/")
        kind, above = (kind_of(word), f"{word}/") if slash else (None, "")
        if not slash:
            yield from _starting(begun, ((f"{name.lower()}/", "") for name in (POD, *WORKLOADS)))
    if kind is not None:
        yield from _starting(begun, ((f"{above}{name}", "") for found, name in named if found == kind))


def _namespaces(typed: Typed, begun: str) -> Iterator[Candidate]:
    found = dict.fromkeys(each["metadata"].get("namespace") or "default" for each in _documents(typed))
    yield from _starting(begun, ((name, "") for name in found))


def _documents(typed: Typed) -> list[dict[str, Any]]:
    """What is in the files, if it can be read: mistakes have no place at the prompt."""
    from bayplan.errors import BayplanError
    from bayplan.objects.files import manifests

    paths = [os.path.expanduser(each) for each in typed.given.get("filename", ()) if each != "-"]
    try:
        raws = [each.raw for each in manifests.read(paths, recursive="recursive" in typed.given)] if paths else []
    except (BayplanError, OSError):
        return []
    return [raw for raw in raws if isinstance(raw.get("metadata"), dict) and raw["metadata"].get("name")]


_BY_NAME: dict[str, Callable[[Typed, str], Iterator[Candidate]]] = {
    "plugin": _plugins,
    "workload": _workloads,
    "what": _subjects,
    "namespace": _namespaces,
}
"""Values that must be looked up, by the name of the option or argument."""


def _starting(begun: str, candidates: Iterable[Candidate]) -> Iterator[Candidate]:
    return (each for each in candidates if each[0].startswith(begun))


def _first_sentence(text: str | None) -> str:
    return " ".join((text or "").split()).partition(". ")[0].rstrip(".")

"""
Which plugins there are, by name, and where each comes from.

``app`` fills one registry: the in-tree list, packages that offer an entry point in ``bayplan.plugins``, and
what ``--plugin`` names.  ``profile.build_profiles`` reads it, and ``bayplan plugins`` lists it.
"""

from __future__ import annotations

import inspect
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from importlib.metadata import EntryPoint, entry_points

from bayplan.errors import GO_THROUGH, ConfigError, DuplicatePluginError, UnknownPluginError
from bayplan.framework.importing import load_object
from bayplan.framework.mistakes import did_you_mean, one_line
from bayplan.framework.plugin import EXTENSION_POINTS, Plugin, PreFilterExtensions, ScorePlugin
from bayplan.objects.kinds import all_kinds

GROUP = "bayplan.plugins"
IN_TREE = "in-tree"

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


@dataclass(frozen=True, slots=True)
class Entry:
    """A registered plugin, and where it comes from: "in-tree", "entry point pkg 1.0" or "--plugin x:Y"."""

    cls: type[Plugin]
    origin: str

    @property
    def name(self) -> str:
        return self.cls.name

    @property
    def extension_points(self) -> tuple[str, ...]:
        return points_of(self.cls)


def points_of(cls: type[Plugin]) -> tuple[str, ...]:
    """The extension points a plugin class takes part in, in the order a pod meets them."""
    return tuple(point for point, kind in EXTENSION_POINTS.items() if issubclass(cls, kind))


class Registry:
    """Plugin classes by name, in the order they were registered."""

    def __init__(self, classes: Iterable[type[Plugin]] = ()) -> None:
        self._entries: dict[str, Entry] = {}
        for cls in classes:
            self.register(cls)

    def register(self, cls: type[Plugin], origin: str = IN_TREE) -> type[Plugin]:
        """Take a plugin in.  The same class again is no harm, another one under its name is refused."""
        problem = _problem(cls)
        if problem:
            raise ConfigError(f"{origin}: {problem}")
        known = self._entries.setdefault(cls.name, Entry(cls, origin))
        if known.cls is not cls:
            raise DuplicatePluginError(
                f'plugin name "{cls.name}" is taken twice: by {_described(known.cls, known.origin)} '
                f"and by {_described(cls, origin)}; rename one of them"
            )
        return cls

    def merge(self, other: Registry) -> None:
        """Take in all plugins of another registry, with their origins."""
        for entry in other:
            self.register(entry.cls, entry.origin)

    def discover(self) -> list[str]:
        """Take in what installed packages offer; the names that were found."""
        found = sorted(entry_points(group=GROUP), key=lambda point: (_package(point), point.name))
        return [self._register_entry_point(point) for point in found]

    def load_spec(self, spec: str) -> type[Plugin]:
        """Take in the plugin that ``--plugin module:Class`` or ``--plugin path/to/file.py:Class`` names."""
        origin = f"--plugin {spec}"
        return self.register(load_object(spec, origin), origin)

    def get(self, name: str) -> type[Plugin]:
        """The class behind a name."""
        if name not in self._entries:
            raise UnknownPluginError(self.unknown(name))
        return self._entries[name].cls

    def origin(self, name: str) -> str:
        """Where the plugin comes from."""
        self.get(name)
        return self._entries[name].origin

    def unknown(self, name: str) -> str:
        """What to say about a name that is not registered."""
        return f'unknown plugin "{name}"{did_you_mean(name, self._entries)}'

    @property
    def names(self) -> tuple[str, ...]:
        return tuple(self._entries)

    def __contains__(self, name: object) -> bool:
        return name in self._entries

    def __iter__(self) -> Iterator[Entry]:
        return iter(self._entries.values())

    def __len__(self) -> int:
        return len(self._entries)

    def _register_entry_point(self, point: EntryPoint) -> str:
        origin = f"entry point {_package(point)}"
        try:
            cls = point.load()
        except GO_THROUGH:
            raise
        except BaseException as error:  # whatever a package does on import, the user must learn which package it was
            raise ConfigError(
                f'{origin}: "{point.name} = {point.value}" in group {GROUP} cannot be loaded: '
                f"{one_line(error)}; correct or uninstall the package"
            ) from error
        problem = _problem(cls)
        if problem:
            raise ConfigError(f'{origin}: "{point.name} = {point.value}" in group {GROUP}: {problem}')
        return self.register(cls, origin).name


def _package(point: EntryPoint) -> str:
    return f"{point.dist.name} {point.dist.version}" if point.dist else "(unknown package)"


def _described(cls: type[Plugin], origin: str) -> str:
    return f"{cls.__module__}.{cls.__qualname__} ({origin})"


def _problem(cls: object) -> str:
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
    wrong = _wrong_reads(cls.reads) or _wrong_weight(cls) or _wrong_form(cls)
    return f"class {cls.__name__}: {wrong}" if wrong else ""


def _wrong_reads(reads: object) -> str:
    if not isinstance(reads, tuple) or not all(isinstance(kind, str) for kind in reads):
        example = reads if isinstance(reads, str) else "Node"
        return f'reads is {reads!r}; write a tuple of kinds: reads = ("{example}",)'
    known = {kind.name for kind in all_kinds()}
    for kind in reads:
        if kind not in known:
            return (
                f'reads names the kind "{kind}", which nobody registered{did_you_mean(kind, known)}; '
                "a kind of your own is made known with bayplan.objects.kinds.register"
            )
    return ""


def _wrong_weight(cls: type[Plugin]) -> str:
    weight: object = cls.default_weight if issubclass(cls, ScorePlugin) else 1
    if not isinstance(weight, int) or isinstance(weight, bool) or weight < 1:
        return f"default_weight is {weight!r}; write a whole number of 1 or more"
    return ""


def _wrong_form(cls: type[Plugin]) -> str:
    """What is called must answer at once, but for a few methods that are waited for."""
    contract = {name for kind in cls.__mro__ if kind.__module__ == Plugin.__module__ for name in vars(kind)}
    for name in sorted(contract):
        waits = inspect.iscoroutinefunction(getattr(cls, name))
        if waits and name not in _MAY_WAIT:
            return f"{name} is async; write def {name}: only {', '.join(_MAY_WAIT)} may be async"
    if not inspect.iscoroutinefunction(cls.background):
        return "background is not async; write async def background(self)"
    return ""


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

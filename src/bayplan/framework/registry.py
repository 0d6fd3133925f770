"""
Which plugins there are, by name, and where each comes from.

``app`` fills one registry: the in-tree list, packages that offer an entry point in ``bayplan.plugins``, and
what ``--plugin`` names.  ``profile.build_profiles`` reads it, and ``bayplan plugins`` lists it.  Placements have a
registry of their own kind of plugins, which is made of the same ``ClassRegistry``.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from importlib.metadata import EntryPoint, entry_points
from typing import Any, ClassVar, Generic, Protocol, TypeVar

from bayplan.errors import GO_THROUGH, ConfigError, DuplicatePluginError, UnknownPluginError
from bayplan.framework.config.mistakes import did_you_mean, one_line
from bayplan.framework.importing import load_object
from bayplan.framework.plugin import Plugin
from bayplan.framework.plugin_class import points_of, problem_of

GROUP = "bayplan.plugins"
IN_TREE = "in-tree"


class Named(Protocol):
    """What a registry can hold: classes with a name."""

    name: ClassVar[str]


T = TypeVar("T", bound=Named)


@dataclass(frozen=True, slots=True)
class Entry(Generic[T]):
    """A registered plugin, and where it comes from: "in-tree", "entry point pkg 1.0" or "--plugin x:Y"."""

    cls: type[T]
    origin: str

    @property
    def name(self) -> str:
        return self.cls.name

    @property
    def extension_points(self) -> tuple[str, ...]:
        return points_of(self.cls)


class ClassRegistry(Generic[T]):
    """Plugin classes by name, in the order they were registered."""

    group: ClassVar[str]
    """The group of entry points in which packages offer such plugins."""

    def __init__(self, classes: Iterable[type[T]] = ()) -> None:
        self._entries: dict[str, Entry[T]] = {}
        for cls in classes:
            self.register(cls)

    def problem_of(self, cls: Any) -> str:
        """Why this cannot be such a plugin; empty if it can."""
        raise NotImplementedError

    def register(self, cls: type[T], origin: str = IN_TREE) -> type[T]:
        """Take a plugin in.  The same class again is no harm, another one under its name is refused."""
        problem = self.problem_of(cls)
        if problem:
            raise ConfigError(f"{origin}: {problem}")
        known = self._entries.setdefault(cls.name, Entry(cls, origin))
        if known.cls is not cls:
            raise DuplicatePluginError(
                f'plugin name "{cls.name}" is taken twice: by {_described(known.cls, known.origin)} '
                f"and by {_described(cls, origin)}; rename one of them"
            )
        return cls

    def discover(self) -> list[str]:
        """Take in what installed packages offer; the names that were found."""
        found = sorted(entry_points(group=self.group), key=lambda point: (_package(point), point.name))
        return [self._register_entry_point(point) for point in found]

    def load_spec(self, spec: str) -> type[T]:
        """Take in the plugin that ``--plugin module:Class`` or ``--plugin path/to/file.py:Class`` names."""
        origin = f"--plugin {spec}"
        return self.register(load_object(spec, origin), origin)

    def get(self, name: str) -> type[T]:
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

    def __iter__(self) -> Iterator[Entry[T]]:
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
                f'{origin}: "{point.name} = {point.value}" in group {self.group} cannot be loaded: '
                f"{one_line(error)}; correct or uninstall the package"
            ) from error
        problem = self.problem_of(cls)
        if problem:
            raise ConfigError(f'{origin}: "{point.name} = {point.value}" in group {self.group}: {problem}')
        return self.register(cls, origin).name


class Registry(ClassRegistry[Plugin]):
    """The plugins of the scheduler."""

    group = GROUP

    def problem_of(self, cls: Any) -> str:
        return problem_of(cls)


def _package(point: EntryPoint) -> str:
    return f"{point.dist.name} {point.dist.version}" if point.dist else "(unknown package)"


def _described(cls: type[Any], origin: str) -> str:
    return f"{cls.__module__}.{cls.__qualname__} ({origin})"

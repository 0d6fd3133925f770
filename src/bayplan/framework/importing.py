"""
Finds the class that ``--plugin`` names: ``module:Class``, or ``path/to/file.py:Class``.

``registry.Registry.load_spec`` calls it.  Modules in the current directory can be named as they are.
"""

from __future__ import annotations

import importlib
import importlib.util
import sys
from pathlib import Path
from types import ModuleType
from typing import Any

from bayplan.errors import GO_THROUGH, ConfigError, InputError
from bayplan.framework.config.mistakes import did_you_mean, one_line
from bayplan.objects.files.file_reading import check_file


def load_object(spec: str, origin: str) -> Any:
    """What the text names; ``origin`` stands in front of each complaint."""
    place, colon, name = spec.rpartition(":")
    if not (colon and place and name):
        raise ConfigError(f"{origin}: write module:Class or path/to/file.py:Class")
    module = _file_module(Path(place), origin) if place.endswith(".py") else _named_module(place, origin)
    if not hasattr(module, name):
        classes = [key for key, value in vars(module).items() if isinstance(value, type)]
        raise ConfigError(f'{origin}: {place} has no class "{name}"{did_you_mean(name, classes)}')
    return getattr(module, name)


def _named_module(name: str, origin: str) -> ModuleType:
    _importable_from(Path.cwd())
    try:
        return importlib.import_module(name)
    except ModuleNotFoundError as error:
        # The module itself, or one of its packages, is not there; anything else is an import inside it.
        if error.name and (name == error.name or name.startswith(f"{error.name}.")):
            raise ConfigError(
                f'{origin}: no module "{name}"; install its package, or name a file: path/to/file.py:Class'
            ) from error
        raise _failed(name, origin, error) from error
    except GO_THROUGH:
        raise
    except BaseException as error:  # also SystemExit: a file may be a script that ends the process
        raise _failed(name, origin, error) from error


def _file_module(path: Path, origin: str) -> ModuleType:
    path = path.resolve()
    if not path.is_file():
        raise ConfigError(f"{origin}: no file {path}; check the path")
    try:
        check_file(path)
    except InputError as error:
        raise ConfigError(f"{origin}: {error}") from None
    name = f"bayplan_plugin_file:{path}"  # a name no import can clash with
    if name in sys.modules:
        return sys.modules[name]
    found = importlib.util.spec_from_file_location(name, path)
    if found is None or found.loader is None:
        raise ConfigError(f"{origin}: {path} is not a Python file")
    _importable_from(path.parent)
    module = importlib.util.module_from_spec(found)
    sys.modules[name] = module  # dataclasses look their module up while it is still being run
    try:
        found.loader.exec_module(module)
    except BaseException as error:
        del sys.modules[name]
        if isinstance(error, GO_THROUGH):
            raise
        raise _failed(str(path), origin, error) from error
    return module


def _importable_from(folder: Path) -> None:
    """Last in line, so that no file there hides an installed module."""
    if str(folder) not in sys.path:
        sys.path.append(str(folder))


def _failed(what: str, origin: str, error: BaseException) -> ConfigError:
    return ConfigError(f"{origin}: importing {what} failed: {one_line(error)}")

"""
The names plugin authors import from ``bayplan.framework`` are exactly those in ``public_api.txt``.

A name that goes breaks somebody's plugin, and one that comes is a promise: both deserve a line in that file.
"""

from __future__ import annotations

import inspect
from pathlib import Path
from types import ModuleType

import pytest

from bayplan import framework
from bayplan.framework import plugin, results
from bayplan.framework.plugin import EXTENSION_POINTS

PROMISED = (Path(__file__).parent / "public_api.txt").read_text().split()


def test_the_public_names_are_those_that_were_promised() -> None:
    assert sorted(framework.__all__) == PROMISED


@pytest.mark.parametrize("name", PROMISED)
def test_every_public_name_is_there(name: str) -> None:
    assert hasattr(framework, name)


@pytest.mark.parametrize("name", [name for name in PROMISED if inspect.isclass(getattr(framework, name, None))])
def test_every_public_class_belongs_to_us(name: str) -> None:
    assert getattr(framework, name).__module__.startswith("bayplan.")


def test_every_extension_point_can_be_imported_by_its_base_class() -> None:
    for base in EXTENSION_POINTS.values():
        assert base.__name__ in PROMISED


@pytest.mark.parametrize("module", [plugin, results])
def test_the_classes_of_the_contract_are_public(module: ModuleType) -> None:
    own = {value.__name__ for value in vars(module).values() if getattr(value, "__module__", "") == module.__name__}
    classes = {name for name in own if inspect.isclass(getattr(module, name)) and not name.startswith("_")}
    assert classes
    assert classes <= set(PROMISED)

"""The page about parity is complete (every plugin, point, argument and queue rule) and names tests that exist."""

from __future__ import annotations

import re
from functools import cache
from typing import Any

import pytest

from bayplan.framework import Plugin
from bayplan.framework.args import read_args
from bayplan.framework.config.model import Extender, in_file
from bayplan.framework.plugin import EXTENSION_POINTS
from bayplan.framework.registry import points_of
from bayplan.plugins import IN_TREE
from bayplan.plugins.defaults import DEFAULT_PLUGINS
from tests.docs.pages import ROOT, section
from tests.parity.scenarios import SCENARIOS

PAGE = ROOT / "docs" / "parity.md"
UPSTREAM = [cls for cls in IN_TREE if cls.name in {default.name for default in DEFAULT_PLUGINS}]
TEST = re.compile(r"\[[^\]]+\]\(\.\./(tests/[^)]+\.py)\) `(test_\w+)`")

every_plugin = pytest.mark.parametrize("cls", UPSTREAM, ids=lambda cls: cls.name)


@cache
def names_in(path: str) -> frozenset[str]:
    return frozenset(re.findall(r"^ *(?:async )?def (test_\w+)", (ROOT / path).read_text(), re.MULTILINE))


def rows(heading: str) -> list[list[str]]:
    """The rows of the table below a heading."""
    lines = [line for line in section(PAGE, heading).splitlines() if line.startswith("| ")]
    return [[cell.strip() for cell in line.strip("|").split("|")] for line in lines[1:]]


@every_plugin
def test_every_point_argument_and_requeue_rule_of_a_plugin_has_its_row(cls: type[Plugin]) -> None:
    found = rows(cls.name)
    points = {point for what, name, _ in found if what == "point" for point in name.split(", ")}
    args = {name.strip("`") for what, name, _ in found if what == "arg"}
    requeue = " ".join(name for what, name, _ in found if what == "requeue")
    assert points == {in_file(point) for point in points_of(cls)}
    assert args == {field.alias for field in cls.Args.model_fields.values()} if cls.Args else not args
    assert [kind for kind in kinds_waited_for(cls) if not re.search(rf"\b{kind}\b", requeue)] == []
    assert all(held_by for what, name, held_by in found if name != "nothing")


def kinds_waited_for(cls: type[Plugin]) -> set[str]:
    args, _ = read_args(cls, None, "")
    made: Any = cls(args, None)
    return {on.kind for on in made.requeue_on()}


def test_every_extension_point_has_its_row() -> None:
    told = " ".join(what for what, _ in rows("Extension points"))
    assert [point for point in map(in_file, EXTENSION_POINTS) if point not in told] == []


def test_every_setting_of_an_extender_is_there() -> None:
    told = section(PAGE, "Extenders")
    named = {in_file(field) for field in Extender.model_fields} - {"urlPrefix"}
    verbs = {name for name in named if name.endswith("Verb")}
    assert [name for name in named - verbs if f"`{name}`" not in told] == []
    assert [verb for verb in verbs if verb.removesuffix("Verb") not in told] == []


def test_the_tests_that_are_named_exist() -> None:
    named = TEST.findall(PAGE.read_text())
    assert len(named) > 100
    assert [f"{path}::{test}" for path, test in named if test not in names_in(path)] == []


def test_the_scenarios_that_are_named_exist() -> None:
    known = {scenario.name for scenario in SCENARIOS}
    named = {
        name
        for line in PAGE.read_text().splitlines()
        for names in re.findall(r"scenarios? ((?:`[a-z0-9-]+`(?:, )?)+)", line)
        for name in re.findall(r"`([a-z0-9-]+)`", names)
    }
    assert len(named) > 40
    assert named - known == set()

"""The registry: names and origins, refused classes, entry points of installed packages, and ``--plugin``."""

from __future__ import annotations

import sys
from abc import ABC, abstractmethod
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from bayplan.errors import ConfigError, DuplicatePluginError, UnknownPluginError
from bayplan.framework.plugin import (
    BindPlugin,
    FilterPlugin,
    PermitPlugin,
    Plugin,
    PreFilterExtensions,
    ReservePlugin,
)
from bayplan.framework.registry import Registry
from tests.framework.fakes import plugin

A_PLUGIN = """
from bayplan.framework.plugin import FilterPlugin

class {name}(FilterPlugin):
    name = "{name}"

    def filter_node(self, state, pod, node):
        return None

def a_function():
    return None

class NotAPlugin:
    name = "x"
"""


def test_plugins_keep_their_order_class_and_origin() -> None:
    fit, taint = plugin("Fit", "filter", "score"), plugin("Taint", "filter")
    registry = Registry([fit])
    registry.register(taint, "--plugin here:Taint")
    assert registry.names == ("Fit", "Taint")
    assert len(registry) == 2
    assert "Fit" in registry
    assert "Foo" not in registry
    assert (registry.get("Fit"), registry.origin("Fit")) == (fit, "in-tree")
    assert registry.origin("Taint") == "--plugin here:Taint"
    assert [(entry.name, entry.extension_points) for entry in registry] == [
        ("Fit", ("filter", "score")),
        ("Taint", ("filter",)),
    ]


def test_an_unknown_name_is_answered_with_the_nearest_one() -> None:
    registry = Registry([plugin("NodeResourcesFit", "filter"), plugin("NodeName", "filter")])
    with pytest.raises(
        UnknownPluginError, match=r'^unknown plugin "NodeResourceFit"; did you mean "NodeResourcesFit"\?$'
    ):
        registry.get("NodeResourceFit")
    with pytest.raises(UnknownPluginError, match=r'^unknown plugin "Zzz"$'):
        registry.origin("Zzz")


def test_two_classes_under_one_name_are_refused_with_both_origins() -> None:
    registry = Registry([plugin("Fit", "filter")])
    with pytest.raises(DuplicatePluginError) as caught:
        registry.register(plugin("Fit", "score"), "entry point mine 1.0")
    assert str(caught.value) == (
        'plugin name "Fit" is taken twice: by tests.framework.fakes.Fit (in-tree) '
        "and by tests.framework.fakes.Fit (entry point mine 1.0); rename one of them"
    )


def test_the_same_class_again_does_no_harm_and_keeps_its_first_origin() -> None:
    fit = plugin("Fit", "filter")
    registry = Registry([fit])
    registry.register(fit, "--plugin mine:Fit")
    assert registry.origin("Fit") == "in-tree"


class Nameless(FilterPlugin):
    def filter_node(self, state: Any, pod: Any, node: Any) -> None:
        return None


class OnlyAPlugin(Plugin):
    name = "OnlyAPlugin"


class NoPermit(PermitPlugin):
    name = "NoPermit"


class HalfReserve(ReservePlugin):
    name = "HalfReserve"

    def reserve(self, state: Any, pod: Any, node_name: str) -> None:
        return None


class NoExtensions(PreFilterExtensions):
    name = "NoExtensions"

    def pre_filter(self, state: Any, pod: Any, nodes: Any) -> None:
        return None


class AbstractBind(BindPlugin, ABC):
    name = "AbstractBind"

    def bind(self, state: Any, pod: Any, node_name: str) -> None:
        return self.really()

    @abstractmethod
    def really(self) -> None: ...


async def _waits(self: Any, *about: Any) -> None:
    return None


def test_what_is_waited_for_may_be_async() -> None:
    waiting = plugin("Waiting", "pre_bind", "bind", "post_bind", pre_bind=_waits, bind=_waits, background=_waits)
    assert Registry([waiting]).names == ("Waiting",)


@pytest.mark.parametrize(
    ("cls", "line"),
    [
        (int, "class int is not a plugin; derive it from FilterPlugin, ScorePlugin or the like"),
        (7, "7 is not a class; name one that derives from FilterPlugin, ScorePlugin or the like"),
        (FilterPlugin, 'class FilterPlugin has no name; add the line name = "FilterPlugin" to it'),
        (Nameless, 'class Nameless has no name; add the line name = "Nameless" to it'),
        (plugin("", "filter"), 'class  has no name; add the line name = "" to it'),
        (
            OnlyAPlugin,
            "class OnlyAPlugin takes part in no extension point; derive it from FilterPlugin or the like",
        ),
        (NoPermit, "class NoPermit is abstract; define permit"),
        (HalfReserve, "class HalfReserve is abstract; define unreserve"),
        (NoExtensions, "class NoExtensions is abstract; define add_pod, remove_pod"),
        (AbstractBind, "class AbstractBind is abstract; define really"),
        (
            plugin("Odd", "filter", reads="Pod"),
            "class Odd: reads is 'Pod'; write a tuple of kinds: reads = (\"Pod\",)",
        ),
        (
            plugin("Odd", "filter", reads=["Pod"]),
            "class Odd: reads is ['Pod']; write a tuple of kinds: reads = (\"Node\",)",
        ),
        (
            plugin("Odd", "filter", reads=("ConfigMapp",)),
            'class Odd: reads names the kind "ConfigMapp", which is not known; did you mean "ConfigMap"?',
        ),
        (
            plugin("Odd", "filter", reads=("Nodes",)),
            'class Odd: reads names the kind "Nodes", which is not known; did you mean "Node"?',
        ),
        (
            plugin("Odd", "filter", reads=("example.com/v1/Widget",)),
            'class Odd: reads names the kind "example.com/v1/Widget", which is not known; write Kind("example.com", '
            '"v1", "Widget")',
        ),
        *(
            (
                plugin("Odd", "score", default_weight=weight),
                f"class Odd: default_weight is {weight!r}; write a whole number of 1 or more",
            )
            for weight in ("x", 0, -1, 1.5, True, None)
        ),
        *(
            (
                plugin("Odd", "filter", "score", "reserve", **{method: _waits}),
                f"class Odd: {method} is async; write def {method}: only background, bind, post_bind, pre_bind may be "
                "async",
            )
            for method in ("filter_node", "score_node", "normalize", "reserve", "requeue_on", "tell", "observe")
        ),
        (
            plugin("Odd", "filter", background=lambda self: None),
            "class Odd: background is not async; write async def background(self)",
        ),
    ],
)
def test_what_cannot_be_a_plugin_is_refused_with_what_to_write(cls: Any, line: str) -> None:
    with pytest.raises(ConfigError) as caught:
        Registry().register(cls, "--plugin m:X")
    assert str(caught.value) == f"--plugin m:X: {line}"


# -- entry points --

Install = Callable[[str, str, str], None]


@pytest.fixture
def install(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Install:
    """Puts a small package where Python finds it: its name, its one module's text, and its entry points."""
    monkeypatch.syspath_prepend(tmp_path)

    def add(name: str, text: str, points: str) -> None:
        (tmp_path / f"{name}_module.py").write_text(text)
        folder = tmp_path / f"{name}-1.2.dist-info"
        folder.mkdir()
        (folder / "METADATA").write_text(f"Metadata-Version: 2.1\nName: {name}\nVersion: 1.2\n")
        (folder / "entry_points.txt").write_text(f"[bayplan.plugins]\n{points}\n")

    return add


def test_installed_packages_offer_plugins(install: Install) -> None:
    install("zebra", A_PLUGIN.format(name="Stripes"), "stripes = zebra_module:Stripes")
    install("ant", A_PLUGIN.format(name="Small"), "small = ant_module:Small")
    registry = Registry([plugin("Fit", "filter")])
    assert registry.discover() == ["Small", "Stripes"]
    assert registry.names == ("Fit", "Small", "Stripes")
    assert registry.origin("Small") == "entry point ant 1.2"


@pytest.mark.parametrize(
    ("text", "points", "line"),
    [
        (
            "import not_installed_anywhere",
            "x = broken_module:X",
            "cannot be loaded: ModuleNotFoundError: No module named 'not_installed_anywhere'; "
            "correct or uninstall the package",
        ),
        (
            "X = 1 / 0",
            "x = broken_module:X",
            "cannot be loaded: ZeroDivisionError: division by zero; correct or uninstall the package",
        ),
    ],
)
def test_a_package_that_cannot_be_loaded_is_named(install: Install, text: str, points: str, line: str) -> None:
    install("broken", text, points)
    with pytest.raises(ConfigError) as caught:
        Registry().discover()
    assert str(caught.value) == f'entry point broken 1.2: "{points}" in group bayplan.plugins {line}'


def test_a_package_that_offers_something_else_is_named(install: Install) -> None:
    install("other", A_PLUGIN.format(name="Good"), "bad = other_module:NotAPlugin")
    with pytest.raises(ConfigError) as caught:
        Registry().discover()
    assert str(caught.value) == (
        'entry point other 1.2: "bad = other_module:NotAPlugin" in group bayplan.plugins: '
        "class NotAPlugin is not a plugin; derive it from FilterPlugin, ScorePlugin or the like"
    )


def test_a_package_cannot_take_an_in_tree_name(install: Install) -> None:
    install("rival", A_PLUGIN.format(name="Fit"), "fit = rival_module:Fit")
    with pytest.raises(
        DuplicatePluginError, match=r"Fit \(in-tree\) and by rival_module.Fit \(entry point rival 1.2\)"
    ):
        Registry([plugin("Fit", "filter")]).discover()


# -- --plugin --


@pytest.fixture
def here(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """An empty current directory."""
    monkeypatch.chdir(tmp_path)
    monkeypatch.setattr(sys, "path", list(sys.path))
    return tmp_path


def test_a_spec_names_a_class_of_a_module_or_a_file(here: Path) -> None:
    (here / "spec_module.py").write_text(A_PLUGIN.format(name="Local"))
    (here / "folder").mkdir()
    (here / "folder" / "deep.py").write_text(A_PLUGIN.format(name="Deep"))
    registry = Registry()
    assert registry.load_spec("spec_module:Local").name == "Local"
    assert registry.load_spec("folder/deep.py:Deep").name == "Deep"
    assert registry.origin("Local") == "--plugin spec_module:Local"
    assert registry.origin("Deep") == "--plugin folder/deep.py:Deep"


@pytest.mark.parametrize(
    ("spec", "line"),
    [
        ("spec_bad", "write module:Class or path/to/file.py:Class"),
        ("spec_bad:a_function", "<function a_function"),
        (
            "spec_bad:NotAPlugin",
            "class NotAPlugin is not a plugin; derive it from FilterPlugin, ScorePlugin or the like",
        ),
    ],
)
def test_a_spec_that_names_no_plugin_is_refused(here: Path, spec: str, line: str) -> None:
    (here / "spec_bad.py").write_text(A_PLUGIN.format(name="Local"))
    with pytest.raises(ConfigError) as caught:
        Registry().load_spec(spec)
    assert str(caught.value).startswith(f"--plugin {spec}: {line}")

"""Finding what ``--plugin`` names, and saying what is wrong when it cannot be found."""

from __future__ import annotations

import sys
from pathlib import Path

import pytest

from bayplan.errors import ConfigError
from bayplan.framework.importing import load_object


@pytest.fixture
def here(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """An empty current directory."""
    monkeypatch.chdir(tmp_path)
    monkeypatch.setattr(sys, "path", list(sys.path))
    return tmp_path


def refused(spec: str) -> str:
    with pytest.raises(ConfigError) as caught:
        load_object(spec, f"--plugin {spec}")
    text = str(caught.value)
    assert text.startswith(f"--plugin {spec}: ")
    return text.removeprefix(f"--plugin {spec}: ")


def test_a_module_of_the_current_directory_is_found(here: Path) -> None:
    (here / "near_module.py").write_text("class Near: pass")
    assert load_object("near_module:Near", "").__name__ == "Near"


def test_a_module_of_a_package_is_found(here: Path) -> None:
    (here / "near_package").mkdir()
    (here / "near_package" / "inner.py").write_text("class Inner: pass")
    assert load_object("near_package.inner:Inner", "").__name__ == "Inner"


def test_a_file_is_found_with_its_neighbours_and_its_dataclasses(here: Path) -> None:
    (here / "sub").mkdir()
    (here / "sub" / "neighbour_module.py").write_text("VALUE = 3")
    (here / "sub" / "main.py").write_text(
        "from __future__ import annotations\n"
        "from dataclasses import dataclass\n"
        "from neighbour_module import VALUE\n"
        "@dataclass(frozen=True)\n"
        "class Args:\n"
        "    value: int = VALUE\n"
    )
    assert load_object("sub/main.py:Args", "")() == load_object(str(here / "sub" / "main.py:Args"), "")()
    assert load_object("./sub/main.py:Args", "") is load_object("sub/main.py:Args", "")


def test_an_installed_module_is_not_hidden_by_a_file_here(here: Path) -> None:
    (here / "fractions.py").write_text("raise RuntimeError('never imported')")
    assert load_object("fractions:Fraction", "").__module__ == "fractions"


@pytest.mark.parametrize("spec", ["", "module", ":Class", "module:"])
def test_a_spec_has_two_parts(spec: str) -> None:
    assert refused(spec) == "write module:Class or path/to/file.py:Class"


def test_what_is_not_there_is_named(here: Path) -> None:
    (here / "some_module.py").write_text("class SameZone: pass")
    assert refused("no_such_module:X") == (
        'no module "no_such_module"; install its package, or name a file: path/to/file.py:Class'
    )
    assert refused("no_such_package.inner:X").startswith('no module "no_such_package.inner"; ')
    assert refused("gone.py:X") == f"no file {here / 'gone.py'}; check the path"
    assert refused("some_module:SameZon") == 'some_module has no class "SameZon"; did you mean "SameZone"?'
    assert refused("some_module:Other") == 'some_module has no class "Other"'


@pytest.mark.parametrize(
    ("text", "line"),
    [
        ("import no_such_dependency", "ModuleNotFoundError: No module named 'no_such_dependency'"),
        ("raise RuntimeError('two\\nlines')", "RuntimeError: two lines"),
        ("def broken(:", "SyntaxError: "),
        ("raise SystemExit(3)", "SystemExit: 3"),
        ("raise BaseException", "BaseException"),
    ],
)
def test_what_fails_while_it_is_imported_says_why(here: Path, text: str, line: str) -> None:
    (here / "failing_module.py").write_text(text)
    assert refused("failing_module:X").startswith(f"importing failing_module failed: {line}")
    by_file = refused("failing_module.py:X")
    assert by_file.startswith(f"importing {here / 'failing_module.py'} failed: {line}")
    assert len(by_file.splitlines()) == 1


@pytest.mark.parametrize("spec", ["interrupted_module:X", "interrupted_module.py:X"])
def test_an_import_can_be_interrupted(here: Path, spec: str) -> None:
    (here / "interrupted_module.py").write_text("raise KeyboardInterrupt")
    with pytest.raises(KeyboardInterrupt):
        load_object(spec, "")

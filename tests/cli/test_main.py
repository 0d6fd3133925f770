"""The program itself: help, version, exit codes, and one line for each thing that goes wrong."""

from __future__ import annotations

import subprocess
import sys

import pytest

from bayplan import __version__
from bayplan.cli import main as program
from tests.cli.support import NODE, Shell

COMMANDS = ("simulate", "explain", "plugins", "bench", "scheduler")


def test_the_version_is_told(shell: Shell) -> None:
    ended = shell.run("--version")
    assert (ended.code, ended.out) == (0, f"bayplan {__version__}\n")


@pytest.mark.parametrize("arguments", [(), ("--help",), ("-h",)])
def test_help_names_the_commands(shell: Shell, arguments: tuple[str, ...]) -> None:
    ended = shell.run(*arguments)
    assert ended.code == 0
    assert all(command in ended.out for command in COMMANDS)


@pytest.mark.parametrize("command", COMMANDS)
def test_every_command_has_help(shell: Shell, command: str) -> None:
    ended = shell.run(command, "--help")
    assert ended.code == 0
    assert f"bayplan {command}" in ended.out


@pytest.mark.parametrize(
    ("arguments", "said"),
    [
        (("simulat",), "No such command 'simulat'"),
        (("simulate",), "Missing option '--filename' / '-f'"),
        (("simulate", "-f", "x", "--fast"), "No such option: --fast"),
        (("simulate", "-f", "x", "-o", "xml"), "Invalid value for '--output' / '-o'"),
        (("bench", "--nodes", "0"), "Invalid value for '--nodes'"),
        (("explain", "pod", "x", "-f", "y", "--top", "none"), "Invalid value for '--top'"),
    ],
)
def test_wrong_arguments_get_one_line_and_exit_code_2(shell: Shell, arguments: tuple[str, ...], said: str) -> None:
    ended = shell.run(*arguments)
    assert ended.code == 2
    assert ended.out == ""
    assert len(ended.err.splitlines()) == 1
    assert ended.err.startswith(f"error: {said}")
    assert "--help" in ended.err


def test_an_error_is_one_line_and_with_v_it_shows_where_it_comes_from(shell: Shell) -> None:
    ended = shell.run("simulate", "-f", "nix.yaml")
    assert (ended.code, ended.out) == (2, "")
    assert ended.err == "error: nix.yaml: no such file or folder; check the path\n"
    told = shell.run("simulate", "-f", "nix.yaml", "-v")
    assert told.code == 2
    assert told.err.startswith("Traceback")
    assert told.err.endswith(ended.err)


@pytest.mark.parametrize("error", [ZeroDivisionError("division by zero"), SystemExit(7), GeneratorExit("x")])
def test_what_should_not_have_happened_is_one_line_too(
    shell: Shell, monkeypatch: pytest.MonkeyPatch, error: BaseException
) -> None:
    def break_down(*_: object, **__: object) -> None:
        raise error

    monkeypatch.setattr("bayplan.simulator.simulation.simulate", break_down)
    path = shell.write("n.yaml", NODE)
    ended = shell.run("simulate", "-f", path)
    assert ended.code == 2
    said = f"{type(error).__name__}: {error}"
    assert ended.err == f"error: this should not have happened: {said}; -v shows where\n"


def test_an_interrupted_command_ends_as_such(shell: Shell, monkeypatch: pytest.MonkeyPatch) -> None:
    def interrupted(*_: object, **__: object) -> None:
        raise KeyboardInterrupt

    monkeypatch.setattr("bayplan.simulator.simulation.simulate", interrupted)
    assert shell.run("simulate", "-f", shell.write("n.yaml", NODE)).code == 130


def test_a_reader_that_goes_away_early_is_no_error(shell: Shell) -> None:
    path = shell.write("n.yaml", "---\n".join(NODE.replace("n1", f"n{number}") for number in range(3000)))
    command = f"{sys.executable} -m bayplan simulate -f {path} -o yaml | head -1; exit ${{PIPESTATUS[0]}}"
    ended = subprocess.run(["bash", "-c", command], capture_output=True, text=True, env=_environment(), timeout=60)
    assert ended.returncode == 0
    assert ended.stdout == "apiVersion: bayplan.io/v1alpha1\n"
    assert ended.stderr == ""


def test_help_is_quick_because_nothing_heavy_is_imported() -> None:
    script = (
        "import sys; from bayplan.cli.main import main; main(['--help'])\n"
        "heavy = {'numpy', 'pydantic', 'aiohttp', 'yaml', 'msgspec'} & set(sys.modules)\n"
        "sys.exit(f'imported {heavy}' if heavy else 0)"
    )
    command = [sys.executable, "-c", script]
    ended = subprocess.run(command, capture_output=True, text=True, env=_environment(), timeout=60)
    assert ended.returncode == 0, ended.stderr


def test_kubectl_calls_it_by_another_name(shell: Shell, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(sys, "argv", ["/usr/local/bin/kubectl-bayplan"])
    assert "kubectl bayplan simulate --help" in shell.run("simulate").err


def test_the_console_script_ends_with_the_exit_code(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(sys, "argv", ["bayplan", "simulate", "-f", "nix.yaml"])
    with pytest.raises(SystemExit) as ended:
        program.run()
    assert ended.value.code == 2


def _environment() -> dict[str, str]:
    import os

    from bayplan import __file__ as package

    return os.environ | {"PYTHONPATH": os.path.dirname(os.path.dirname(package)), "NO_COLOR": "1"}

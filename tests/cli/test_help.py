"""Help: every command at 80 columns, whole words, groups, examples that are true, and flags in all their forms."""

from __future__ import annotations

import re
import shlex
from collections.abc import Iterator
from typing import Any

import pytest
import typer

from bayplan.app.scheduler import process as scheduler_process
from bayplan.app.shell import process
from bayplan.cli.help import GROUPS
from bayplan.cli.main import app
from tests.cli.support import NODE, Shell

ROOT: Any = typer.main.get_command(app)


def every_command(group: Any = ROOT, path: tuple[str, ...] = ()) -> Iterator[tuple[tuple[str, ...], Any]]:
    yield path, group
    for name, command in getattr(group, "commands", {}).items():
        if not command.hidden:
            yield from every_command(command, (*path, name))


COMMANDS = dict(every_command())
every = pytest.mark.parametrize("path", COMMANDS, ids=" ".join)


def words(text: str) -> list[str]:
    return re.sub(r"[^\w./:=*'-]", " ", text).split()


@every
@pytest.mark.parametrize("columns", [80, 60, 200])
def test_nothing_is_cut(shell: Shell, monkeypatch: pytest.MonkeyPatch, path: tuple[str, ...], columns: int) -> None:
    monkeypatch.setenv("COLUMNS", str(columns))
    ended = shell.run(*path, "--help")
    assert (ended.code, ended.err) == (0, "")
    assert "\u2026" not in ended.out
    assert "<bool>" not in ended.out
    assert columns < 80 or max(map(len, ended.out.splitlines())) <= max(80, min(columns, 100))
    said = set(words(ended.out))
    command = COMMANDS[path]
    wanted = words(command.help)
    for parameter in command.params:
        wanted += [*parameter.opts, *parameter.secondary_opts] if parameter.param_type_name == "option" else []
        wanted += words(parameter.help or "")
    assert [word for word in wanted if word not in said] == []


@every
def test_every_command_has_examples_that_can_be_typed(path: tuple[str, ...]) -> None:
    """Parsed, not run: names and options are there, and values can be read."""
    examples = COMMANDS[path].epilog.strip().splitlines()
    assert len(examples) >= 2
    assert max(map(len, examples)) <= 78
    for example in examples:
        (line,) = re.findall(r"(?:^|[|(] ?)bayplan ([^|>)]*)", example)
        arguments = shlex.split(line, comments=True)
        command, rest = ROOT, arguments
        while rest and rest[0] in getattr(command, "commands", {}):
            command, rest = command.commands[rest[0]], rest[1:]
        assert command is not ROOT, example
        if "--help" not in rest:
            command.make_context("bayplan", rest)


def test_commands_stand_in_groups(shell: Shell) -> None:
    out = shell.run("--help").out
    places = [out.index(f"\n{group}:\n") for group in GROUPS]
    assert places == sorted(places)
    assert "\nCommands:\n" not in out
    found = {
        group: re.findall(r"^  ([a-z-]+) ", out[start:end], re.MULTILINE)
        for group, start, end in zip(GROUPS, places, [*places[1:], out.index("\nExamples:")], strict=True)
    }
    assert found == {
        "Ask": [
            "simulate",
            "explain",
            "what-if",
            "fit",
            "compare",
            "sweep",
            "place",
            "snapshot",
            "replay",
            "ui",
            "top",
        ],
        "Run in a cluster": ["manifests", "sticky"],
        "Services": ["scheduler", "annotator", "rebalancer", "placement", "shadow"],
        "Develop": ["plugins", "bench", "dev-cluster", "completion"],
    }


# -- flags --


@pytest.mark.parametrize(
    ("typed", "leads"),
    [
        ((), None),
        (("--leader-elect",), True),
        (("--leader-elect=true",), True),
        (("--leader-elect", "true"), True),
        (("--leader-elect=1",), True),
        (("--no-leader-elect",), False),
        (("--leader-elect=false",), False),
        (("--leader-elect=False",), False),
        (("--leader-elect", "false"), False),
    ],
)
def test_a_flag_can_be_written_in_all_the_usual_ways(
    shell: Shell, monkeypatch: pytest.MonkeyPatch, typed: tuple[str, ...], leads: bool | None
) -> None:
    seen: list[scheduler_process.SchedulerOptions] = []
    monkeypatch.setattr(scheduler_process, "run_scheduler", lambda options: seen.append(options) or 0)
    assert shell.run("scheduler", *typed).code == 0
    assert [options.leader_elect for options in seen] == [leads]


@pytest.mark.parametrize("command", ["annotator", "rebalancer", "placement"])
def test_every_service_can_do_without_a_lease(shell: Shell, monkeypatch: pytest.MonkeyPatch, command: str) -> None:
    seen: list[process.ServiceOptions] = []
    more = ["--prometheus-address", "http://localhost:9"] if command == "annotator" else []
    monkeypatch.setattr(
        f"bayplan.app.{command}.live.run_{command}",
        lambda options: seen.append(getattr(options, "service", options)) or 0,
    )
    for typed in ("--no-leader-elect", "--leader-elect=false", "--leader-elect"):
        assert shell.run(command, *more, typed).code == 0
    assert [options.election.leader_elect for options in seen] == [False, False, True]


def test_a_flag_without_a_no_form_takes_a_value_too(shell: Shell) -> None:
    ended = shell.run("simulate", "-f", shell.write("n.yaml", NODE), "--recursive=false", "--explain=true")
    assert (ended.code, ended.err) == (0, "")


def test_a_value_that_is_neither_true_nor_false_is_told(shell: Shell) -> None:
    ended = shell.run("scheduler", "--leader-elect=maybe")
    assert (ended.code, ended.out) == (2, "")
    assert ended.err.startswith("error: Invalid value for '--leader-elect': 'maybe' is neither true nor false")
    assert len(ended.err.splitlines()) == 1

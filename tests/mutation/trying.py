"""One case: write the files, run the command in this process, and see whether it ended as it should."""

from __future__ import annotations

import importlib.metadata
import io
import json
import re
import resource
import signal
import time
from contextlib import redirect_stderr, redirect_stdout
from dataclasses import dataclass
from functools import cache
from pathlib import Path
from random import Random
from types import FrameType
from typing import Any

import typer.main

from bayplan.cli.main import main
from tests.mutation import mutating, seeds

MOST_S = 5.0
"""Of the processor: other programs on the machine are nobody's fault here."""
MOST_BYTES = 2**30
NOW = ("--now", "2026-01-31T10:00:00Z")
AGAIN = 25
"""Of so many cases one is run a second time, and must end alike."""
_INTERNAL = re.compile(r"should not have happened|Traceback \(most recent|plugin \w+ failed in|internal error")


_EXPLAINED = re.compile(r"error|Error")
"""A plugin's error is told in the document or the table."""


class TookTooLongError(BaseException):
    """Nobody on the way catches it as an error of a plugin or a file."""


@dataclass(frozen=True)
class Finding:
    """A case that did not end as it should."""

    number: int
    what: str
    command: tuple[str, ...]
    said: str


@dataclass(frozen=True)
class Case:
    """What the number of a case stands for."""

    command: tuple[str, ...]
    files: dict[str, str]


def quicken() -> None:
    """For workers: what is the same for every command is worked out once."""
    typer.main.get_command = cache(typer.main.get_command)
    importlib.metadata.entry_points = cache(importlib.metadata.entry_points)
    main(["plugins"])


def case(number: int) -> Case:
    """The same for the same number, wherever it is made."""
    rng = Random(number)
    fixed = seeds.fixed()
    how = rng.random()
    seed = rng.choice(fixed) if how < 0.5 else seeds.random_seed(rng) if how < 0.8 else seeds.whole_seed(rng)
    parts = {"FILE": seed.documents, "CONFIG": seed.config, "POLICY": seed.policy}
    given = [name for name, documents in parts.items() if documents]
    wrong = rng.choice(given)
    files = {}
    for name in given:
        documents = mutating.mutated(rng, parts[name]) if name == wrong else list(parts[name])
        files[name] = mutating.text_of(rng, documents)
    clock = NOW if seed.command[0] in ("simulate", "explain", "place", "rebalancer") else ()
    return Case((*seed.command, *clock), files)


def attempt(number: int, folder: Path) -> Finding | None:
    """Run a case, and now and then once more."""
    made = case(number)
    found, code = _run(number, made, folder)
    if found is None and number % AGAIN == 0:
        found, again = _run(number, made, folder)
        if found is None and again != code:
            return Finding(number, f"ended with {code} and then with {again}", made.command, "")
    return found


def _run(number: int, made: Case, folder: Path) -> tuple[Finding | None, int]:
    paths = {name: folder / f"{name.lower()}.yaml" for name in made.files}
    for name, text in made.files.items():
        for other, path in paths.items():
            text = text.replace(f'"{other}"', json.dumps(str(path))).replace(f": {other}\n", f": {path}\n")
        paths[name].write_text(text, encoding="utf-8", errors="surrogatepass")
    arguments = [str(paths.get(each, each)) for each in made.command]
    out, err = io.StringIO(), io.StringIO()
    started, code, problem = time.process_time(), -1, ""
    before = signal.signal(signal.SIGPROF, _too_long)
    signal.setitimer(signal.ITIMER_PROF, MOST_S)
    try:
        with redirect_stdout(out), redirect_stderr(err):
            code = main(arguments)
    except BaseException as error:
        problem = f"raised {type(error).__name__}"
    finally:
        signal.setitimer(signal.ITIMER_PROF, 0)
        signal.signal(signal.SIGPROF, before)
    said = out.getvalue() + err.getvalue()
    if time.process_time() - started > MOST_S:
        problem = f"took more than {MOST_S:g} s"
    elif resource.getrusage(resource.RUSAGE_SELF).ru_maxrss * 1024 > MOST_BYTES:
        problem = f"took more than {MOST_BYTES // 2**20} MiB"
    elif found := _INTERNAL.search(said):
        problem = said[found.start() : found.start() + 300]
    elif not problem and code not in (0, 1, 2):
        problem = f"ended with {code}"
    elif not problem and code == 2 and "error: " not in err.getvalue() and not _EXPLAINED.search(out.getvalue()):
        problem = "ended with 2 and no word"
    return (Finding(number, problem, made.command, said[-600:]) if problem else None), code


def _too_long(number: int, frame: FrameType | None) -> Any:
    raise TookTooLongError

"""
``bayplan``: finds the command, runs it, and turns whatever goes wrong into one line and an exit code.

The console scripts ``bayplan`` and ``kubectl-bayplan`` call ``run``.  Exit code 0: all is well; 1: a negative finding;
2: the input or the arguments are wrong.
"""

from __future__ import annotations

import os
import sys
from collections.abc import Sequence
from typing import Annotated

import click
import typer

from bayplan import __version__
from bayplan.cli import bench, explain, plugins, simulate
from bayplan.cli.output import complain, set_up_logs
from bayplan.errors import BayplanError

NEGATIVE, WRONG, INTERRUPTED = 1, 2, 130

app = typer.Typer(
    name="bayplan",
    help="A Kubernetes scheduler that people extend in Python: schedule, simulate and explain with one engine.",
    no_args_is_help=True,
    add_completion=False,
    pretty_exceptions_enable=False,
    context_settings={"help_option_names": ["-h", "--help"]},
)
app.command("simulate")(simulate.simulate)
app.command("explain")(explain.explain)
app.command("plugins")(plugins.plugins)
app.command("bench")(bench.bench)


def _show_version(asked: bool) -> None:
    if asked:
        print(f"bayplan {__version__}")
        raise typer.Exit


@app.callback()
def _common(
    version: Annotated[
        bool, typer.Option("--version", help="Show the version and end.", callback=_show_version, is_eager=True)
    ] = False,
) -> None:
    pass


def run() -> None:
    """The console script."""
    sys.exit(main(sys.argv[1:]))


def main(arguments: Sequence[str]) -> int:
    """Run one command; the exit code."""
    verbose = "-v" in arguments or "--verbose" in arguments
    set_up_logs(verbose=verbose)
    try:
        return int(app(list(arguments), prog_name=_program(), standalone_mode=False) or 0)
    except click.exceptions.NoArgsIsHelpError as error:
        print(error.format_message())
        return 0
    except click.UsageError as error:
        where = error.ctx.command_path if error.ctx is not None else _program()
        complain(f"{error.format_message()}  Try: {where} --help")
        return WRONG
    except BayplanError as error:
        if verbose:
            raise
        complain(str(error))
        return WRONG
    except (KeyboardInterrupt, click.Abort):
        return INTERRUPTED
    except BrokenPipeError:
        # Whoever read our output has seen enough; Python must not complain about it at exit.
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
        return 0
    except Exception as error:
        if verbose:
            raise
        complain(f"this should not have happened: {type(error).__name__}: {error}; -v shows where")
        return WRONG


def _program() -> str:
    """As it was called: ``kubectl bayplan`` where kubectl found it."""
    return "kubectl bayplan" if os.path.basename(sys.argv[0]).startswith("kubectl-") else "bayplan"

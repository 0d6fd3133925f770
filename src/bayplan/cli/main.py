"""
``bayplan``: finds the command, runs it, and turns whatever goes wrong into one line and an exit code.

The console scripts ``bayplan`` and ``kubectl-bayplan`` call ``run``.  Exit code 0: all is well; 1: a negative finding;
2: the input or the arguments are wrong.
"""

from __future__ import annotations

import os
import sys
import traceback
from collections.abc import Callable, Sequence
from typing import Annotated

import typer

from bayplan import __version__
from bayplan.cli import (
    annotator,
    bench,
    compare,
    completion,
    dev_cluster,
    explain,
    fit,
    manifests,
    place,
    placement,
    plugins,
    rebalancer,
    replay,
    scheduler,
    shadow,
    simulate,
    snapshot,
    sweep,
    top,
    ui,
    what_if,
)
from bayplan.cli.help import ASK, DEVELOP, RUN, SERVICES, WIDTH, Command, Group
from bayplan.cli.output import WRONG, apart, complain, set_up_logs
from bayplan.cli.reporting import note_arguments
from bayplan.cli.sticky import sticky
from bayplan.cli.streams import ReaderGone, guarded
from bayplan.cli.stuck_calls import watched
from bayplan.errors import BayplanError

INTERRUPTED = 130

# typer may carry its own copy of click, whose errors are not those of the click package.
UsageError: type[Exception] = typer.BadParameter.__mro__[1]

EXAMPLES = """\
bayplan simulate -f cluster.yaml
bayplan explain pod/web-0 -f cluster.yaml
bayplan simulate --help                        # options and examples
"""

app = typer.Typer(
    name="bayplan",
    help="A Kubernetes scheduler that people extend in Python: schedule, simulate and explain with one engine.",
    epilog=EXAMPLES,
    cls=Group,
    invoke_without_command=True,
    add_completion=False,
    pretty_exceptions_enable=False,
    rich_markup_mode=None,
    context_settings={"help_option_names": ["-h", "--help"], "max_content_width": WIDTH},
)


def _add(group: str, name: str, command: Callable[..., int], examples: str) -> None:
    quiet = apart(watched(command) if group == ASK else command)
    app.command(name, cls=Command, rich_help_panel=group, epilog=examples)(quiet)


_add(ASK, "simulate", simulate.simulate, simulate.EXAMPLES)
_add(ASK, "explain", explain.explain, explain.EXAMPLES)
_add(ASK, "what-if", what_if.what_if, what_if.EXAMPLES)
_add(ASK, "fit", fit.fit, fit.EXAMPLES)
_add(ASK, "compare", compare.compare, compare.EXAMPLES)
_add(ASK, "sweep", sweep.sweep, sweep.EXAMPLES)
_add(ASK, "place", place.place, place.EXAMPLES)
_add(ASK, "snapshot", snapshot.snapshot, snapshot.EXAMPLES)
_add(ASK, "replay", replay.replay, replay.EXAMPLES)
_add(ASK, "ui", ui.ui, ui.EXAMPLES)
_add(ASK, "top", top.top, top.EXAMPLES)
_add(RUN, "manifests", manifests.manifests, manifests.EXAMPLES)
app.add_typer(sticky, name="sticky", rich_help_panel=RUN)
_add(SERVICES, "scheduler", scheduler.scheduler, scheduler.EXAMPLES)
_add(SERVICES, "annotator", annotator.annotator, annotator.EXAMPLES)
_add(SERVICES, "rebalancer", rebalancer.rebalancer, rebalancer.EXAMPLES)
_add(SERVICES, "placement", placement.placement, placement.EXAMPLES)
_add(SERVICES, "shadow", shadow.shadow, shadow.EXAMPLES)
_add(DEVELOP, "plugins", plugins.plugins, plugins.EXAMPLES)
_add(DEVELOP, "bench", bench.bench, bench.EXAMPLES)
_add(DEVELOP, "dev-cluster", dev_cluster.dev_cluster, dev_cluster.EXAMPLES)
_add(DEVELOP, "completion", completion.completion, completion.EXAMPLES)
app.command("__complete", hidden=True)(completion.complete)


def _show_version(asked: bool) -> None:
    if asked:
        print(f"bayplan {__version__}")
        raise typer.Exit


@app.callback()
def _common(
    context: typer.Context,
    version: Annotated[
        bool, typer.Option("--version", help="Show the version and end.", callback=_show_version, is_eager=True)
    ] = False,
) -> None:
    if context.invoked_subcommand is None:
        print(context.get_help())


def run() -> None:
    """The console script."""
    sys.exit(main(sys.argv[1:]))


def main(arguments: Sequence[str]) -> int:
    """Run one command; the exit code."""
    with guarded():
        return _run(list(arguments), verbose="-v" in arguments or "--verbose" in arguments)


def _run(arguments: list[str], *, verbose: bool) -> int:
    set_up_logs(verbose=verbose)
    note_arguments(arguments)
    try:
        code = int(app(arguments, prog_name=_program(), standalone_mode=False) or 0)
        sys.stdout.flush()
        return code
    except UsageError as error:
        complain(f"{_usage_problem(error)}; see {_command_path(error)} --help")
        return WRONG
    except ReaderGone:
        return 0
    except (KeyboardInterrupt, typer.Abort):
        return INTERRUPTED
    except BaseException as error:  # nobody ends the process but ``run``; a library might try
        if isinstance(error, SystemExit) and _is_completing():
            return int(error.code or 0)
        if verbose:
            traceback.print_exception(error, file=sys.stderr)
        if isinstance(error, BayplanError):
            complain(str(error))
        else:
            hint = "" if verbose else "; -v shows where"
            complain(f"this should not have happened: {type(error).__name__}: {error}{hint}")
        return WRONG


def _is_completing() -> bool:
    """Whether a shell asks what could be typed next: the library answers, and ends the process itself."""
    return f"_{_program()}_COMPLETE".replace("-", "_").upper() in os.environ


def _usage_problem(error: Exception) -> str:
    told: str = getattr(error, "format_message", error.__str__)()
    # The word that the argument parser's library puts before what we say ourselves.
    return " ".join(told.split()).replace("Value error, ", "").rstrip(".")


def _command_path(error: Exception) -> str:
    context = getattr(error, "ctx", None)
    return context.command_path if context is not None else _program()


def _program() -> str:
    """As it was called: ``kubectl bayplan`` where kubectl found it."""
    return "kubectl bayplan" if os.path.basename(sys.argv[0]).startswith("kubectl-") else "bayplan"

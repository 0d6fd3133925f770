"""``bayplan shadow``: decides every pod that another scheduler binds once more, and says where the two differ."""

from __future__ import annotations

import json
import sys
import time
from enum import StrEnum
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from bayplan.cli import options
from bayplan.cli.output import WRONG, data_stream, write
from bayplan.errors import InputError

if TYPE_CHECKING:
    from bayplan.controllers.shadow.tally import Tally
    from bayplan.controllers.shadow.verdict import Verdict

EXAMPLES = """\
bayplan shadow                                 # with the default plugins
bayplan shadow --config scheduler.yaml --profile bayplan
bayplan shadow --for 10m -o json > verdicts.jsonl
"""
PORT = 10264
COUNTS_EVERY_S = 10.0
ON_TERMINAL_EVERY_S = 0.2


class Form(StrEnum):
    """How verdicts are shown."""

    TABLE = "table"
    JSON = "json"


Settle = Annotated[
    str,
    typer.Option("--settle", metavar="DURATION", help="How long events are held back to be put into their order."),
]


def shadow(
    config: options.Config = None,
    plugin: options.PluginSpecs = None,
    profile: options.DecidingProfile = "",
    kubeconfig: options.Kubeconfig = None,
    context: options.Context = None,
    run_for: options.RunFor = None,
    output: Annotated[Form, typer.Option("--output", "-o", help="A table, or one JSON object a line.")] = Form.TABLE,
    every: options.EveryVerdict = False,
    settle: Settle = "2s",
    secure_port: options.SecurePort = PORT,
    cert_dir: options.CertDir = None,
    open_metrics: options.OpenMetrics = False,
    log_format: options.LogFormats = options.LogFormat.TEXT,
    verbose: options.Verbose = False,
) -> int:
    """
    Decide every pod that somebody else binds once more, at the state of that moment, and say where we differ.

    Runs beside the scheduler of a cluster, reads only and writes nothing.  agree: the same node.  tie: another node
    with the same total.  race: binds were under way, and in one of their possible orders it is the same node.  differ:
    another node has a higher total.  infeasible: the node does not fit by our filters.  unjudged: bound by name, or
    while nobody looked.  Ctrl-C and SIGTERM end it with a summary.

    Exit code 0: it was told to stop; with --for: nothing differs.  1: with --for: some pods differ or are infeasible,
    or a part broke.  2: the arguments or the configuration are wrong, or, with --for, a plugin failed.
    """
    options.leave_when_told()
    from bayplan.app.config_file import read_config
    from bayplan.app.shadow.live import ShadowOptions, run_shadow
    from bayplan.app.shell import logging
    from bayplan.app.shell.process import ServiceOptions
    from bayplan.controllers.shadow.tally import Tally
    from bayplan.framework.config.model import LeaderElection

    logging.set_up(verbose=verbose, as_json=log_format == options.LogFormat.JSON)
    settings = read_config(None if config is None else Path(config), plugin or ())
    names = [each.scheduler_name for each in settings.profiles]
    if profile and profile not in names:
        raise InputError(f'there is no profile "{profile}"', field="--profile", fix=f"write one of {', '.join(names)}")
    run_for_s = None if run_for is None else options.read_timeout(run_for, "--for")
    tally = Tally()
    shown = (_Lines if output is Form.JSON else _Table)(tally, every)
    code = run_shadow(
        ShadowOptions(
            service=ServiceOptions(
                election=LeaderElection(leader_elect=False),
                kubeconfig=kubeconfig,
                context=context,
                secure_port=secure_port,
                cert_dir=cert_dir,
                open_metrics=open_metrics,
            ),
            config=settings,
            profile=profile or (names[0] if config is None else ""),
            plugins=tuple(plugin or ()),
            run_for_s=run_for_s,
            settle_s=options.read_duration(settle, "--settle") or 0.0,
        ),
        shown.tell,
        tally,
    )
    shown.end()
    if code or run_for is None:
        return code
    return WRONG if tally.has_errors else int(tally.is_different)


class _Lines:
    """One JSON object a line, the last of them the sums."""

    def __init__(self, tally: Tally, every: bool) -> None:
        self._tally = tally
        self._every = every

    def tell(self, verdict: Verdict) -> None:
        from bayplan.controllers.shadow.verdict import QUIET

        if self._every or verdict.finding not in QUIET:
            self._line("ShadowVerdict", verdict.as_document())

    def end(self) -> None:
        self._line("ShadowSummary", {"summary": self._tally.as_document()})

    def _line(self, kind: str, document: dict[str, Any]) -> None:
        from bayplan.simulator.explain.explanation import API_VERSION

        write(json.dumps({"apiVersion": API_VERSION, "kind": kind, **document}, ensure_ascii=False) + "\n")


class _Table:
    """A row for each pod; the counts on standard error, in one line that is written over on a terminal."""

    def __init__(self, tally: Tally, every: bool) -> None:
        from bayplan.controllers.shadow import tally as counting

        self._tally = tally
        self._every = every
        self._row = counting.row
        self._header = counting.HEADER
        self._widths = [len(name) for name in counting.HEADER]
        self._is_empty = True
        self._is_terminal = sys.stderr.isatty() and data_stream().isatty()
        self._due = 0.0

    def tell(self, verdict: Verdict) -> None:
        from bayplan.controllers.shadow.verdict import QUIET

        if self._every or verdict.finding not in QUIET:
            self._show(self._row(verdict))
        self._count()

    def end(self) -> None:
        self._clear()
        write(f"{'' if self._is_empty else chr(10)}{self._tally.as_text()}\n")

    def _show(self, cells: tuple[str, ...]) -> None:
        self._clear()
        if self._is_empty:
            self._is_empty = False
            self._widths = [max(wide, len(cell)) for wide, cell in zip(self._widths, cells, strict=True)]
            write(self._line(self._header))
        self._widths = [max(wide, len(cell)) for wide, cell in zip(self._widths, cells, strict=True)]
        write(self._line(cells))

    def _line(self, cells: tuple[str, ...]) -> str:
        *rest, last = cells
        return "   ".join([*(cell.ljust(wide) for cell, wide in zip(rest, self._widths, strict=False)), last]) + "\n"

    def _count(self) -> None:
        now = time.monotonic()
        if now < self._due:
            return
        self._due = now + (ON_TERMINAL_EVERY_S if self._is_terminal else COUNTS_EVERY_S)
        line = self._tally.as_text().partition("\n")[0]
        # The cursor goes back to the beginning of the line, so that whoever logs next writes over it.
        print(
            f"\r\x1b[K{line}\r" if self._is_terminal else line, end="" if self._is_terminal else "\n", file=sys.stderr
        )
        sys.stderr.flush()

    def _clear(self) -> None:
        if self._is_terminal:
            print("\r\x1b[K", end="", file=sys.stderr)
            sys.stderr.flush()

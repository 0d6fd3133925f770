"""``bayplan compare``: several configurations, plugins or weights on the same cluster and workload."""

from __future__ import annotations

import dataclasses
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from bayplan.cli import options
from bayplan.cli.cluster_input import Source, read_cluster
from bayplan.cli.output import WRONG, Shape, show, style, warn
from bayplan.cli.progress import progress
from bayplan.cli.reporting import look_of, reporting
from bayplan.errors import InputError

if TYPE_CHECKING:
    from bayplan.simulator.comparison.comparing import Run
    from bayplan.simulator.loading import Given

EXAMPLES = """\
bayplan compare -f cluster.yaml --config a.yaml --config b.yaml
bayplan compare -f cluster.yaml --weights NodeResourcesFit=10
bayplan compare -f cluster.yaml --with-plugin same_rack.py:SameRack -o json
bayplan compare --config packing.yaml --afresh   # live pods, placed anew
"""
BASE = "as-is"
"""What runs without anything beside it are called."""
RESERVED = ("namespace", "name", "because")


def compare(
    filename: options.FilesIfAny = None,
    config: Annotated[
        list[str] | None, options.many("--config", "FILE", "A KubeSchedulerConfiguration to compare.")
    ] = None,
    with_plugin: Annotated[
        list[str] | None,
        options.many("--with-plugin", "MODULE:CLASS", "The first configuration with this plugin beside."),
    ] = None,
    weights: Annotated[
        list[str] | None,
        options.many("--weights", "NAME=N[,NAME=N]", "The first configuration with other weights."),
    ] = None,
    afresh: Annotated[bool, typer.Option("--afresh", help="Place pods anew that are on nodes already.")] = False,
    price: Annotated[
        list[str] | None,
        options.many("--price", "KIND=NUMBER", "What a node costs, by its instance type.  Default: 1."),
    ] = None,
    recursive: options.Recursive = False,
    kubeconfig: options.Kubeconfig = None,
    context: options.Context = None,
    plugin: options.PluginSpecs = None,
    seed: options.Seed = 0,
    now: options.Now = None,
    output: options.Output = Shape.TABLE,
    report: options.Report = None,
    verbose: options.Verbose = False,
) -> int:
    """
    Which configuration does better?  Each schedules the same cluster and workload, in memory.

    Each --config, --with-plugin and --weights is a run; if there is only one, it is compared with the defaults.  The
    table marks the better one in each row, and lists the pods that differ with the plugin that tipped it.

    Exit code 0: every pod is on the same node in all runs.  1: some differ.  2: the input is wrong.
    """
    from bayplan.simulator.comparison import comparing, text

    moment = options.read_now(now)
    written = reporting(report, "compare", moment)
    source = Source(filename, recursive, kubeconfig, context)
    runs = _runs(source, config or (), with_plugin or (), weights or (), plugin or (), afresh=afresh)
    with progress("pods tried") as tell:
        document = comparing.compare(
            runs,
            prices=_prices(price or ()),
            seed=seed,
            now=moment,
            warn=_once(),
            progress=tell,
            look=look_of(written),
        )
    if written is not None:
        from bayplan.view.command_views import comparison_view

        written.write(comparison_view(document, written.looks))
    show(document, output, lambda: text.as_text(document, style=style()))
    if "stopped" in document:
        return WRONG
    return 1 if document["differ"] else 0


def _runs(
    source: Source,
    configs: Sequence[str],
    new_plugins: Sequence[str],
    weights: Sequence[str],
    plugins: Sequence[str],
    *,
    afresh: bool,
) -> list[Run]:
    from bayplan.plugins.plugin_set import Plugins, registry
    from bayplan.simulator import loading
    from bayplan.simulator.comparison import comparing, variants
    from bayplan.simulator.comparison.comparing import Run
    from bayplan.simulator.weights import reweighted
    from bayplan.simulator.what_if.reading import refuse_timetables

    if not (configs or new_plugins or weights):
        raise InputError("nothing to compare", fix="write --config FILE twice, or --with-plugin or --weights")
    asked = [variants.read_weights(each) for each in weights]
    given, _ = read_cluster(source, None, [*plugins, *new_plugins], with_workloads=True)
    refuse_timetables([*given.documents.values(), *given.later_documents.values()])
    known, own = given.plugins.known, registry(plugins).extra
    before = comparing.nodes_of(given)
    base = dataclasses.replace(comparing.afresh(given) if afresh else given, plugins=Plugins(known, own))
    found: list[tuple[str, Given]] = [
        (Path(path).stem, loading.reconfigured(base, path, base.plugins)) for path in configs
    ]
    first = found[0][1] if found else base
    for spec in new_plugins:
        extra = registry([spec]).extra
        found.append((extra[0], dataclasses.replace(first, plugins=Plugins(known, (*own, *extra)))))
    found += [(text, reweighted(first, each, "--weights")) for text, each in zip(weights, asked, strict=True)]
    if len(found) == 1:
        found.insert(0, (BASE, base))
    return [Run(name, each, before) for name, each in _named(found)]


def _named(runs: Sequence[tuple[str, Given]]) -> list[tuple[str, Given]]:
    """Each name once: the second of two gets a number."""
    taken: set[str] = set(RESERVED)
    named = []
    for name, given in runs:
        number, chosen = 1, name
        while chosen in taken:
            number += 1
            chosen = f"{name}-{number}"
        taken.add(chosen)
        named.append((chosen, given))
    return named


def _prices(texts: Sequence[str]) -> dict[str, float]:
    found: dict[str, float] = {}
    for text in texts:
        name, equals, number = text.rpartition("=")
        if name in found:
            raise InputError(f"{name} has two prices", field="--price", fix="leave one of them out")
        try:
            found[name] = float(number)
        except ValueError:
            found[name] = -1.0
        if not equals or not name or not 0 <= found[name] <= options.MOST_PRICE:
            raise InputError(f'"{text}" is no price', field="--price", fix="write such as m5.large=0.096")
    return found


def _once() -> Callable[[str], None]:
    """What is wrong with the input is so in every run, and told once."""
    told: set[str] = set()

    def tell(text: str) -> None:
        if text not in told:
            told.add(text)
            warn(text)

    return tell

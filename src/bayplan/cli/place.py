"""``bayplan place``: which clusters a Placement gets, without a hub and without writing anything."""

from __future__ import annotations

import json
from typing import Annotated, Any

import typer

from bayplan.cli import options
from bayplan.cli.output import Shape, complain, rendered, warn, write
from bayplan.cli.reporting import reporting
from bayplan.errors import InputError

EXAMPLES = """\
bayplan place -f fleet/ -f placement.yaml
bayplan place -f fleet/ --placement default/web --without region=eu
bayplan place -f fleet/ -f placement.yaml --plugin certified.py:Certified
"""


def place(
    filename: options.Files,
    recursive: options.Recursive = False,
    placement: Annotated[
        str | None,
        typer.Option("--placement", metavar="NS/NAME", help="Only this one.  Default: all.", show_default=False),
    ] = None,
    without: Annotated[
        str | None,
        typer.Option(
            "--without",
            metavar="SELECTOR",
            help="As if the clusters with these labels or claims were lost, such as region=eu.",
            show_default=False,
        ),
    ] = None,
    plugin: options.ClusterPluginSpecs = None,
    now: options.Now = None,
    output: Annotated[Shape, typer.Option("--output", "-o", help="How to show the result.")] = Shape.TABLE,
    report: options.Report = None,
    verbose: options.Verbose = False,
) -> int:
    """
    Clusters for the placements in the files: every filter step, score and spread count.

    Reads Placement, ManagedCluster, ManagedClusterSet, ManagedClusterSetBinding, AddOnPlacementScore and, for what is
    chosen already, PlacementDecision.
    Exit code 0: all are satisfied.  1: one has fewer clusters than it asks for.  2: the input is wrong.
    """
    import time

    from bayplan.placement import placing
    from bayplan.placement.explaining import unmatched
    from bayplan.placement.own_plugins import own_plugins
    from bayplan.simulator import loading

    plugins = own_plugins(plugin or ())
    at = options.read_now(now)
    written = reporting(report, "place", at)
    lost = None if without is None else _selector(without)
    given = loading.read(filename, recursive=recursive)
    for warning in given.warnings:
        warn(warning)
    moment = time.time() if at is None else at
    documents, state = placing.place(
        given.objects, now=moment, only=placement, without=lost, told=without or "", plugins=plugins
    )
    if written is not None:
        from bayplan.view.placement_view import placement_view

        written.write(placement_view(documents, given.objects, written.origin))
    write(_text(documents, output))
    is_wrong = False
    for document in documents:
        told = document["placement"]
        evaluation = state.evaluation(f"{told['namespace']}/{told['name']}")
        plan, source = evaluation.plan, given.place(evaluation.plan.placement)
        for note in unmatched(evaluation):
            warn(str(InputError(note).located(*_origin(source), f"Placement {plan.key}")))
        for mistake in plan.mistakes:
            is_wrong = True
            complain(str(mistake.located(*_origin(source), f"Placement {plan.key}")))
        if evaluation.failure:
            is_wrong = True
            complain(str(InputError(evaluation.failure).located(*_origin(source), f"Placement {plan.key}")))
    if is_wrong:
        return 2
    return 1 if any(each["conditions"][0]["status"] != "True" for each in documents) else 0


def _origin(document: Any) -> tuple[str, int]:
    return (document.source, document.line) if document is not None else ("", 0)


def _selector(text: str) -> Any:
    from bayplan.objects.selector_parsing import parse_selector

    try:
        selector = parse_selector(text)
    except ValueError as error:
        raise InputError(str(error), field="--without") from None
    if selector.is_empty:
        raise InputError("says nothing", field="--without", fix="write a selector such as region=eu")
    return selector


def _text(documents: list[dict[str, Any]], shape: str) -> str:
    if shape == Shape.JSON:
        return json.dumps(documents, indent=2, ensure_ascii=False) + "\n"
    if shape == Shape.YAML:
        return "---\n".join(rendered(each, shape) for each in documents)
    from bayplan.placement.text import as_text

    return "\n".join(as_text(each) for each in documents)

"""``bayplan manifests``: what to apply to a cluster to run Bayplan in it."""

from __future__ import annotations

from enum import StrEnum
from typing import Annotated

import typer

from bayplan.cli import options
from bayplan.cli.output import write

EXAMPLES = """\
bayplan manifests scheduler | kubectl apply -f -
bayplan manifests all --image example.com/bayplan:dev
"""


class Part(StrEnum):
    """What there are manifests of."""

    CRDS = "crds"
    SCHEDULER = "scheduler"
    REBALANCER = "rebalancer"
    ANNOTATOR = "annotator"
    STICKY_VM = "sticky-vm"
    PLACEMENT = "placement"
    ALL = "all"
    SHADOW = "shadow"
    UI = "ui"
    NETWORK_POLICIES = "network-policies"
    PROMETHEUS_RULES = "prometheus-rules"
    PROMETHEUS_OPERATOR_RULES = "prometheus-operator-rules"
    PLACEMENT_CRDS = "placement-crds"
    REBALANCER_PLAN = "rebalancer-plan"


def manifests(
    part: Annotated[
        Part, typer.Argument(metavar="[PART]", help=f"What to install: {', '.join(Part)}.  Default: all.")
    ] = Part.ALL,
    image: Annotated[
        str | None,
        typer.Option("--image", metavar="NAME", help="The image to run; by default the one that deploy/ builds."),
    ] = None,
    verbose: options.Verbose = False,
) -> int:
    """Print install manifests, ready for kubectl apply -f -."""
    from bayplan.app.install_manifests import manifests as text_of

    if image is not None and (not image.strip() or len(image.split()) > 1):
        raise typer.BadParameter(f'"{image}" is not the name of an image', param_hint="--image")
    write(text_of(part, image))
    return 0

"""``bayplan rebalancer``: keeps the pods of workload policies where they belong, or shows what it would do."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from bayplan.cli import options
from bayplan.cli.cluster_input import Source, read_cluster
from bayplan.cli.output import Shape, show, warn
from bayplan.cli.reporting import reporting
from bayplan.errors import InputError

if TYPE_CHECKING:
    from bayplan.app.rebalancer.live import RebalancerOptions
    from bayplan.controllers.rebalancer.move_plan import MovePlan
    from bayplan.framework.config.model import SchedulerConfig

EXAMPLES = """\
bayplan rebalancer --dry-run -f cluster.yaml
bayplan rebalancer --dry-run -o json           # of the live cluster
bayplan rebalancer --config scheduler.yaml --max-moving 5 --no-deletion-costs
bayplan rebalancer --plan plan.yaml            # of fit --shrink -o yaml
"""
LEASE = "bayplan-rebalancer"
PORT = 10263

DryRun = Annotated[bool, typer.Option("--dry-run", help="Show the plan for the cluster as it is, and end.")]
MaxMoving = Annotated[
    int, typer.Option("--max-moving", metavar="N", min=0, help="How many pods may be on the move at once.")
]
PerNamespace = Annotated[
    int, typer.Option("--max-moving-per-namespace", metavar="N", min=0, help="The same for each namespace.")
]
PerDomain = Annotated[
    int, typer.Option("--max-moving-per-domain", metavar="N", min=0, help="The same for each domain they leave.")
]
DeletionCosts = Annotated[
    bool,
    typer.Option(
        "--deletion-costs/--no-deletion-costs",
        help="Whether pods get deletion costs, so that scaling in keeps the policy.  Default: yes.",
        show_default=False,
    ),
]
PlanFile = Annotated[
    str | None,
    typer.Option(
        "--plan",
        metavar="FILE",
        help="Carry out a plan of bayplan fit --shrink or --make-room, and end.",
        show_default=False,
    ),
]


def rebalancer(
    config: options.Config = None,
    plan: PlanFile = None,
    dry_run: DryRun = False,
    filename: options.FilesIfAny = None,
    recursive: options.Recursive = False,
    output: Annotated[Shape, typer.Option("--output", "-o", help="How to show the plan.")] = Shape.TABLE,
    now: options.Now = None,
    kubeconfig: options.Kubeconfig = None,
    context: options.Context = None,
    max_moving: MaxMoving = 10,
    per_namespace: PerNamespace = 5,
    per_domain: PerDomain = 5,
    deletion_costs: DeletionCosts = True,
    leader_elect: options.LeaderElect = None,
    lease_namespace: options.LeaseNamespace = "kube-system",
    secure_port: options.SecurePort = PORT,
    cert_dir: options.CertDir = None,
    plugin: options.PluginSpecs = None,
    open_metrics: options.OpenMetrics = False,
    log_format: options.LogFormats = options.LogFormat.TEXT,
    report: options.Report = None,
    verbose: options.Verbose = False,
) -> int:
    """
    Keep the pods of workload policies where they belong, and the policies' status up to date.

    Give it the configuration of the scheduler that places the pods: it plans with the same engine.  Without --config:
    the pods with schedulerName bayplan.  Pods are moved only where a policy says rebalance: {mode: Auto}.

    --dry-run shows the plan for every policy, from files or from a live cluster that is only read.
    Exit code of a dry run: 0 nothing to move, 1 moves are planned, 2 bad input.

    --plan carries out a plan of bayplan fit instead, in waves and within the same limits, and ends.  Started again, it
    goes on where it was; with --dry-run it shows the steps.  Exit code: 0 all done, 1 some steps are not possible or it
    was stopped, 2 bad input.
    """
    if report and (plan is not None or not dry_run):
        fix = "add --dry-run, or leave it out" if plan is None else "leave it out"
        told = "has no effect without --dry-run" if plan is None else "has no effect with --plan"
        raise InputError(told, field="--report", fix=fix)
    source = Source(filename, recursive, kubeconfig, context)
    moves = None
    if plan is not None:
        from bayplan.controllers.rebalancer.move_plan import read_plan

        if not deletion_costs:
            raise InputError("has no effect with --plan", field="--no-deletion-costs", fix="leave it out")
        moves = read_plan(plan)
    if dry_run and moves is not None:
        return _show_steps(source, moves, config, plugin or (), now, output)
    if dry_run:
        return _dry_run(source, config, plugin or (), now, output, report)
    if filename:
        raise InputError("pods of files cannot be moved", field="--filename", fix="add --dry-run")
    options.leave_when_told()
    from bayplan.app.rebalancer.live import RebalancerOptions, run_rebalancer
    from bayplan.app.shell import logging
    from bayplan.app.shell.process import ServiceOptions
    from bayplan.controllers.rebalancer.controller import Settings
    from bayplan.controllers.rebalancer.terms import MoveLimits
    from bayplan.framework.config.model import LeaderElection

    logging.set_up(verbose=verbose, as_json=log_format == options.LogFormat.JSON)
    limits = MoveLimits(moving=max_moving, per_namespace=per_namespace, per_domain=per_domain)
    election = LeaderElection(
        resource_name=LEASE, resource_namespace=lease_namespace, leader_elect=leader_elect is not False
    )
    service = ServiceOptions(
        election=election,
        kubeconfig=kubeconfig,
        context=context,
        secure_port=secure_port,
        cert_dir=cert_dir,
        open_metrics=open_metrics,
    )
    made = RebalancerOptions(
        service=service,
        config=_read_config(config, plugin or (), moves),
        has_config=config is not None,
        plugins=tuple(plugin or ()),
        settings=Settings(limits=limits, writes_costs=deletion_costs),
    )
    return run_rebalancer(made) if moves is None else _carry_out(made, moves, output)


def _read_config(config: str | None, plugins: Sequence[str], plan: MovePlan | None) -> SchedulerConfig:
    """Without a configuration a plan says whose pods it is about; it was made with the default plugins for them."""
    from bayplan.app.config_file import read_config
    from bayplan.framework.config.model import ProfileConfig, SchedulerConfig

    if config is None and plan is not None and plan.schedulers:
        return SchedulerConfig(profiles=tuple(ProfileConfig(scheduler_name=name) for name in plan.schedulers))
    return read_config(None if config is None else Path(config), plugins)


def _carry_out(made: RebalancerOptions, plan: MovePlan, output: Shape) -> int:
    from bayplan.app.rebalancer.live_plan import run_plan
    from bayplan.controllers.rebalancer.plan_progress import as_text

    code, progress = run_plan(made, plan)
    document = progress.document()
    show(document, output, lambda: as_text(document))
    return code


def _show_steps(
    source: Source, plan: MovePlan, config: str | None, plugins: Sequence[str], now: str | None, output: Shape
) -> int:
    from bayplan.controllers.rebalancer.plan_progress import as_text
    from bayplan.simulator import rebalance_plan
    from bayplan.simulator.world import assemble

    given, _ = read_cluster(source, config, plugins, with_workloads=True)
    world = assemble(given, now=options.read_now(now), prospects=(), warn=warn)
    progress = rebalance_plan.looked_through(world, plan)
    document = progress.document()
    show(document, output, lambda: as_text(document))
    return 0 if progress.is_fine else 1


def _dry_run(
    source: Source, config: str | None, plugins: Sequence[str], now: str | None, output: Shape, report: str | None
) -> int:
    from bayplan.simulator import rebalance_plan
    from bayplan.simulator.world import assemble

    moment = options.read_now(now)
    written = reporting(report, "rebalancer", moment)
    given, _ = read_cluster(source, config, plugins)
    world = assemble(given, now=moment, warn=warn)
    document = rebalance_plan.plan_world(world)
    if written is not None:
        from bayplan.view.command_views import rebalance_view

        written.write(rebalance_view(document, world, written.origin))
    show(document, output, lambda: rebalance_plan.as_text(document))
    return 1 if document["summary"]["moves"] else 0

"""``bayplan placement``: decides the Placements of a hub."""

from __future__ import annotations

from bayplan.cli import options

EXAMPLES = """\
bayplan placement --context hub
bayplan placement --no-leader-elect --secure-port 0 -v
"""
LEASE = "bayplan-placement"
PORT = 10265


def placement(
    kubeconfig: options.Kubeconfig = None,
    context: options.Context = None,
    leader_elect: options.LeaderElect = None,
    lease_namespace: options.LeaseNamespace = "kube-system",
    secure_port: options.SecurePort = PORT,
    cert_dir: options.CertDir = None,
    open_metrics: options.OpenMetrics = False,
    plugin: options.ClusterPluginSpecs = None,
    log_format: options.LogFormats = options.LogFormat.TEXT,
    verbose: options.Verbose = False,
) -> int:
    """
    Decide the Placements of a hub: PlacementDecisions and conditions are kept up to date as clusters change.

    Open Cluster Management's own placement controller must not run beside it.
    """
    options.leave_when_told()
    from bayplan.app.placement.live import PlacementOptions, run_placement
    from bayplan.app.shell import logging
    from bayplan.framework.config.model import LeaderElection
    from bayplan.placement.own_plugins import own_plugins

    logging.set_up(verbose=verbose, as_json=log_format == options.LogFormat.JSON)
    election = LeaderElection(
        resource_name=LEASE, resource_namespace=lease_namespace, leader_elect=leader_elect is not False
    )
    return run_placement(
        PlacementOptions(
            election=election,
            kubeconfig=kubeconfig,
            context=context,
            secure_port=secure_port,
            cert_dir=cert_dir,
            open_metrics=open_metrics,
            plugins=own_plugins(plugin or ()),
        )
    )

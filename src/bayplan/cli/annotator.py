"""``bayplan annotator``: node load from Prometheus to annotations of the nodes."""

from __future__ import annotations

from typing import Annotated

import typer

from bayplan.cli import options

EXAMPLES = """\
bayplan annotator --prometheus-address http://prometheus.monitoring:9090
bayplan annotator --prometheus-address http://localhost:9090 --spare-capacity
"""
LEASE = "bayplan-annotator"


def annotator(
    prometheus_address: Annotated[
        str,
        typer.Option(metavar="URL", help="Where Prometheus is, such as http://prometheus.monitoring:9090."),
    ],
    policy_config_path: Annotated[
        str | None,
        typer.Option(metavar="FILE", help="A DynamicSchedulerPolicy.  Default: the published one.", show_default=False),
    ] = None,
    policy_config_map: Annotated[
        str | None,
        typer.Option(
            metavar="NAMESPACE/NAME[/KEY]", help="A ConfigMap that holds the policy instead.", show_default=False
        ),
    ] = None,
    prometheus_bearer_token_file: Annotated[
        str | None, typer.Option(metavar="FILE", help="A bearer token for Prometheus.", show_default=False)
    ] = None,
    prometheus_username: Annotated[
        str | None, typer.Option(metavar="NAME", help="A name for basic authentication.", show_default=False)
    ] = None,
    prometheus_password_file: Annotated[
        str | None, typer.Option(metavar="FILE", help="The password for it.", show_default=False)
    ] = None,
    prometheus_ca_file: Annotated[
        str | None,
        typer.Option(metavar="FILE", help="Who signed Prometheus' certificate.", show_default=False),
    ] = None,
    prometheus_cert_file: Annotated[
        str | None, typer.Option(metavar="FILE", help="Our own certificate for Prometheus.", show_default=False)
    ] = None,
    prometheus_key_file: Annotated[
        str | None, typer.Option(metavar="FILE", help="The key of our own certificate.", show_default=False)
    ] = None,
    prometheus_server_name: Annotated[
        str | None,
        typer.Option(metavar="NAME", help="The name in Prometheus' certificate, if not its host.", show_default=False),
    ] = None,
    prometheus_insecure_skip_tls_verify: Annotated[
        bool, typer.Option("--prometheus-insecure-skip-tls-verify", help="Do not check Prometheus' certificate.")
    ] = False,
    prometheus_timeout: Annotated[str, typer.Option(metavar="DURATION", help="How long a query may take.")] = "10s",
    kube_api_qps: Annotated[float, typer.Option(metavar="N", min=0.1, help="Writes to nodes a second.")] = 50.0,
    kube_api_burst: Annotated[int, typer.Option(metavar="N", min=1, help="Writes at once after a quiet time.")] = 100,
    spare_capacity: Annotated[
        bool, typer.Option("--spare-capacity", help="Keep ledgers of what nodes have to spare, for spare pods.")
    ] = False,
    spare_cpu_share: Annotated[
        float, typer.Option(metavar="SHARE", min=0, max=1, help="How much of a node's CPU all pods together may use.")
    ] = 0.65,
    spare_memory_share: Annotated[
        float, typer.Option(metavar="SHARE", min=0, max=1, help="The same for memory.")
    ] = 0.65,
    kubeconfig: options.Kubeconfig = None,
    context: options.Context = None,
    leader_elect: options.LeaderElect = None,
    lease_namespace: options.LeaseNamespace = "kube-system",
    health_port: Annotated[
        int,
        typer.Option(metavar="PORT", min=0, max=65535, help="HTTPS for health and metrics; 0: none."),
    ] = 8090,
    cert_dir: options.CertDir = None,
    open_metrics: options.OpenMetrics = False,
    log_format: options.LogFormats = options.LogFormat.TEXT,
    verbose: options.Verbose = False,
) -> int:
    """
    Write the load of nodes, as Prometheus knows it, into their annotations, for the plugin Dynamic.

    SIGTERM ends it in order: writes under way are finished and the lease is given back.

    Exit code 0: it was told to stop.  1: it lost the lease, or a part broke.  2: the arguments or the policy are wrong.
    """
    options.leave_when_told()
    from bayplan.app.annotator.live import AnnotatorOptions, run_annotator
    from bayplan.app.annotator.policy_source import PolicySource
    from bayplan.app.shell import logging
    from bayplan.app.shell.process import ServiceOptions
    from bayplan.controllers.node_annotator.prometheus import PrometheusAccess
    from bayplan.controllers.spare_capacity.settings import SpareSettings
    from bayplan.framework.config.model import LeaderElection

    logging.set_up(verbose=verbose, as_json=log_format == options.LogFormat.JSON)
    return run_annotator(
        AnnotatorOptions(
            service=ServiceOptions(
                election=LeaderElection(
                    resource_name=LEASE, resource_namespace=lease_namespace, leader_elect=leader_elect is not False
                ),
                kubeconfig=kubeconfig,
                context=context,
                secure_port=health_port,
                cert_dir=cert_dir,
                open_metrics=open_metrics,
            ),
            prometheus=PrometheusAccess(
                address=prometheus_address,
                bearer_token_file=prometheus_bearer_token_file or "",
                username=prometheus_username or "",
                password_file=prometheus_password_file or "",
                ca_file=prometheus_ca_file or "",
                cert_file=prometheus_cert_file or "",
                key_file=prometheus_key_file or "",
                server_name=prometheus_server_name or "",
                insecure=prometheus_insecure_skip_tls_verify,
                timeout_s=options.read_timeout(prometheus_timeout, "--prometheus-timeout"),
            ),
            policy=PolicySource(policy_config_path or "", policy_config_map or ""),
            qps=kube_api_qps,
            burst=kube_api_burst,
            spare=SpareSettings(spare_cpu_share, spare_memory_share) if spare_capacity else None,
        )
    )

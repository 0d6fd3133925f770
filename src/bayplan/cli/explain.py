"""``bayplan explain``: why a pod is pending, or why it is where it is."""

from __future__ import annotations

from typing import Annotated

import typer

from bayplan.cli import options
from bayplan.cli.cluster_input import Asked, asking, read_cluster
from bayplan.cli.output import WRONG, show, style, warn
from bayplan.cli.progress import progress
from bayplan.errors import InputError

EXAMPLES = """\
bayplan explain pod/web-0                      # of the live cluster
bayplan explain shop/web-0 -f cluster.yaml     # in the namespace shop
bayplan explain deployment/web -n shop -f cluster.yaml
bayplan explain pod web-0 -f cluster.yaml --top 10 -o json
"""


@asking
def explain(
    what: Annotated[
        list[str],
        typer.Argument(
            metavar="[KIND/]NAME",
            help="A pod (pod/NAME or NAMESPACE/NAME), or a workload such as deployment/NAME: all its pods.",
        ),
    ],
    asked: Asked,
    namespace: options.Namespace = None,
    top: Annotated[int, typer.Option("--top", metavar="N", min=1, help="How many nodes to show the scores of.")] = 3,
) -> int:
    """
    Why is it pending, or why is it there?  Nothing is written anywhere.

    The pod is judged alone against the cluster as given by -f, or, without -f, against a live one that is only read:
    other pending pods stay pending.  Of a workload every pod is explained, and pods that fare alike are told together:
    deployment, statefulset, daemonset, replicaset, job, vm, or short deploy, sts, ds, rs.

    Exit code 0: schedulable or bound.  1: unschedulable, or held by Permit.  2: no such pod, the input is wrong, or a
    plugin failed.
    """
    from bayplan.simulator.explain import outcomes, subject
    from bayplan.simulator.world import assemble

    about = subject.read(what)
    if namespace and about.namespace and namespace != about.namespace:
        raise InputError(
            f'"{" ".join(what)}" is in another namespace', field="--namespace", fix="leave one of them out"
        )
    started = options.read_now(asked.now)
    given, default = read_cluster(asked.source, asked.config, asked.plugins)
    about = about._replace(namespace=namespace or about.namespace or default)
    world = assemble(given, seed=asked.seed, now=started, only=about, warn=warn)
    with progress("pods judged") as tell:
        document = outcomes.explain_subject(world, about, tell)
    show(document, asked.output, lambda: outcomes.as_text(document, top=top, style=style()))
    if outcomes.has_errors(document):
        return WRONG
    return 0 if outcomes.is_good(document) else 1

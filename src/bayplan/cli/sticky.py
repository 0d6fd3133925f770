"""``bayplan sticky``: which virtual machines stick to which nodes, and setting one free."""

from __future__ import annotations

from typing import Annotated, Any

import typer

from bayplan.cli import options
from bayplan.cli.help import Command, Group
from bayplan.cli.output import Shape, show, warn
from bayplan.errors import InputError

STICKY_NODE = "bayplan.io/sticky-node"

LIST_EXAMPLES = """\
bayplan sticky list                            # of the live cluster
bayplan sticky list -n machines -f cluster.yaml -o json
"""
RELEASE_EXAMPLES = """\
bayplan sticky release vm-1 -n machines
bayplan sticky release statefulset/web-0
"""

sticky = typer.Typer(
    help="Which virtual machines stick to which nodes, and setting one free.",
    epilog=LIST_EXAMPLES + RELEASE_EXAMPLES,
    cls=Group,
    add_completion=False,
    rich_markup_mode=None,
)

Namespace = Annotated[
    str | None,
    typer.Option("--namespace", "-n", metavar="NS", help="The namespace.", show_default=False),
]
AnnotationKey = Annotated[
    str,
    typer.Option("--annotation-key", metavar="KEY", help="The plugin's annotationKey, if it was given another one."),
]


@sticky.command("list", cls=Command, epilog=LIST_EXAMPLES)
def list_sticky(
    filename: options.FilesIfAny = None,
    recursive: options.Recursive = False,
    namespace: Namespace = None,
    annotation_key: AnnotationKey = STICKY_NODE,
    kubeconfig: options.Kubeconfig = None,
    context: options.Context = None,
    output: Annotated[Shape, typer.Option("--output", "-o", help="How to show the list.")] = Shape.TABLE,
    verbose: options.Verbose = False,
) -> int:
    """
    What sticks to which node: virtual machines, and pods of StatefulSets.  Nothing is changed.

    From files with -f, else from a live cluster.  Without -n of all namespaces.
    """
    from bayplan.app import sticky_command
    from bayplan.objects.files import loading, manifests

    if filename and (kubeconfig or context):
        raise InputError("files and a live cluster at once", fix="leave out -f, or --kubeconfig and --context")
    if filename:
        objects = loading.load(manifests.read(filename, recursive=recursive, warn=warn)).objects
    else:
        objects = sticky_command.look(kubeconfig, context, warn, namespace)
    document = sticky_command.sticky_list(objects, annotation_key, namespace)
    show(document, output, lambda: _text(document))
    return 0


@sticky.command("release", cls=Command, epilog=RELEASE_EXAMPLES)
def release(
    name: Annotated[
        str, typer.Argument(metavar="VM", help="A virtual machine; or statefulset/POD for a pod of a StatefulSet.")
    ],
    namespace: Namespace = None,
    annotation_key: AnnotationKey = STICKY_NODE,
    kubeconfig: options.Kubeconfig = None,
    context: options.Context = None,
    verbose: options.Verbose = False,
) -> int:
    """
    Set a virtual machine free: its next pod may go to any node, and sticks to that one then.

    A machine that runs goes on running where it is.
    Exit code 0: released.  1: it stuck to no node.  2: there is no such machine, or it may not be changed.
    """
    from bayplan.app import sticky_command

    label, node = sticky_command.release(name, namespace, annotation_key, kubeconfig, context)
    if not node:
        print(f"{label} sticks to no node")
        return 1
    print(f"{label} is released from {node}: its next pod may go to any node")
    return 0


def _text(document: dict[str, Any]) -> str:
    from bayplan.text_layout import table

    rows = [
        [
            item["namespace"],
            f"{item['kind']}/{item['name']}",
            item["node"] or "(released)",
            item["nodeState"] or "-",
            item["runsOn"] or "-",
        ]
        for item in document["items"]
    ]
    return table(["NAMESPACE", "NAME", "NODE", "NODE-STATE", "RUNS-ON"], rows) if rows else "nothing sticks to a node"

"""``bayplan what-if``: what would change in a cluster, before anybody touches it."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Annotated

import typer

from bayplan.cli import options
from bayplan.cli.cluster_input import Asked, asking, read_cluster
from bayplan.cli.output import WRONG, show, style, warn
from bayplan.cli.progress import progress
from bayplan.cli.reporting import look_of, reporting
from bayplan.errors import InputError

if TYPE_CHECKING:
    from bayplan.simulator.loading import Given
    from bayplan.simulator.what_if.changes import Change
    from bayplan.simulator.what_if.scenario import Question

EXAMPLES = """\
bayplan what-if --drain node-1                       # of the live cluster
bayplan what-if -f cluster.yaml --remove zone=a      # an outage
bayplan what-if -f cluster.yaml --add 3 --like node-1 --scale deploy/web=20
bayplan what-if -f cluster.yaml --apply new.yaml --delete deploy/old -o json
bayplan what-if -f cluster.yaml --with-config other.yaml
bayplan what-if -f cluster.yaml --changes changes.yaml
"""


@asking
def what_if(
    asked: Asked,
    drain: Annotated[
        list[str] | None, options.many("--drain", "NODE", "Evict the pods of a node, as kubectl drain does.")
    ] = None,
    remove: Annotated[
        list[str] | None,
        options.many("--remove", "NODE|SELECTOR", "Nodes are gone at once: by name, or such as zone=a."),
    ] = None,
    add: Annotated[
        list[int] | None, options.many("--add", "N", "So many more nodes; say which with one of the next two.")
    ] = None,
    like: Annotated[
        list[str] | None, options.many("--like", "NODE", "With --add: a node that the new ones are like.")
    ] = None,
    node_template: Annotated[
        list[str] | None,
        options.many("--node-template", "FILE", "With --add: a file with one Node that the new ones are like."),
    ] = None,
    scale: Annotated[
        list[str] | None, options.many("--scale", "KIND/NAME=N", "Another size, such as deploy/web=20.")
    ] = None,
    apply: Annotated[list[str] | None, options.many("--apply", "FILE", "Objects that are created, or changed.")] = None,
    delete: Annotated[
        list[str] | None, options.many("--delete", "KIND/NAME", "An object that goes, such as deploy/web.")
    ] = None,
    with_config: Annotated[
        str | None,
        typer.Option(
            "--with-config",
            metavar="FILE",
            help="Another KubeSchedulerConfiguration takes over from --config.",
            show_default=False,
        ),
    ] = None,
    with_plugin: Annotated[
        list[str] | None,
        options.many("--with-plugin", "MODULE:CLASS", "A plugin of your own that was not there before."),
    ] = None,
    changes: Annotated[
        list[str] | None, options.many("--changes", "FILE", "A list of changes, written as the JSON output shows them.")
    ] = None,
    namespace: options.Namespace = None,
    report: options.Report = None,
) -> int:
    """
    What would change?  The cluster as given by -f, or a live one that is only read, is played on with some changes.

    First pods that wait get the room there is.  Then everything but draining happens in one moment, in this order:
    --with-config and --with-plugin, --add, --delete, --apply, --scale, --remove.  Then nodes are drained, one after the
    other, and disruption budgets are kept.  What is bound stays where it is unless it must go.

    Exit code 0: nobody is worse off.  1: a pod has no room or is lost, or a budget blocks a drain.  2: wrong input.
    """
    from bayplan.simulator.what_if import scenario, text
    from bayplan.simulator.what_if.changes import Apply, Drain, Reconfigure, read_delete, read_remove, read_scale
    from bayplan.simulator.what_if.reading import changes_of

    wanted: list[Change] = [
        *([Reconfigure(with_config or "", tuple(with_plugin or ()))] if with_config or with_plugin else []),
        *_added(add or (), like or (), node_template or ()),
        *(read_delete(each, "--delete") for each in delete or ()),
        *(Apply(each) for each in apply or ()),
        *(read_scale(each, "--scale") for each in scale or ()),
        *(read_remove(each, "--remove") for each in remove or ()),
        *(Drain(each) for each in drain or ()),
        *(change for path in changes or () for change in changes_of(path)),
    ]
    if not wanted:
        raise InputError(
            "nothing is to change", fix="write such as --drain NODE, --remove zone=a or --scale deploy/web=20"
        )
    moment = options.read_now(asked.now)
    written = reporting(report, "what-if", moment)
    given, question = _read(asked, wanted, namespace)
    with progress("pods tried") as tell:
        document = scenario.what_if(
            given, question, seed=asked.seed, now=moment, warn=warn, progress=tell, look=look_of(written)
        )
    if written is not None:
        from bayplan.view.command_views import what_if_view

        written.write(what_if_view(document, written.looks))
    show(document, asked.output, lambda: text.as_text(document, style=style()))
    if "stopped" in document:
        return WRONG
    return 1 if document["worseOff"] else 0


def _added(counts: Sequence[int], like: Sequence[str], templates: Sequence[str]) -> list[Change]:
    """Each --add with the --like or the --node-template that stands beside it."""
    from bayplan.simulator.what_if.changes import read_add

    if like and templates:
        fix = "write them as a list for --changes, such as - {add: 3, like: node-1}"
        raise InputError("which --add is which cannot be told", field="--node-template", fix=fix)
    kinds = [*like, *templates]
    if len(kinds) > len(counts):
        flag = "--like" if like else "--node-template"
        raise InputError("has no effect without --add", field=flag, fix="write --add N, too")
    if len(kinds) < len(counts):
        fix = "write --like NODE or --node-template FILE, one for each --add"
        raise InputError("nothing says what the nodes are like", field="--add", fix=fix)
    return [
        read_add(count, kind if like else "", "" if like else kind, "--add")
        for count, kind in zip(counts, kinds, strict=True)
    ]


def _read(asked: Asked, changes: Sequence[Change], namespace: str | None) -> tuple[Given, Question]:
    """The cluster without the changes, and the question."""
    import dataclasses

    from bayplan.plugins.plugin_set import Plugins, registry
    from bayplan.simulator import loading
    from bayplan.simulator.what_if import reading
    from bayplan.simulator.what_if.changes import Add
    from bayplan.simulator.what_if.scenario import Question, successor_changes

    new = successor_changes(changes)
    everyone = [*asked.plugins, *(new.plugins if new is not None else ())]
    more = reading.applied(changes)
    given, default = read_cluster(asked.source, asked.config, everyone, more=more, with_workloads=True)
    reading.refuse_timetables([*given.documents.values(), *given.later_documents.values()], more)
    coming = reading.coming(given)
    known = given.plugins
    given = dataclasses.replace(given, later=[], plugins=Plugins(known.known, registry(asked.plugins).extra))
    templates = [each.template for each in changes if isinstance(each, Add) and each.template]
    question = Question(
        changes=changes,
        coming=coming,
        templates={path: reading.node_template(path, known) for path in templates},
        successor=None if new is None else loading.reconfigured(given, new.config, known),
        namespace=namespace or default,
    )
    return given, question

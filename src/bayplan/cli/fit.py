"""``bayplan fit``: how many more pods fit, which nodes to buy, which to empty."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Annotated, Any

import typer

from bayplan.cli import options
from bayplan.cli.cluster_input import Asked, asking, read_cluster
from bayplan.cli.output import WRONG, show, style, warn
from bayplan.cli.progress import progress
from bayplan.cli.reporting import look_of, reporting
from bayplan.errors import InputError

if TYPE_CHECKING:
    from bayplan.objects.meta import ApiObject
    from bayplan.simulator.fit.buying import Offer
    from bayplan.simulator.loading import Given

EXAMPLES = """\
bayplan fit -f cluster.yaml --pod pod.yaml           # how many more
bayplan fit --pod pod.yaml --preempt -o json         # of the live cluster
bayplan fit -f c.yaml --pod app.yaml --node-template m5.yaml --price 0.1
bayplan fit -f cluster.yaml --node-template m5.yaml --node-template m6.yaml
bayplan fit -f cluster.yaml --shrink                 # which nodes to empty
bayplan fit -f c.yaml --pod large.yaml --make-room   # what to move for it
bayplan fit --shrink -o yaml                         # for rebalancer --plan
"""


@asking
def fit(
    asked: Asked,
    pod: Annotated[
        str | None,
        typer.Option(
            "--pod",
            metavar="FILE",
            help="A Pod, or a workload whose pods it is about; with --make-room also several.",
            show_default=False,
        ),
    ] = None,
    preempt: Annotated[bool, typer.Option("--preempt", help="Pods of lower priority may go for them.")] = False,
    most: Annotated[
        int | None,
        typer.Option("--most", metavar="N", min=1, help="Ask for no more pods.  Default: 100000.", show_default=False),
    ] = None,
    node_template: Annotated[
        list[str] | None,
        options.many("--node-template", "FILE", "A file with one Node that can be bought: how few hold everything?"),
    ] = None,
    price: Annotated[
        list[str] | None,
        options.many(
            "--price",
            "NUMBER|NAME=NUMBER",
            "With --node-template: what one costs, in the order of the templates or by name.",
        ),
    ] = None,
    count: Annotated[
        int | None,
        typer.Option(
            "--count",
            metavar="N",
            min=1,
            help="With --node-template and --make-room: so many more pods.  Default: as the file says.",
            show_default=False,
        ),
    ] = None,
    shrink: Annotated[bool, typer.Option("--shrink", help="Which nodes could be emptied, and by which moves?")] = False,
    most_moves: Annotated[
        int | None,
        typer.Option(
            "--most-moves",
            metavar="N",
            min=0,
            help="With --shrink: plan no more moves.  Default: 500.",
            show_default=False,
        ),
    ] = None,
    make_room: Annotated[
        bool, typer.Option("--make-room", help="Which pods would have to move so that these fit, all of them together?")
    ] = False,
    report: options.Report = None,
) -> int:
    """
    How many more pods like this fit into the cluster as given by -f, or into a live one that is only read?

    With --node-template: how few nodes of which templates hold the pods and everything that waits?  With --shrink:
    which nodes could be emptied with every rule and disruption budget kept?  With --make-room: what has to move for it?
    Pods that wait get the room there is before anything is asked.

    Exit code 0: at least one fits, everything is held, or a node can be emptied.  1: not so.  2: the input is wrong.
    """
    from bayplan.simulator.fit import text
    from bayplan.simulator.fit.more_pods import kind_among

    _check(pod, node_template or (), shrink, make_room)
    _check_needs(preempt, most, price, count, most_moves, node_template, shrink, make_room)
    moment = options.read_now(asked.now)
    written = reporting(report, "fit", moment)
    given, coming = _read(asked, pod)
    kind = kind_among(coming, pod) if pod and not make_room else None
    at: dict[str, Any] = {"seed": asked.seed, "now": moment, "warn": warn, "look": look_of(written)}
    with progress("pods tried") as tell:
        at["progress"] = tell
        if node_template:
            from bayplan.simulator.fit.buying import buy

            document = buy(given, _offers(node_template, price or (), given), kind, count, **at)
        elif shrink:
            from bayplan.simulator.fit.planning import shrunk

            document = shrunk(given, most_moves, **at)
        elif make_room:
            from bayplan.simulator.fit.gang import gang_among
            from bayplan.simulator.fit.planning import with_room

            assert pod is not None, "it has been checked"
            document = with_room(given, gang_among(coming, pod, count), **at)
        else:
            from bayplan.simulator.fit.filling import MOST, Wish, fill

            assert kind is not None, "it has been checked"
            document = fill(given, Wish(kind, preempt, most or MOST), **at)
    if written is not None:
        from bayplan.view.command_views import fit_view

        written.write(fit_view(document, written.looks))
    show(document, asked.output, lambda: text.as_text(document, style=style()))
    return WRONG if "stopped" in document else 0 if _is_good(document) else 1


def _is_good(document: dict[str, Any]) -> bool:
    if "buy" in document:
        return not document["pending"]
    if "empty" in document:
        return bool(document["empty"])
    return document["room"]["node"] is not None if "room" in document else document["fits"] > 0


def _check(pod: str | None, templates: Sequence[str], shrink: bool, make_room: bool) -> None:
    asked = [
        flag
        for flag, is_on in (("--node-template", templates), ("--shrink", shrink), ("--make-room", make_room))
        if is_on
    ]
    if len(asked) > 1:
        raise InputError(f"{' and '.join(asked)} are different questions", fix="leave one of them out")
    if shrink and pod:
        raise InputError("has no effect with --shrink", field="--pod", fix="leave one of them out")
    if not (pod or templates or shrink):
        raise InputError("nothing says what is to fit", fix="write --pod FILE, or ask with --shrink")


def _check_needs(
    preempt: bool,
    most: int | None,
    price: list[str] | None,
    count: int | None,
    most_moves: int | None,
    templates: list[str] | None,
    shrink: bool,
    make_room: bool,
) -> None:
    """Options that say something about another question."""
    is_filling = not (templates or shrink or make_room)
    for flag, is_given, has_effect in (
        ("--preempt", preempt, is_filling),
        ("--most", most is not None, is_filling),
        ("--price", bool(price), bool(templates)),
        ("--count", count is not None, bool(templates or make_room)),
        ("--most-moves", most_moves is not None, shrink),
    ):
        if is_given and not has_effect:
            raise InputError("has no effect on this question", field=flag, fix="leave it out")


def _read(asked: Asked, pod: str | None) -> tuple[Given, list[ApiObject]]:
    """The cluster, and what the file of --pod holds."""
    import dataclasses

    from bayplan.simulator.what_if import reading
    from bayplan.simulator.what_if.changes import Apply

    more = reading.applied([Apply(pod)] if pod else [])
    given, _ = read_cluster(asked.source, asked.config, asked.plugins, more=more, with_workloads=True)
    reading.refuse_timetables([*given.documents.values(), *given.later_documents.values()], more)
    coming = reading.coming(given)
    return dataclasses.replace(given, later=[]), coming


def _offers(templates: Sequence[str], prices: Sequence[str], given: Given) -> list[Offer]:
    from bayplan.simulator.fit.buying import Offer
    from bayplan.simulator.what_if.reading import node_template

    nodes = [node_template(path, given.plugins) for path in templates]
    names = [node.name for node in nodes]
    twice = next((name for name in names if names.count(name) > 1), None)
    if twice is not None:
        raise InputError(f'two templates are called "{twice}"', field="--node-template", fix="give one another name")
    by_name = _prices(prices, names)
    return [Offer(node.name, node, by_name.get(node.name, 1.0)) for node in nodes]


def _prices(texts: Sequence[str], names: Sequence[str]) -> dict[str, float]:
    if not texts:
        return {}
    found: dict[str, float] = {}
    for position, written in enumerate(texts):
        name, equals, number = written.rpartition("=")
        if not equals:
            if position >= len(names):
                raise InputError("there are more prices than templates", field="--price", fix="leave one out")
            name = names[position]
        if name not in names:
            raise InputError(f'no template is called "{name}"', field="--price", fix=f"write {' or '.join(names)}")
        if name in found:
            raise InputError(f"{name} has two prices", field="--price", fix="leave one of them out")
        try:
            found[name] = float(number)
        except ValueError:
            raise InputError(f'"{number}" is no price', field="--price", fix="write a number such as 0.12") from None
        if not 0 < found[name] <= options.MOST_PRICE:
            fix = f"write a number above 0, up to {options.MOST_PRICE:g}"
            raise InputError(f'"{number}" is no price', field="--price", fix=fix)
    missing = [name for name in names if name not in found]
    if missing:
        raise InputError(f"{missing[0]} has no price", field="--price", fix="give every template one, or none")
    return found

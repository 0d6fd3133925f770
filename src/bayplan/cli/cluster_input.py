"""
The cluster that a question is about: from files, or from a live one that is only read.

``explain``, ``what-if``, ``fit``, ``compare`` and ``rebalancer --dry-run`` read it here.
"""

from __future__ import annotations

import dataclasses
import functools
import inspect
from collections.abc import Callable, Sequence
from typing import TYPE_CHECKING, Any, NamedTuple, get_type_hints

from bayplan.cli import options
from bayplan.cli.output import Shape, warn
from bayplan.errors import InputError

if TYPE_CHECKING:
    from bayplan.objects.files.manifests import Document
    from bayplan.simulator.loading import Given


class Source(NamedTuple):
    """Where to read, as the options say it."""

    filename: Sequence[str] | None = None
    recursive: bool = False
    kubeconfig: str | None = None
    context: str | None = None


@dataclasses.dataclass(frozen=True, slots=True, kw_only=True)
class Asked:
    """What all questions about a cluster have in common: its fields are options of the commands that take one."""

    filename: options.FilesIfAny = None
    recursive: options.Recursive = False
    kubeconfig: options.Kubeconfig = None
    context: options.Context = None
    config: options.Config = None
    plugin: options.PluginSpecs = None
    seed: options.Seed = 0
    now: options.Now = None
    output: options.Output = Shape.TABLE
    verbose: options.Verbose = False

    @property
    def source(self) -> Source:
        return Source(self.filename, self.recursive, self.kubeconfig, self.context)

    @property
    def plugins(self) -> Sequence[str]:
        return self.plugin or ()


def asking(command: Callable[..., int]) -> Callable[..., int]:
    """A command whose parameter ``asked`` is an ``Asked``: on the command line each of its fields is an option."""
    hints = get_type_hints(Asked, include_extras=True)
    shared = [
        inspect.Parameter(each.name, inspect.Parameter.KEYWORD_ONLY, default=each.default, annotation=hints[each.name])
        for each in dataclasses.fields(Asked)
    ]
    written = inspect.signature(command, eval_str=True).parameters.values()
    own = [each.replace(kind=inspect.Parameter.KEYWORD_ONLY) for each in written if each.name != "asked"]
    arguments = [each for each in own if each.default is inspect.Parameter.empty]
    # Files first, then what the command is about, then the rest: so help shows them.
    ordered = [*arguments, shared[0], *(each for each in own if each not in arguments), *shared[1:]]

    @functools.wraps(command)
    def run(**given: Any) -> int:
        asked = Asked(**{each.name: given.pop(each.name) for each in shared})
        return command(asked=asked, **given)

    described: Any = run
    described.__signature__ = inspect.Signature(ordered, return_annotation=int)
    described.__annotations__ = {each.name: each.annotation for each in ordered} | {"return": int}
    return run


def read_cluster(
    source: Source,
    config: str | None,
    plugins: Sequence[str],
    *,
    more: Sequence[Document] = (),
    with_workloads: bool = False,
) -> tuple[Given, str]:
    """
    The cluster, and the namespace that is meant where none is named.

    Args:
        more: what is read beside it, from elsewhere.
        with_workloads: of a live cluster, read also who makes its pods.
    """
    from bayplan.simulator import loading

    if source.filename and (source.kubeconfig or source.context):
        raise InputError("files and a live cluster at once", fix="leave out -f, or --kubeconfig and --context")
    if source.filename:
        files = list(source.filename)
        given = loading.read(files, recursive=source.recursive, config=config, plugins=plugins, more=more)
        return given, "default"
    return _live(source, config, plugins, more, with_workloads)


def _live(
    source: Source, config: str | None, plugins: Sequence[str], more: Sequence[Document], with_workloads: bool
) -> tuple[Given, str]:
    from bayplan.app.snapshot.live_cluster import WORKLOADS, look
    from bayplan.plugins.plugin_set import registry
    from bayplan.simulator import loading

    known = registry(plugins)
    beside = WORKLOADS if with_workloads else ()
    live = look(source.kubeconfig, source.context, plugins=known, beside=beside, whole=True, warn=warn)
    documents = [*loading.documents_of(live.documents), *more]
    configuration = None if config is None else loading.read_config(config)
    given = loading.load(documents, configuration, known, strict=bool(more))
    return dataclasses.replace(given, is_live=True), live.namespace

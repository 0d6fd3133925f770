"""
The cluster that a question is about: from files, or from a live one that is only read.

``explain``, ``what-if``, ``fit``, ``compare`` and ``rebalancer --dry-run`` read it here.
"""

from __future__ import annotations

import dataclasses
from collections.abc import Sequence
from typing import TYPE_CHECKING, NamedTuple

from bayplan.cli.output import warn
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

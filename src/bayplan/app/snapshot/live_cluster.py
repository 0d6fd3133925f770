"""
What a scheduler sees of a live cluster, as documents that ``simulate -f`` and ``explain`` take.  Reads only.

``bayplan snapshot`` writes the documents to a file; ``bayplan explain`` without files hands them to the simulator.
What becomes of each object is in ``trimming``: a file loses what is private, ``explain`` gets everything.
"""

from __future__ import annotations

import asyncio
from collections.abc import Callable, Collection, Iterable, Sequence
from dataclasses import dataclass
from typing import Any

import msgspec

from bayplan.app.scheduler.informers import ALWAYS_READ, ESSENTIAL, LIVE_PODS
from bayplan.app.snapshot.trimming import Trimming
from bayplan.errors import ForbiddenError, GoneError, NotFoundError
from bayplan.kube.auth import Credentials
from bayplan.kube.client import Client, path_of
from bayplan.objects.files.manifests import LEFT_OUT
from bayplan.objects.kinds import Kind, those
from bayplan.plugins.plugin_set import Plugins

PAGE = 500
# Not read by the scheduler itself, but by what makes pods of templates.
CLASSES = ("PriorityClass", "RuntimeClass")
WORKLOADS = (
    "DaemonSet",
    "Deployment",
    "Job",
    "PodDisruptionBudget",
    "ReplicaSet",
    "ReplicationController",
    "StatefulSet",
)
"""Who makes pods again, and who keeps them from being evicted; a question about one pod does without."""

Warn = Callable[[str], None]


@dataclass(frozen=True, slots=True)
class LiveCluster:
    """What was read, and the namespace that the kubeconfig's context names."""

    documents: list[dict[str, Any]]
    namespace: str
    left_out: tuple[str, ...] = ()
    """Names of annotations that are in the cluster and in no document."""


class _ListMeta(msgspec.Struct):
    continue_: str = msgspec.field(default="", name="continue")


class _List(msgspec.Struct):
    metadata: _ListMeta = msgspec.field(default_factory=_ListMeta)
    items: list[dict[str, Any]] | None = None


def look(
    kubeconfig: str | None = None,
    context: str | None = None,
    *,
    plugins: Plugins,
    beside: Collection[str] = (),
    keep: Iterable[str] = (),
    whole: bool = False,
    warn: Warn = lambda warning: None,
) -> LiveCluster:
    """
    Read a cluster.

    Args:
        plugins: those whose kinds are read.
        beside: kinds that are read, too.
        keep: annotations to keep beside those that scheduling reads.
        whole: leave nothing out that a plugin could read; not for files.
        warn: hears of kinds that may not be read and of objects that cannot be used.
    """
    wanted = kinds_read(plugins, beside)
    credentials = Credentials(kubeconfig, context)
    trimming = Trimming(keep, warn, whole=whole)
    documents = asyncio.run(_gather(credentials, wanted, trimming, warn))
    return LiveCluster(documents, credentials.namespace, tuple(sorted(trimming.left_out)))


def kinds_read(plugins: Plugins, beside: Collection[str] = ()) -> list[Kind]:
    """The kinds that any known plugin reads, and those that stand behind pods."""
    wanted = {*ALWAYS_READ, *CLASSES, *plugins.reads, *beside}
    return those(wanted)


def as_list(live: LiveCluster) -> dict[str, Any]:
    """The documents as one object, as ``kubectl get -o yaml`` shows them; it says which annotations are not in it."""
    note = {"metadata": {"annotations": {LEFT_OUT: ", ".join(live.left_out)}}} if live.left_out else {}
    return {"apiVersion": "v1", "kind": "List", **note, "items": live.documents}


async def _gather(
    credentials: Credentials, wanted: Sequence[Kind], trimming: Trimming, warn: Warn
) -> list[dict[str, Any]]:
    client = Client(credentials)
    try:
        found = await asyncio.gather(*(readable(client, kind, warn) for kind in wanted))
    finally:
        await client.close()
    documents = [trimming.document(kind, raw) for kind, raws in zip(wanted, found, strict=True) for raw in raws]
    return trimming.consistent([document for document in documents if document is not None])


async def readable(
    client: Client, kind: Kind, warn: Warn, *, namespace: str = "", essential: Collection[str] = ESSENTIAL
) -> list[dict[str, Any]]:
    """All objects of a kind, be it in one namespace; without permission none, where one can do without."""
    try:
        return await _list(client, kind, namespace)
    except NotFoundError:
        return []
    except ForbiddenError as error:
        if kind.called in essential:
            raise
        warn(f"{kind.plural} are left out: {error.message}")
        return []


async def _list(client: Client, kind: Kind, namespace: str) -> list[dict[str, Any]]:
    selector = {"fieldSelector": LIVE_PODS} if kind.called == "Pod" else {}
    path = path_of(kind, namespace)
    try:
        return await _pages(client, path, {**selector, "limit": str(PAGE)})
    except GoneError:
        # The pages took longer than the server remembers; all at once then.
        return await _pages(client, path, selector)


async def _pages(client: Client, path: str, params: dict[str, str]) -> list[dict[str, Any]]:
    found: list[dict[str, Any]] = []
    while True:
        page = msgspec.json.decode(await client.get_raw(path, params), type=_List)
        found += page.items or ()
        if not page.metadata.continue_:
            return found
        params = {**params, "continue": page.metadata.continue_}

"""
A placement hub on a real API server: how long it thinks and how long it writes, at the start and after one change.

    python -m benchmarks.bench_hub [--clusters 1000] [--placements 200] [--chosen 100] [--results FILE] [-o json]

The clusters and placements are those of ``bench_placement``: 20 regions of 5 zones, both with hard constraints. API
server and etcd share the machine, and writing is mostly theirs.
"""

from __future__ import annotations

import argparse
import asyncio
import json
import os
import platform
import re
import time
from collections.abc import Awaitable, Callable, Iterable
from pathlib import Path
from typing import Any

import msgspec
import uvloop
import yaml

from bayplan.app.install_manifests import manifests
from bayplan.app.placement.live import LivePlacement
from bayplan.errors import NotFoundError
from bayplan.kube.auth import Credentials
from bayplan.kube.client import MERGE_PATCH, Client
from bayplan.objects.kinds import api_version_of, kind_of
from bayplan.objects.meta import ApiObject
from bayplan.placement import benchmark
from benchmarks.spending import say
from tests.support.api import path_of
from tests.support.control_plane import ControlPlane

AT_ONCE = 32
QUIET_S = 1.0
"""Nothing more is written for so long: it is done."""
SERVED_S = 20.0
Document = dict[str, Any]
CHANGES: tuple[tuple[str, Document], ...] = (
    ("one cluster goes", {"spec": {"taints": [{"key": "bench", "effect": "NoSelect"}]}}),
    ("a label nobody reads", {"metadata": {"labels": {"bench": "read-by-nobody"}}}),
)


def main() -> None:
    parser = argparse.ArgumentParser(description="A placement hub on a real API server.")
    parser.add_argument("--clusters", type=int, default=1000)
    parser.add_argument("--placements", type=int, default=200)
    parser.add_argument("--chosen", type=int, default=100, help="clusters for each placement")
    parser.add_argument("--results", type=Path, metavar="FILE", help="write the results as JSON, too")
    parser.add_argument("-o", "--output", choices=("table", "json"), default="table")
    given = parser.parse_args()
    document = uvloop.run(measure(given.clusters, given.placements, given.chosen))
    if given.results:
        given.results.write_text(json.dumps(document, indent=2) + "\n")
    print(json.dumps(document, indent=2) if given.output == "json" else table(document))


async def measure(clusters: int, placements: int, chosen: int) -> Document:
    with ControlPlane() as plane:
        client = Client(Credentials(str(plane.kubeconfig("admin"))))
        try:
            await _prepare(client, clusters, placements, chosen)
            hub = LivePlacement(client)
            running = asyncio.ensure_future(hub.run())
            try:
                results = [await _measured("start", hub, running, placements)]
                name = hub.state.clusters(hub.state.placements()[0])[0]
                for what, change in CHANGES:
                    counted = _counts(hub)
                    path = path_of("ManagedCluster", name=name)
                    await client.send("PATCH", path, body=change, content_type=MERGE_PATCH)
                    results.append(await _measured(what, hub, running, 0, counted))
            finally:
                running.cancel()
                await asyncio.gather(running, return_exceptions=True)
        finally:
            await client.close()
    machine = {"cpus": os.cpu_count(), "python": platform.python_version()}
    sizes = {"clusters": clusters, "placements": placements, "chosen": chosen}
    return {"kind": "PlacementHubBenchmark", "machine": machine, **sizes, "results": results}


async def _prepare(client: Client, clusters: int, placements: int, chosen: int) -> None:
    """The kinds, the set, the clusters with what they can allocate, and the placements."""
    say(f"making {clusters} clusters and {placements} placements")
    documents = list(yaml.safe_load_all(manifests("placement-crds")))
    for document in documents:
        await client.send("POST", path_of(document["kind"]), body=document)
    namespace = {"apiVersion": "v1", "kind": "Namespace", "metadata": {"name": benchmark.NAMESPACE}}
    await client.send("POST", path_of("Namespace"), body=namespace)
    fleet = [benchmark.cluster(number) for number in range(clusters)]
    wanted = [benchmark.placement(number, chosen) for number in range(placements)]
    await _served(client, [*benchmark.access(), fleet[0], wanted[0]])

    async def make(thing: ApiObject) -> None:
        manifest = _manifest(thing)
        kind = manifest["kind"]
        await client.send("POST", path_of(kind, thing.namespace), body=manifest)
        if manifest.get("status"):
            path = path_of(kind, thing.namespace, thing.name, "status")
            await client.send("PATCH", path, body={"status": manifest["status"]}, content_type=MERGE_PATCH)

    for things in (benchmark.access(), fleet, wanted):
        await _some_at_once(make, things)


async def _served(client: Client, things: Iterable[ApiObject]) -> None:
    """Until the API server knows the kinds of these."""
    for thing in things:
        until = time.monotonic() + SERVED_S
        while True:
            try:
                await client.send("GET", path_of(kind_of(thing)), body=None)
                break
            except NotFoundError:
                if time.monotonic() > until:
                    raise
                await asyncio.sleep(0.1)


async def _some_at_once(make: Callable[[ApiObject], Awaitable[None]], things: Iterable[ApiObject]) -> None:
    slots = asyncio.Semaphore(AT_ONCE)

    async def one(thing: ApiObject) -> None:
        async with slots:
            await make(thing)

    await asyncio.gather(*(one(thing) for thing in things))


def _manifest(thing: ApiObject) -> Document:
    manifest = {"apiVersion": api_version_of(thing), "kind": kind_of(thing), **msgspec.to_builtins(thing)}
    for each in manifest.get("spec", {}).get("spreadPolicy", {}).get("spreadConstraints", ()):
        # The schema has no default for it.
        each.setdefault("topologyKeyType", "Label")
    return manifest


async def _measured(
    what: str, hub: LivePlacement, running: asyncio.Future[None], least: int, before: Document | None = None
) -> Document:
    """What was spent until nothing more is written, `least` placements at least."""
    before = before or _counts(hub)
    began = ended = time.monotonic()
    last = before
    while time.monotonic() - ended < QUIET_S or last["statuses"] - before["statuses"] < least:
        await asyncio.sleep(0.05)
        if running.done():
            running.result()
        now = _counts(hub)
        if now["writes"] != last["writes"]:
            ended = time.monotonic()
        last = now
    spent = {name: last[name] - before[name] for name in last}
    result = {
        "what": what,
        "seconds": round(ended - began, 3),
        "computeSeconds": round(spent["compute"], 4),
        "writeSeconds": round(spent["write"], 3),
        "writes": round(spent["writes"]),
        "writesPerSecond": round(spent["writes"] / spent["write"]) if spent["writes"] else None,
    }
    say(", ".join(f"{name} {value}" for name, value in result.items()))
    return result


def _counts(hub: LivePlacement) -> dict[str, float]:
    text = hub.render_metrics().decode()

    def total(pattern: str) -> float:
        return sum(float(value) for value in re.findall(rf"^{pattern} (\S+)$", text, re.MULTILINE))

    return {
        "compute": total("bayplan_placement_compute_seconds_sum"),
        "write": total("bayplan_placement_write_seconds_sum"),
        "writes": total(r"bayplan_placement_writes_total\{.*\}"),
        "statuses": total(r'bayplan_placement_writes_total\{what="PatchStatus"\}'),
    }


def table(document: Document) -> str:
    heads = ("what", "seconds", "computeSeconds", "writeSeconds", "writes", "writesPerSecond")
    lines = [f"{heads[0]:<18}" + "".join(f"{head:>17}" for head in heads[1:])]
    for each in document["results"]:
        lines.append(f"{each['what']:<18}" + "".join(f"{each[head]!s:>17}" for head in heads[1:]))
    return "\n".join(lines)


if __name__ == "__main__":
    main()

"""
The page's server on a real API server: how soon a bind shows to many who follow, and what that costs.

    python -m benchmarks.bench_ui [--nodes 1000] [--pods 20000] [--rate 100] [--seconds 60] [--clients 10] [-o json]

Pods are bound at a steady rate by a client, while others follow the stream of a ``bayplan ui`` of its own process.  The
delay is from the answer to the bind until a client has read the line that shows it.  API server, etcd and clients share
the machine.  Then a backlog is scheduled by ``bayplan scheduler``, without the ui and beside it.
"""

from __future__ import annotations

import argparse
import asyncio
import json
import os
import platform
import re
import statistics
import sys
import time
from collections.abc import Awaitable, Callable, Iterable
from pathlib import Path
from typing import Any

import aiohttp
import uvloop

from bayplan.kube.auth import Credentials
from bayplan.kube.client import Client
from benchmarks.contenders import BAYPLAN, SCHEDULER_NAME, Contenders
from benchmarks.spending import cpu_s, resident_bytes, say
from benchmarks.watching import BindWatch
from tests.support.control_plane import ControlPlane
from tests.support.live import node_manifest
from tests.support.processes import ProcessGroup, Server

AT_ONCE = 32
NAMESPACE = "bench"
PODS = f"/api/v1/namespaces/{NAMESPACE}/pods"
STARTED_S = 180.0
LATE_S = 60.0
LONGEST_LINE = 64 << 20
Document = dict[str, Any]


def main() -> None:
    parser = argparse.ArgumentParser(description="The page's server on a real API server.")
    parser.add_argument("--nodes", type=int, default=1000)
    parser.add_argument("--pods", type=int, default=20_000, help="on nodes from the start")
    parser.add_argument("--rate", type=int, default=100, help="binds a second")
    parser.add_argument("--seconds", type=int, default=60)
    parser.add_argument("--clients", type=int, default=10)
    parser.add_argument("--backlog", type=int, default=2000, help="pods for the scheduler; 0: none")
    parser.add_argument("--results", type=Path, metavar="FILE", help="write the results as JSON, too")
    parser.add_argument("-o", "--output", choices=("table", "json"), default="table")
    given = parser.parse_args()
    sizes = {name: getattr(given, name) for name in ("nodes", "pods", "rate", "seconds", "clients", "backlog")}
    document = uvloop.run(measure(sizes))
    if given.results:
        given.results.write_text(json.dumps(document, indent=2) + "\n")
    print(json.dumps(document, indent=2) if given.output == "json" else table(document))


async def measure(sizes: dict[str, int]) -> Document:
    with ControlPlane() as plane:
        client = Client(Credentials(str(plane.kubeconfig("admin"))))
        processes, contenders = ProcessGroup(), Contenders(plane)
        try:
            await _prepare(client, sizes)
            rates: Document = {}
            if sizes["backlog"]:
                rates["without"] = await _scheduled(client, contenders, "alone", sizes["backlog"])
            ui, url = await _started(processes, plane)
            followed = await _followed(client, ui, url, sizes)
            if sizes["backlog"]:
                followers = await _following(url, sizes["clients"])
                rates["with"] = await _scheduled(client, contenders, "beside", sizes["backlog"])
                await _ended(followers)
        finally:
            contenders.close()
            processes.close()
            await client.close()
    machine = {"cpus": os.cpu_count(), "python": platform.python_version()}
    return {"kind": "UiBenchmark", "machine": machine, **sizes, **followed, "podsPerSecond": rates}


# -- the cluster --


async def _prepare(client: Client, sizes: dict[str, int]) -> None:
    say(f"making {sizes['nodes']} nodes and {sizes['pods']} pods")
    namespace = {"apiVersion": "v1", "kind": "Namespace", "metadata": {"name": NAMESPACE}}
    await client.create("/api/v1/namespaces", namespace)
    nodes = [f"n{number}" for number in range(sizes["nodes"])]
    await _some_at_once(lambda name: client.create("/api/v1/nodes", node_manifest(name, cpu="64", pods=250)), nodes)
    there = [_pod(f"there-{number}", nodeName=nodes[number % len(nodes)]) for number in range(sizes["pods"])]
    waiting = [_pod(f"bind-{number}", schedulerName="nobody") for number in range(sizes["rate"] * sizes["seconds"])]
    await _some_at_once(lambda each: client.create(PODS, each), [*there, *waiting])


def _pod(name: str, **spec: Any) -> Document:
    container = {"name": "c", "image": "web", "resources": {"requests": {"cpu": "10m", "memory": "16Mi"}}}
    metadata = {"name": name, "namespace": NAMESPACE}
    return {"apiVersion": "v1", "kind": "Pod", "metadata": metadata, "spec": {"containers": [container], **spec}}


async def _some_at_once(make: Callable[[Any], Awaitable[Any]], things: Iterable[Any]) -> None:
    left = iter(things)

    async def some() -> None:
        for thing in left:
            await make(thing)

    await asyncio.gather(*(some() for _ in range(AT_ONCE)))


async def _started(processes: ProcessGroup, plane: ControlPlane) -> tuple[Server, str]:
    """The ui as a process, once it has read the cluster."""
    log = plane.folder / "ui.log"
    command = [sys.executable, "-m", "bayplan", "ui", f"--kubeconfig={plane.kubeconfig('admin')}", "--port=0"]
    server = processes.start(command, log)
    ends = time.monotonic() + STARTED_S
    url = ""
    async with aiohttp.ClientSession() as session:
        while time.monotonic() < ends:
            found = re.search(r"http://[\d.:]+", log.read_text())
            url = found[0] if found else ""
            if url:
                async with session.get(f"{url}/readyz") as answer:
                    if answer.status == 200:
                        return server, url
            await asyncio.sleep(0.5)
    raise TimeoutError(f"the ui was not ready within {STARTED_S:g} s")


# -- those who follow --


class Follower:
    """One page: notes when it saw each pod on a node."""

    def __init__(self) -> None:
        self.seen: dict[str, float] = {}
        self.lines = 0
        self.bytes = 0
        self.ready = asyncio.Event()
        self._names: list[str] = []

    async def follow(self, url: str) -> None:
        timeout = aiohttp.ClientTimeout(total=None)
        async with (
            aiohttp.ClientSession(timeout=timeout, read_bufsize=LONGEST_LINE) as session,
            session.get(f"{url}/api/stream") as answer,
        ):
            while line := await answer.content.readline():
                now = time.monotonic()
                self.lines += 1
                self.bytes += len(line)
                self._take(json.loads(line), now)
                self.ready.set()

    def _take(self, message: Document, now: float) -> None:
        if "view" in message:
            pods = message["view"]["clusters"][0]["pods"]
            self._names = list(pods["name"])
            self._see(range(len(self._names)), pods["node"], now)
        for change in message.get("patch", ()):
            if change["path"] == ["clusters", 0, "pods", "name"]:
                self._rename(change)
        for change in message.get("patch", ()):
            if change["path"] == ["clusters", 0, "pods", "node"]:
                values = change.get("values", change.get("value"))
                self._see(change.get("rows", range(len(values))), values, now)

    def _rename(self, change: Document) -> None:
        if "value" in change:
            self._names = list(change["value"])
            return
        del self._names[change.get("length", len(self._names)) :]
        for row, name in zip(change["rows"], change["values"], strict=True):
            self._names[row : row + 1] = [name]

    def _see(self, rows: Iterable[int], nodes: Iterable[int], now: float) -> None:
        for row, node in zip(rows, nodes, strict=True):
            if node >= 0:
                self.seen.setdefault(self._names[row], now)


Following = list[tuple[Follower, "asyncio.Task[None]"]]


async def _following(url: str, count: int) -> Following:
    made = [Follower() for _ in range(count)]
    following = [(each, asyncio.ensure_future(each.follow(url))) for each in made]
    await asyncio.gather(*(each.ready.wait() for each in made))
    return following


async def _ended(following: Following) -> None:
    for _, task in following:
        task.cancel()
    await asyncio.gather(*(task for _, task in following), return_exceptions=True)


# -- measuring --


async def _followed(client: Client, ui: Server, url: str, sizes: dict[str, int]) -> Document:
    """Bind at the rate, and see when everybody saw it."""
    following = await _following(url, sizes["clients"])
    say(f"binding {sizes['rate']} pods a second for {sizes['seconds']} s before {sizes['clients']} clients")
    bound: dict[str, float] = {}
    memory = [resident_bytes(ui.pid)]
    began, spent = time.monotonic(), cpu_s(ui.pid)
    tasks = []
    for number in range(sizes["rate"] * sizes["seconds"]):
        await asyncio.sleep(max(0.0, began + number / sizes["rate"] - time.monotonic()))
        tasks.append(asyncio.ensure_future(_bind(client, f"bind-{number}", f"n{number % sizes['nodes']}", bound)))
        if number % (sizes["rate"] * 5) == 0:
            memory.append(resident_bytes(ui.pid))
    await asyncio.gather(*tasks)
    took = time.monotonic() - began
    spent = cpu_s(ui.pid) - spent
    ends = time.monotonic() + LATE_S
    while time.monotonic() < ends and any(not bound.keys() <= each.seen.keys() for each, _ in following):
        await asyncio.sleep(0.2)
    memory.append(resident_bytes(ui.pid))
    await _ended(following)
    delays = [each.seen[name] - at for each, _ in following for name, at in bound.items() if name in each.seen]
    missed = sum(name not in each.seen for each, _ in following for name in bound)
    return {
        "bindsPerSecond": round(len(bound) / took, 1),
        "missed": missed,
        "delaySeconds": _shares(delays),
        "uiCpuShare": round(spent / took, 3),
        "uiMegabytes": [round(each / 1e6, 1) for each in memory],
        "bytesPerClientPerSecond": round(statistics.mean(each.bytes for each, _ in following) / took),
    }


async def _bind(client: Client, name: str, node: str, bound: dict[str, float]) -> None:
    binding = {
        "apiVersion": "v1",
        "kind": "Binding",
        "metadata": {"name": name, "namespace": NAMESPACE},
        "target": {"apiVersion": "v1", "kind": "Node", "name": node},
    }
    await client.create(f"{PODS}/{name}/binding", binding)
    bound[name] = time.monotonic()


def _shares(delays: list[float]) -> Document:
    ranked = sorted(delays)
    return {
        name: round(ranked[min(len(ranked) - 1, int(share * len(ranked)))], 3)
        for name, share in (("p50", 0.5), ("p99", 0.99), ("max", 1.0))
    }


async def _scheduled(client: Client, contenders: Contenders, prefix: str, count: int) -> float:
    """Pods a second that ``bayplan scheduler`` binds of a backlog."""
    say(f"scheduling {count} pods ({prefix})")
    wanted = [_pod(f"{prefix}-{number}", schedulerName=SCHEDULER_NAME) for number in range(count)]
    await _some_at_once(lambda each: client.create(PODS, each), wanted)
    watch = BindWatch(client, {each["metadata"]["name"] for each in wanted}, lambda bound: None)
    await watch.open()
    with contenders.start(BAYPLAN) as server:
        await watch.until_all(server.check)
    return round(watch.pods_per_second or 0.0, 1)


def table(document: Document) -> str:
    delay, memory = document["delaySeconds"], document["uiMegabytes"]
    rates = document["podsPerSecond"]
    lines = [
        f"{document['nodes']} nodes, {document['pods']} pods, {document['clients']} clients, "
        f"{document['bindsPerSecond']} binds a second",
        f"a bind shows after {delay['p50']} s (median), {delay['p99']} s (99 %), {delay['max']} s at most; "
        f"{document['missed']} missed",
        f"the ui takes {document['uiCpuShare']:.0%} of a core, {memory[0]:g} MB at first and {memory[-1]:g} MB in the "
        f"end, and sends each client {document['bytesPerClientPerSecond'] / 1e3:.0f} kB a second",
    ]
    if rates:
        lines.append(f"the scheduler binds {rates['without']} pods a second without the ui, {rates['with']} beside it")
    return "\n".join(lines)


if __name__ == "__main__":
    main()

"""``python -m tests.parity.shadowing``: the shadow beside the real kube-scheduler, on pods of mixed kinds.

Nodes are played as in the development cluster, the API server, kube-scheduler and the volume controller are real.
``--at-once 1`` waits for each pod's bind before the next comes, so that nothing is under way meanwhile; a larger number
lets binds run side by side.  ``--config FILE`` is what the shadow decides with, ``--scheduler-config FILE`` what
kube-scheduler does.  The exit code is 1 if a pod differs or is infeasible by the first shadow.
"""

from __future__ import annotations

import argparse
import asyncio
import json
import random
import sys
import time
from collections.abc import AsyncIterator, Sequence
from contextlib import AsyncExitStack, asynccontextmanager
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import yaml

from bayplan.app.config_file import read_config
from bayplan.app.scheduler.informers import ALWAYS_READ
from bayplan.app.shadow.live import LiveShadow, ShadowOptions
from bayplan.app.shell.process import ServiceOptions
from bayplan.app.snapshot.recorder import Recorder, RecorderOptions
from bayplan.app.snapshot.recording_file import RecordingFile
from bayplan.controllers.shadow.tally import Tally, row
from bayplan.controllers.shadow.verdict import QUIET, Verdict
from bayplan.framework.config.model import LeaderElection
from bayplan.objects.kinds import is_built_in, those
from bayplan.plugins.plugin_set import make_profiles, registry
from hack.dev_cluster.kubelets import Kubelets
from tests.parity.mixed_pods import nodes, pod, surroundings
from tests.support.api import Object
from tests.support.control_plane import ControlPlane
from tests.support.live import Cluster, client_of, close, until


@dataclass(slots=True)
class Shadowing:
    """A shadow that runs, and what it said."""

    live: LiveShadow
    verdicts: list[Verdict] = field(default_factory=list)

    def named(self, *findings: str) -> dict[str, Verdict]:
        """The pods with one of these findings."""
        return {each.name: each for each in self.verdicts if each.finding in findings}

    @property
    def tally(self) -> Tally:
        return self.live.tally


@asynccontextmanager
async def shadowing(
    plane: ControlPlane, config: Path | None = None, kubeconfig: Path | None = None
) -> AsyncIterator[Shadowing]:
    """The shadow, from the moment it has seen the cluster; at the end of the block it has judged all there was."""
    client, _ = client_of(kubeconfig or plane.kubeconfig())
    settings = read_config(config)
    options = ShadowOptions(
        service=ServiceOptions(election=LeaderElection(leader_elect=False)),
        config=settings,
        profile=settings.profiles[0].scheduler_name,
    )
    verdicts: list[Verdict] = []
    known, _ = registry(discover=False)
    live = LiveShadow(client, make_profiles(settings, known), verdicts.append, Tally(), options)
    task = asyncio.ensure_future(live.run())
    try:
        await until(live.is_working, "the shadow to begin")
        yield Shadowing(live, verdicts)
        await asyncio.sleep(0.3)  # the watch has told of the last bind
    finally:
        task.cancel()
        await asyncio.gather(task, return_exceptions=True)
        await close(client)


@asynccontextmanager
async def recording(plane: ControlPlane, path: Path, **options: Any) -> AsyncIterator[Recorder]:
    """A recorder, from the moment it has seen the cluster; at the end of the block the file is whole."""
    client, _ = client_of(plane.kubeconfig())
    plugins = registry(discover=False)
    kinds = [kind for kind in those({*ALWAYS_READ, *plugins.reads}) if is_built_in(kind) and not kind.is_optional]
    with RecordingFile(path) as file:
        given = RecorderOptions(path=path, plugins=plugins, **options)
        recorder = Recorder(client, kinds, file, given, lambda text: None)
        task = asyncio.ensure_future(recorder.run())
        await until(lambda: path.stat().st_size > 0 and recorder.objects, "the recorder to begin")
        yield recorder
        await asyncio.sleep(0.3)
        task.cancel()
        await asyncio.gather(task, return_exceptions=True)
        recorder.end()
    await close(client)


async def arrive(cluster: Cluster, pods: int, nodes: int, at_once: int, seed: int) -> tuple[int, int]:
    """Make the pods, so many at once, and delete one now and then; how many are bound, and how many wait."""
    dice = random.Random(seed)
    bound: list[str] = []
    waiting: set[str] = set()
    for first in range(0, pods, at_once):
        made = [pod(number, cluster.namespace, nodes, seed) for number in range(first, min(first + at_once, pods))]
        await asyncio.gather(*(_create(cluster, each) for each in made))
        for each in made:
            name = each[-1]["metadata"]["name"]
            (bound.append if await settled(cluster, name) else waiting.add)(name)
        if bound and first // at_once % max(1, 15 // at_once) == 0 and first:
            gone = bound.pop(dice.randrange(len(bound)))
            await asyncio.to_thread(cluster.api.delete, "Pod", gone, cluster.namespace, 0)
    return len(bound), len(waiting)


async def _create(cluster: Cluster, documents: Sequence[Object]) -> None:
    for document in documents:
        await cluster.create(document)


async def settled(cluster: Cluster, name: str) -> bool:
    """Whether it got a node; otherwise its condition says that it cannot have one now, and nobody makes room."""

    async def answer() -> str | None:
        found = await cluster.find(name)
        if found is None:
            return "gone"  # preempted already
        if found["spec"].get("nodeName"):
            return "bound"
        conditions = {each["type"]: each for each in found["status"].get("conditions", ())}
        failed = conditions.get("PodScheduled", {}).get("status") == "False"
        return "waits" if failed and not found["status"].get("nominatedNodeName") else None

    return bool(await until(answer, f"{name} to be decided", 30) == "bound")


# -- the run --


@dataclass(slots=True)
class Ran:
    bound: int
    waiting: int
    took_s: float
    shadows: list[Shadowing]
    """One for each configuration."""


async def run(
    plane: ControlPlane,
    *,
    pods: int,
    nodes_count: int = 60,
    at_once: int = 1,
    seed: int = 0,
    configs: Sequence[Path | None] = (None,),
    scheduler_config: Object | None = None,
    record: Path | None = None,
) -> Ran:
    """All of it on a control plane that runs already, whose kube-scheduler is started and ended here."""
    cluster = Cluster(plane)
    await cluster.start()
    await asyncio.gather(*(cluster.create(node) for node in nodes(nodes_count)))
    for each in surroundings(cluster.namespace, pods):
        await cluster.create(each)
    client, _ = client_of(plane.kubeconfig())
    kubelets = asyncio.ensure_future(Kubelets(client, 0).run(lambda: None))
    volumes = await asyncio.to_thread(plane.start_controller_manager, "persistentvolume-binder-controller")
    scheduler = await asyncio.to_thread(plane.start_kube_scheduler, scheduler_config, verbosity=1)
    try:
        async with AsyncExitStack() as stack:
            shadows = [await stack.enter_async_context(shadowing(plane, config)) for config in configs]
            if record is not None:
                await stack.enter_async_context(recording(plane, record))
            started = time.perf_counter()
            bound, waiting = await arrive(cluster, pods, nodes_count, at_once, seed)
            took_s = time.perf_counter() - started
    finally:
        for server in (scheduler, volumes):
            await asyncio.to_thread(server.stop)
        kubelets.cancel()
        await asyncio.gather(kubelets, return_exceptions=True)
        await close(client)
    return Ran(bound, waiting, took_s, shadows)


def main(arguments: Sequence[str] | None = None) -> int:
    parser = argparse.ArgumentParser(prog="python -m tests.parity.shadowing", description=__doc__)
    parser.add_argument("--pods", type=int, default=1000)
    parser.add_argument("--nodes", type=int, default=60)
    parser.add_argument("--at-once", type=int, default=1, metavar="N")
    parser.add_argument("--seed", type=int, default=0)
    parser.add_argument(
        "--config",
        type=Path,
        metavar="FILE",
        action="append",
        help="what the shadow decides with; for each one a shadow",
    )
    parser.add_argument("--scheduler-config", type=Path, metavar="FILE", help="what kube-scheduler decides with")
    parser.add_argument(
        "--verdicts", type=Path, metavar="FILE", help="where to write all verdicts of the first, as JSON lines"
    )
    parser.add_argument("--record", type=Path, metavar="FILE", help="record the run as well, for bayplan replay")
    options = parser.parse_args(arguments)
    given = yaml.safe_load(options.scheduler_config.read_text()) if options.scheduler_config else None
    with ControlPlane() as plane:
        ran = asyncio.run(
            run(
                plane,
                pods=options.pods,
                nodes_count=options.nodes,
                at_once=options.at_once,
                seed=options.seed,
                configs=options.config or [None],
                scheduler_config=given,
                record=options.record,
            )
        )
    print(f"{options.pods} pods on {options.nodes} nodes in {ran.took_s:.0f} s: {ran.bound} bound, {ran.waiting} wait")
    for config, shadow in zip(options.config or ["the default plugins"], ran.shadows, strict=True):
        print(f"\n{config}:")
        for verdict in shadow.verdicts:
            if verdict.finding not in QUIET:
                print("   ".join(row(verdict)))
        print(shadow.tally.as_text())
    first = ran.shadows[0]
    if options.verdicts:
        options.verdicts.write_text("".join(json.dumps(each.as_document()) + "\n" for each in first.verdicts))
    return int(first.tally.is_different or first.tally.has_errors)


if __name__ == "__main__":
    sys.exit(main())

"""
A node is drained with kubectl, and the pods that then have no node are those that ``what-if --drain`` said.
"""

from __future__ import annotations

import asyncio
import subprocess
import tempfile
from collections import Counter
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from tests.live_what_if.generating import Generator, priority_classes
from tests.live_what_if.real_cluster import Owners, owner, pending, real_cluster
from tests.support.binaries import find_binaries
from tests.support.control_plane import ControlPlane

TIMEOUT_S = 30
"""How long kubectl tries; a budget that refuses until then refuses."""


@dataclass(frozen=True)
class Outcome:
    """What was said and what happened."""

    seed: int
    said: tuple[Owners, Owners]
    """Pods without a node, and evictions that were refused, by workload."""
    happened: tuple[Owners, Owners]
    moved: int
    lost: int
    again: bool
    """Whether the snapshot of the cluster, as a file, gives the same answer."""

    @property
    def agrees(self) -> bool:
        return self.said == self.happened and self.again

    def __str__(self) -> str:
        verdict = "agrees" if self.agrees else f"DIFFERS: said {self.said}, happened {self.happened}, file {self.again}"
        waits, refused = (sum(each.values()) for each in self.happened)
        return f"seed {self.seed}: {self.moved} moved, {waits} pending, {refused} refused, {self.lost} lost: {verdict}"


async def drain(plane: ControlPlane, seed: int) -> Outcome:
    """One random cluster."""
    space = f"drain-{seed}"
    case = Generator(seed, space).case()
    async with real_cluster(plane, space) as cluster:
        await cluster.begin([*priority_classes(), *case.nodes, *case.objects])
        before = await cluster.at_rest()
        _, told = await cluster.bayplan("what-if", *cluster.live(), "--drain", case.drained, "-o", "json")
        with tempfile.TemporaryDirectory() as folder:
            path = str(Path(folder) / "snapshot.json")
            await cluster.bayplan("snapshot", *cluster.live(), "-o", path)
            _, from_file = await cluster.bayplan("what-if", "-f", path, "--drain", case.drained, "-o", "json")
        await asyncio.to_thread(_kubectl_drain, plane, case.drained)
        after = await cluster.at_rest()
    refused = Counter(owner(each) for each in after if _is_left(each, case.drained))
    return Outcome(
        seed,
        (_expected(before, told), Counter(each["owner"] or each["name"] for each in told["blocked"])),
        (pending(after), refused),
        len(told["moved"]),
        len(told["lost"]),
        _expected(before, from_file) == _expected(before, told),
    )


def _expected(before: list[dict[str, Any]], told: dict[str, Any]) -> Owners:
    """Who waits then: those who waited, but for those who get room, and those who have none any more."""
    waits = pending(before)
    waits.subtract(Counter(each["owner"] or each["name"] for each in told["placed"] if not each.get("new")))
    made = [each for each in told["pending"] if not each["message"].startswith("not made again yet")]
    waits.update(Counter(each["owner"] or each["name"] for each in made))
    return +waits


def _is_left(pod: dict[str, Any], node: str) -> bool:
    return pod["spec"].get("nodeName") == node and not owner(pod).startswith("DaemonSet/")


def _kubectl_drain(plane: ControlPlane, node: str) -> None:
    command = [str(find_binaries().path("kubectl")), f"--kubeconfig={plane.kubeconfig()}", "drain", node]
    flags = ["--ignore-daemonsets", "--force", "--delete-emptydir-data", f"--timeout={TIMEOUT_S}s"]
    subprocess.run([*command, *flags], capture_output=True, text=True, timeout=TIMEOUT_S + 60, check=False)

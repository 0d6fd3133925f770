"""Files that change, and simulations that run, while somebody looks."""

from __future__ import annotations

import asyncio
from pathlib import Path
from typing import Any

import pytest

from bayplan.app.ui import worlds
from bayplan.app.ui.rights import EVERYTHING
from bayplan.app.ui.worlds import FileCluster, RunningSimulation
from bayplan.errors import InputError
from bayplan.simulator.world import World
from tests.app.ui.support import CLUSTER, world
from tests.support.live import until

LATER = """\
---
apiVersion: v1
kind: Pod
metadata: {name: late, annotations: {simulation.bayplan.io/arrives: 30s}}
spec: {containers: [{name: main, image: web, resources: {requests: {cpu: "1"}}}]}
"""


def names(view: dict[str, Any]) -> list[str]:
    found: list[str] = view["clusters"][0]["nodes"]["name"]
    return found


async def test_files_are_read_again_when_they_change(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(worlds, "LOOK_EVERY_S", 0.01)
    file = tmp_path / "cluster.yaml"
    file.write_text(CLUSTER)

    def read() -> World:
        text = file.read_text()
        if "broken" in text:
            raise InputError("broken", source="cluster.yaml")
        return world(text)

    source = FileCluster(read, [str(tmp_path)], "bayplan ui -f cluster.yaml")
    following = asyncio.ensure_future(source.run())
    try:
        assert names(source.view(EVERYTHING)) == ["n1", "n2"]
        file.write_text(CLUSTER.replace("name: n2", "name: n3"))
        await until(lambda: names(source.view(EVERYTHING)) == ["n1", "n3"], "the change to be seen")
        file.write_text("broken")
        await until(lambda: source.problem, "the mistake to be told")
        assert source.problem == "this is how the files were before: cluster.yaml: broken"
        assert names(source.view(EVERYTHING)) == ["n1", "n3"]
        file.write_text(CLUSTER)
        await until(lambda: not source.problem and names(source.view(EVERYTHING)) == ["n1", "n2"], "it to be mended")
    finally:
        following.cancel()


def test_files_show_pods_as_they_are_given_and_say_why() -> None:
    source = FileCluster(world, [], "bayplan ui -f cluster.yaml")
    view = source.view(EVERYTHING)
    assert view["source"] == "files"
    assert view["clusters"][0]["summary"]["pending"] == 4
    big = source.pod(EVERYTHING, "default/big", ())
    assert big is not None
    assert big["sentence"].startswith("It waits: no node of 2 has enough cpu")
    assert source.pod(EVERYTHING, "default/none", ()) is None
    assert source.namespaces() == {"default", "shop"}


async def test_a_simulation_runs_while_one_watches() -> None:
    """Thirty seconds pass until the last pod comes; at this speed that is less than a second."""
    source = RunningSimulation(world(CLUSTER + LATER), "bayplan ui -f cluster.yaml --simulate", speed=60.0)
    running = asyncio.ensure_future(source.run())
    seen: list[int] = []
    try:

        def bound() -> int:
            seen.append(source.view(EVERYTHING)["clusters"][0]["summary"]["bound"])
            return seen[-1] == 4

        await until(bound, "all pods that fit to be bound")
    finally:
        running.cancel()
    assert 3 in seen, "it was seen before the last pod came"
    late = source.pod(EVERYTHING, "default/late", ())
    assert late is not None
    assert late["node"] in ("n1", "n2")
    assert [(each["at"], each["node"]) for each in late["attempts"]] == [(30.0, late["node"])]
    assert source.view(EVERYTHING)["timeline"]["at"]


async def test_a_simulation_ends_with_its_server() -> None:
    source = RunningSimulation(world(CLUSTER + LATER), "bayplan ui", speed=0.001)
    running = asyncio.ensure_future(source.run())
    await until(lambda: source.view(EVERYTHING)["clusters"][0]["summary"]["bound"] == 3, "the first pods")
    running.cancel()
    await asyncio.gather(running, return_exceptions=True)
    await asyncio.get_running_loop().shutdown_default_executor()
    assert source.view(EVERYTHING)["clusters"][0]["summary"]["bound"] == 3

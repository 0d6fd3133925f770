"""
A client that does nothing but bind: the pods there are, each to the next node, as fast as the API server takes it.

``contenders`` starts it as a process; what it reaches is the ceiling for every scheduler on that machine.

    python -m benchmarks.binding KUBECONFIG
"""

from __future__ import annotations

import asyncio
import itertools
import sys
from collections.abc import Iterator
from typing import Any

import uvloop

from bayplan.kube.auth import Credentials
from bayplan.kube.client import Client

AT_ONCE = 64
PODS, NODES = "/api/v1/pods", "/api/v1/nodes"


async def bind_all(kubeconfig: str) -> None:
    client = Client(Credentials(kubeconfig))
    try:
        nodes = [each["metadata"]["name"] for each in (await client.get(NODES))["items"]]
        pods = (await client.get(PODS, {"fieldSelector": "spec.nodeName="}))["items"]
        pairs = zip((each["metadata"] for each in pods), itertools.cycle(nodes), strict=False)
        await asyncio.gather(*(_bind_some(client, pairs) for _ in range(AT_ONCE)))
    finally:
        await client.close()


async def _bind_some(client: Client, pairs: Iterator[tuple[dict[str, Any], str]]) -> None:
    for meta, node in pairs:
        binding = {
            "apiVersion": "v1",
            "kind": "Binding",
            "metadata": {"name": meta["name"], "namespace": meta["namespace"], "uid": meta["uid"]},
            "target": {"apiVersion": "v1", "kind": "Node", "name": node},
        }
        path = f"/api/v1/namespaces/{meta['namespace']}/pods/{meta['name']}/binding"
        await client.send("POST", path, body=binding)


async def main(kubeconfig: str) -> None:
    await bind_all(kubeconfig)
    await asyncio.Event().wait()  # whoever measures reads CPU and memory of a process that is still there


if __name__ == "__main__":
    uvloop.run(main(sys.argv[1]))

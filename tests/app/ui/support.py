"""Small clusters to look at, for the tests of the page's server."""

from __future__ import annotations

from concurrent.futures import ThreadPoolExecutor

from bayplan.app.ui.worlds import RunningSimulation
from bayplan.objects.files import manifests
from bayplan.plugins.plugin_set import registry
from bayplan.simulator import simulation
from bayplan.simulator.loading import load
from bayplan.simulator.world import World, assemble

CLUSTER = """\
apiVersion: v1
kind: Node
metadata: {name: n1, labels: {topology.kubernetes.io/zone: a}}
status: {allocatable: {cpu: "4", memory: 8Gi, pods: "110"}}
---
apiVersion: v1
kind: Node
metadata: {name: n2, labels: {topology.kubernetes.io/zone: b}}
status: {allocatable: {cpu: "4", memory: 8Gi, pods: "110"}}
---
apiVersion: apps/v1
kind: Deployment
metadata: {name: web, namespace: shop}
spec:
  replicas: 3
  selector: {matchLabels: {app: web}}
  template:
    metadata: {labels: {app: web}}
    spec: {containers: [{name: main, image: web, resources: {requests: {cpu: "1"}}}]}
---
apiVersion: v1
kind: Pod
metadata: {name: big}
spec: {containers: [{name: main, image: web, resources: {requests: {cpu: "9"}}}]}
"""
NOW = 1_700_000_000.0


def world(text: str = CLUSTER) -> World:
    documents = manifests.read(["-"], stdin=text.encode())
    return assemble(load(documents, None, registry((), False), strict=True), now=NOW, keeps_history=True)


def simulated(text: str = CLUSTER) -> RunningSimulation:
    """A simulation that is over."""
    made = world(text)
    with ThreadPoolExecutor(1) as pool:  # it has a loop of its own
        assert pool.submit(simulation.run, made).result() == ""
    return RunningSimulation(made, "bayplan ui -f cluster.yaml --simulate", 1.0)

"""Every field of every document is on the reference page: real outputs are walked, and the page is walked back."""

from __future__ import annotations

import json
import re
from collections.abc import Iterator
from functools import cache
from pathlib import Path
from typing import Any

import pytest
import yaml

from bayplan.app.scheduler.decision_log import DecisionLog
from bayplan.app.top.figures import top_document
from bayplan.cli import bench, shadow
from bayplan.cli.main import main
from bayplan.clock import VirtualClock
from bayplan.controllers.shadow.tally import Tally
from bayplan.controllers.shadow.verdict import judged, unjudged
from bayplan.engine.intents import Outcome
from bayplan.framework.tipping import How, Tip
from bayplan.objects.meta import ObjectMeta
from bayplan.objects.pod import Pod
from bayplan.plugins.plugin_set import registry
from bayplan.simulator.loading import documents_of, load
from bayplan.simulator.world import assemble
from bayplan.testing import pod
from tests.app.top.test_figures import cluster as top_cluster
from tests.docs.pages import ROOT, section

PAGE = ROOT / "docs" / "reference" / "json.md"
EXAMPLES = ROOT / "examples"
KINDS = (
    "Simulation", "Explanation", "Top", "WorkloadExplanation", "WhatIf", "Fit", "Comparison", "PlacementResult", "PlanRun",
    "RebalancePlan", "PluginList", "Benchmark", "StickyList", "Replay", "ShadowVerdict", "ShadowSummary", "DecisionList", "Sweep", "View",
)  # fmt: skip
RARE = {
    ("Benchmark", f"results[].{field}")
    for field in ("cpuSeconds", "secondsForNodes", "bytesPerPod", "peakBytes", "clusters", "placements", "chosen",
                  "milliseconds", "cpuMilliseconds")
} | {("Simulation", "stopped"), *(("Simulation", f"summary.{end}") for end in ("evicted", "scaledIn", "lost", "lostForGood", "deleted", "errors"))} | {
    ("Simulation", "pods[].error"), ("Explanation", "error"), ("Explanation", "rejectedBy"),
    ("Replay", "summary.unjudgedBecause.*")} | {
    (kind, "stopped") for kind in ("WhatIf", "Fit", "Comparison")} | {
    ("View", f"clusters[].pending[].view.{field}")
    for field in ("preemption.node", "preemption.victims", "scores.plugins", "scores.plugins[].name", "scores.plugins[].weight",
                  "scores.nodes", "scores.nodes[].name", "scores.nodes[].total", "scores.nodes[].scores")} | {
    ("PlacementResult", f"spread[].{field}") for field in ("minDomains", "weights", "weights.*", "others", "others.*")
}  # fmt: skip
"""Documented, and too dear or too odd to bring about here."""


@cache
def documented(kind: str) -> frozenset[str]:
    rows = re.findall(r"^\| (`[^|]*`) \|", section(PAGE, kind), re.MULTILINE)
    return frozenset(path for row in rows for path in re.findall(r"`([^`]+)`", row))


def walked(document: dict[str, Any]) -> Iterator[tuple[str, str]]:
    """Kind and path of every field, with ``*`` where the page has it; a document in a document is one of its kind."""
    yield from _fields(document["kind"], document, "")


def _fields(kind: str, value: Any, path: str) -> Iterator[tuple[str, str]]:
    if isinstance(value, list):
        for each in value:
            yield from _fields(kind, each, f"{path}[]")
    elif isinstance(value, dict) and path and value.get("apiVersion") == "bayplan.io/v1alpha1":
        yield from walked(value)
    elif isinstance(value, dict):
        for key, part in value.items():
            named, any_name = (f"{path}.{name}" if path else name for name in (key, "*"))
            below = any_name if named not in documented(kind) and any_name in documented(kind) else named
            yield kind, below
            yield from _fields(kind, part, below)


CLUSTER = """\
apiVersion: v1
kind: Node
metadata: {name: n1, labels: {topology.kubernetes.io/zone: a}}
status: {allocatable: {cpu: "4", memory: 8Gi, pods: "110"}}
---
apiVersion: v1
kind: Node
metadata: {name: n2}
status: {allocatable: {cpu: "4", memory: 8Gi, pods: "110"}}
---
apiVersion: apps/v1
kind: Deployment
metadata: {name: web}
spec:
  replicas: 2
  selector: {matchLabels: {app: web}}
  template:
    metadata: {labels: {app: web}}
    spec: {containers: [{name: main, image: web, resources: {requests: {cpu: "1"}}}]}
---
apiVersion: v1
kind: Pod
metadata: {name: big}
spec: {containers: [{name: main, image: web, resources: {requests: {cpu: "9", memory: 8Gi}}}]}
---
apiVersion: v1
kind: Pod
metadata: {name: eater}
spec: {nodeName: n1, priority: -5, containers: [{name: main, image: web, resources: {requests: {cpu: 3500m}}}]}
---
apiVersion: v1
kind: Pod
metadata: {name: other}
spec: {priority: -5, containers: [{name: main, image: web, resources: {requests: {cpu: "1", memory: 1Gi}}}]}
---
apiVersion: v1
kind: Pod
metadata: {name: gated}
spec: {schedulingGates: [{name: example.com/g}], containers: [{name: main, image: web}]}
---
apiVersion: v1
kind: Pod
metadata: {name: urgent}
spec:
  priority: 10
  nodeSelector: {topology.kubernetes.io/zone: a}
  containers: [{name: main, image: web, resources: {requests: {cpu: "2"}}}]
---
apiVersion: kubevirt.io/v1
kind: VirtualMachine
metadata: {name: vm, annotations: {bayplan.io/sticky-node: n1}}
"""

FILES = (
    "cluster.yaml",
    "devices.yaml",
    "misplaced.yaml",
    "unplaced.yaml",
    "sweep.yaml",
    "rollout.yaml",
    "rows.csv",
    "plan.yaml",
)
SWEEP = """\
apiVersion: bayplan.io/v1alpha1
kind: Sweep
metadata: {name: two seeds}
spec:
  files: [cluster.yaml]
  grid: {seed: 0:2, config: [default]}
"""


def _claiming(name: str, asks: str) -> str:
    """A pod whose claim asks for devices of the kind of its name."""
    selector = f'selectors: [{{cel: {{expression: \'device.attributes["gpu.example.com"].kind == "{name}"\'}}}}]'
    return f"""\
---
apiVersion: resource.k8s.io/v1
kind: ResourceClaim
metadata: {{name: {name}}}
spec: {{devices: {{requests: [{{name: r0, exactly: {{deviceClassName: gpu, {selector}, {asks}}}}}]}}}}
---
apiVersion: v1
kind: Pod
metadata: {{name: {name}}}
spec: {{containers: [{{name: main, image: web}}], resourceClaims: [{{name: g, resourceClaimName: {name}}}]}}
"""


DEVICES = """\
apiVersion: v1
kind: Node
metadata: {name: n1}
status: {allocatable: {cpu: "4", memory: 8Gi, pods: "110"}}
---
apiVersion: resource.k8s.io/v1
kind: DeviceClass
metadata: {name: gpu}
---
apiVersion: resource.k8s.io/v1
kind: ResourceSlice
metadata: {name: counters}
spec:
  driver: gpu.example.com
  pool: {name: n1, generation: 1, resourceSliceCount: 2}
  nodeName: n1
  sharedCounters: [{name: c, counters: {memory: {value: 10Gi}}}]
---
apiVersion: resource.k8s.io/v1
kind: ResourceSlice
metadata: {name: devices}
spec:
  driver: gpu.example.com
  pool: {name: n1, generation: 1, resourceSliceCount: 2}
  nodeName: n1
  devices:
  - {name: d-shared, attributes: {kind: {string: shared}}, allowMultipleAllocations: true, capacity: {memory: {value: "9"}}}
  - {name: d-tainted, attributes: {kind: {string: tainted}}, taints: [{key: sick, effect: NoSchedule}]}
  - {name: d-single, attributes: {kind: {string: single}}}
  - name: part-0
    attributes: {kind: {string: part}}
    consumesCounters: [{counterSet: c, counters: {memory: {value: 6Gi}}}]
  - name: part-1
    attributes: {kind: {string: part}}
    consumesCounters: [{counterSet: c, counters: {memory: {value: 6Gi}}}]
---
apiVersion: resource.k8s.io/v1
kind: ResourceClaim
metadata: {name: other}
spec: {devices: {requests: [{name: r0, exactly: {deviceClassName: gpu}}]}}
status:
  allocation:
    devices:
      results:
      - {request: r0, driver: gpu.example.com, pool: n1, device: part-0}
      - request: r0
        driver: gpu.example.com
        pool: n1
        device: d-shared
        shareID: 00000000-0000-4000-8000-000000000000
        consumedCapacity: {memory: 8}
""" + "".join(
    (
        _claiming("shared", "capacity: {requests: {memory: 4}}"),
        _claiming("part", "count: 1"),
        _claiming("tainted", "count: 1"),
        _claiming("single", "count: 2"),
    )
)

MISPLACED = """\
apiVersion: v1
kind: Node
metadata: {name: a1, labels: {region: a}}
status: {allocatable: {cpu: "8", memory: 8Gi, pods: "110"}}
---
apiVersion: v1
kind: Node
metadata: {name: b1, labels: {region: b}}
status: {allocatable: {cpu: 500m, memory: 8Gi, pods: "110"}}
---
apiVersion: apps/v1
kind: ReplicaSet
metadata: {name: web}
spec:
  replicas: 4
  selector: {matchLabels: {app: web}}
  template:
    metadata: {labels: {app: web, workload-policy/kosmos.io: regions}}
    spec: {containers: [{name: main, image: web, resources: {requests: {cpu: 500m}}}]}
---
apiVersion: kosmos.io/v1alpha1
kind: WorkloadPolicy
metadata: {name: regions}
spec:
  topologyKey: region
  labelSelector: {matchLabels: {app: web}}
  allocationPolicy: [{name: a, replicas: 1}, {name: b, replicas: 3}]
  allocationType: Required
  rebalance: {mode: Auto}
"""
MOVABLE = """\
---
apiVersion: v1
kind: Pod
metadata:
  name: web-NUMBER
  labels: {app: web, workload-policy/kosmos.io: regions}
  ownerReferences: [{apiVersion: apps/v1, kind: ReplicaSet, name: web, uid: u, controller: true}]
spec:
  nodeName: a1
  containers: [{name: main, image: web, resources: {requests: {cpu: 500m}}}]
status: {phase: Running, conditions: [{type: Ready, status: "True"}]}
"""
POLICY = str(EXAMPLES / "workload-policy" / "rebalance.yaml")
NOW = "2026-01-31T10:30:00Z"
ASKED = EXAMPLES / "13-what-if"
WHAT_IF = ["-f", str(ASKED / "cluster.yaml")]
LOAD, PLACEMENT, REPLAY = EXAMPLES / "load-aware", EXAMPLES / "placement", EXAMPLES / "replay"


def commands() -> list[list[str]]:
    load = [word for name in ("nodes", "memory-type", "spare") for word in ("-f", str(LOAD / f"{name}.yaml"))]
    config = ["--config", str(LOAD / "scheduler-config.yaml")]
    return [
        ["simulate", "-f", "cluster.yaml", "--explain", "--summary"],
        ["simulate", "-f", POLICY],
        ["simulate", "-f", "unplaced.yaml"],
        ["simulate", "-f", "devices.yaml"],
        ["simulate", *load, *config, "--for", "80m", "--now", NOW, "--explain"],
        ["simulate", *load, *config, "--for", "80m", "--outage", "20m-75m", "--now", NOW],
        ["rebalancer", "--dry-run", "-f", "misplaced.yaml"],
        *(["explain", what, "-f", "cluster.yaml"] for what in ("big", "urgent", "eater", "gated", "deploy/web")),
        *(["explain", what, "-f", "devices.yaml"] for what in ("shared", "part", "tainted", "single")),
        ["explain", "training", "-f", str(EXAMPLES / "11-devices")],
        ["explain", "training", "-f", str(EXAMPLES / "12-device-score")],
        ["what-if", *WHAT_IF, "--drain", "n1", "--remove", "n3", "--scale", "deploy/web=9", "--delete", "deploy/old"],
        ["what-if", *WHAT_IF, "--add", "1", "--like", "n1"],
        ["what-if", *WHAT_IF, "--apply", str(ASKED / "web-large.yaml")],
        ["simulate", *WHAT_IF, "-f", "rollout.yaml"],
        ["what-if", *WHAT_IF, "--remove", "zone=a"],
        ["fit", *WHAT_IF, "--pod", str(ASKED / "pod.yaml"), "--preempt"],
        ["fit", *WHAT_IF, "--pod", str(ASKED / "large.yaml"), "--make-room"],
        ["fit", *WHAT_IF, "--shrink"],
        ["rebalancer", "--dry-run", "--plan", "plan.yaml", *WHAT_IF],
        ["fit", *WHAT_IF, "--node-template", str(ASKED / "m5.yaml")],
        ["compare", *WHAT_IF, "--config", str(ASKED / "packing.yaml"), "--afresh"],
        ["fit", "-f", "cluster.yaml", "--node-template", str(ASKED / "m5.yaml")],
        ["place", "-f", str(PLACEMENT), "--now", NOW],
        ["sweep", "sweep.yaml", "--workers", "1", "--out", "rows.csv"],
        ["plugins"],
        ["bench", "plain", "--nodes", "5", "--pods", "5"],
        ["sticky", "list", "-f", "cluster.yaml"],
        ["replay", str(REPLAY / "monday.jsonl"), "--config", str(REPLAY / "packing.yaml"), "--all"],
    ]


REPORTED = ("simulate", "rebalancer", "what-if", "fit", "compare", "place", "sweep")


def view_in(report: Path) -> dict[str, Any]:
    """The document that a page carries."""
    found = re.search(r'id="view">(.*?)</script>', report.read_text(), re.DOTALL)
    assert found is not None
    view: dict[str, Any] = json.loads(found[1])
    return view


@pytest.fixture(scope="module")
def outputs(tmp_path_factory: pytest.TempPathFactory) -> list[dict[str, Any]]:
    folder = tmp_path_factory.mktemp("fields")
    movable = "".join(MOVABLE.replace("NUMBER", str(number)) for number in range(4))
    (folder / "cluster.yaml").write_text(CLUSTER)
    (folder / "devices.yaml").write_text(DEVICES)
    (folder / "misplaced.yaml").write_text(MISPLACED + movable)
    (folder / "unplaced.yaml").write_text(MISPLACED)
    (folder / "sweep.yaml").write_text(SWEEP)
    later = "metadata: {name: web, annotations: {simulation.bayplan.io/at: 1m}}"
    larger = (ASKED / "web-large.yaml").read_text().replace("metadata: {name: web}", later)
    (folder / "rollout.yaml").write_text(larger)
    found: list[dict[str, Any]] = []
    for command in commands():
        out, page = folder / "out.json", folder / "report.html"
        arguments = [str(folder / word) if word in FILES else word for word in command]
        with pytest.MonkeyPatch.context() as patch, out.open("w") as stream:
            patch.setattr("sys.stdout", stream)
            report = ["--report", str(page)] if command[0] in REPORTED and "--plan" not in command else []
            code = main([*arguments, "-o", "json", *report])
        assert code in (0, 1), command
        if "--make-room" in command:
            (folder / "plan.yaml").write_text(out.read_text())
        told = json.loads(out.read_text())
        found += told if isinstance(told, list) else [told]
        found += [view_in(page)] if report else []
    return [*found, *shadow_lines(), decisions(), top_document(top_cluster(), 1.0)]


def shadow_lines() -> Iterator[dict[str, Any]]:
    """What the shadow prints of a pod that it cannot judge, and of all; it needs a cluster to print it itself."""
    shown: list[str] = []
    tally = Tally()
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(shadow, "write", shown.append)
        lines = shadow._Lines(tally, every=True)
        about = Pod(metadata=ObjectMeta(name="p", namespace="default"))
        for verdict in (unjudged(0.0, about, "why"), judged(0.0, about, "a", None, Tip(How.FILTER, "Fit", ("no",)))):
            tally.add(verdict)
            lines.tell(verdict)
        lines.end()
    return map(json.loads, shown)


def decisions() -> dict[str, Any]:
    """What the live scheduler serves of a decision; it needs a cluster to serve it itself."""
    kept = DecisionLog(VirtualClock(0.0))
    scheduler = assemble(load(documents_of(yaml.safe_load_all(CLUSTER)), None, registry(()))).scheduler
    for cpu in ("10m", "64"):
        kept.decided(Outcome(scheduler.decide(pod("p").cpu(cpu).build()), []))
    told: dict[str, Any] = json.loads(kept.render({}))
    return told


def test_every_field_of_real_outputs_is_documented(outputs: list[dict[str, Any]]) -> None:
    fields = {field for document in outputs for field in walked(document)}
    known = {(kind, path) for kind in KINDS for path in (*documented(kind), "apiVersion", "kind")}
    assert sorted(fields - known) == []


def test_every_documented_field_is_there_in_some_output(outputs: list[dict[str, Any]]) -> None:
    fields = {field for document in outputs for field in walked(document)}
    told = {(kind, path) for kind in KINDS for path in documented(kind)}
    left = sorted(told - fields - RARE)
    assert not left, "\n".join(map(str, left))


def test_every_kind_has_its_section_and_the_page_no_other() -> None:
    assert re.findall(r"^## (\S+)$", PAGE.read_text(), re.MULTILINE) == list(KINDS)
    assert all(documented(kind) for kind in KINDS)


def test_a_field_that_is_not_on_the_page_would_be_found() -> None:
    invented = {"apiVersion": "bayplan.io/v1alpha1", "kind": "Simulation", "pods": [{"colour": "blue"}]}
    assert ("Simulation", "pods[].colour") in set(walked(invented))
    assert "pods[].colour" not in documented("Simulation")


def test_the_million_has_the_fields_that_are_said(capsys: pytest.CaptureFixture[str]) -> None:
    assert "million" in bench.ALONE
    assert main(["bench", "million", "--nodes", "50", "--pods", "50", "-o", "json"]) == 0
    document = json.loads(capsys.readouterr().out)
    assert {path for _, path in walked(document)} <= {*documented("Benchmark"), "apiVersion", "kind"}

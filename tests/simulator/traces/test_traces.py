"""Traces: CSV files become nodes and pods, and what is wrong with them is one line."""

from __future__ import annotations

import gzip
from pathlib import Path

import pytest

from bayplan.errors import InputError
from bayplan.objects.node import Node
from bayplan.objects.pod import Pod
from bayplan.simulator import loading, simulation
from bayplan.simulator.traces.arranging import amount_of, arranged

GPU = "gpu.example.com/milli"
NODES = "sn,cpu_milli,memory_mib,gpu,model\nn1,8000,16384,2,T4\nn2,4000,8192,0,\n"
PODS = "name,cpu,mem,num_gpu,milli,spec,came,lasts\na,1000,512,1,460,T4|P4,0,100\nb,500,256,2,1000,,30,\nc,250,128,0,0,,5,20\n"
TRACE = """\
apiVersion: bayplan.io/v1alpha1
kind: Trace
metadata: {name: t}
spec:
  nodes:
    file: nodes.csv
    gpuResource: gpu.example.com/milli
    columns: {name: sn, cpu: {column: cpu_milli, unit: m}, memory: {column: memory_mib, unit: Mi}, gpus: gpu}
    labels: {example.com/model: model}
  pods:
    file: pods.csv
    gpuResource: gpu.example.com/milli
    columns: {name: name, cpu: {column: cpu, unit: m}, memory: {column: mem, unit: Mi}, gpus: num_gpu, gpuMilli: milli%s}
    annotations: {example.com/models: spec}
%s"""
TIMES = ", arrival: came, duration: lasts"


def written(folder: Path, trace: str = TRACE % ("", ""), nodes: str = NODES, pods: str = PODS) -> Path:
    (folder / "nodes.csv").write_text(nodes)
    (folder / "pods.csv").write_text(pods)
    (folder / "trace.yaml").write_text(trace)
    return folder / "trace.yaml"


def told(path: Path) -> str:
    with pytest.raises(InputError) as caught:
        loading.read([path])
    return str(caught.value).replace(f"{path.parent}/", "")


def test_rows_become_nodes_and_pods(tmp_path: Path) -> None:
    given = loading.read([written(tmp_path)])
    n1, n2 = (each for each in given.objects if isinstance(each, Node))
    a, b, c = (each for each in given.objects if isinstance(each, Pod))
    assert (n1.allocatable.cpu_milli, n1.allocatable.scalars, n1.labels["example.com/model"]) == (
        8000,
        {GPU: 2000},
        "T4",
    )
    assert (n2.allocatable.scalars, "example.com/model" in n2.labels) == ({}, False)
    assert [amount_of(pod.requests, GPU) for pod in (a, b, c)] == [460, 2000, 0]
    assert a.annotations["example.com/models"] == "T4|P4"
    assert "example.com/models" not in b.annotations


def test_pods_come_and_go_when_the_trace_says(tmp_path: Path) -> None:
    given = loading.read([written(tmp_path, TRACE % (TIMES, ""))])
    document = simulation.simulate(given, now=0.0)
    assert document["elapsed"] == 100.0
    assert {pod["name"]: (pod["state"], pod["boundAt"]) for pod in document["pods"]} == {
        "a": ("Deleted", 0.0),
        "c": ("Deleted", 5.0),
        "b": ("Bound", 100.0),  # once a has left its share
    }


@pytest.mark.parametrize(
    ("change", "line"),
    [
        ({"pods": PODS.replace("num_gpu", "num_gpus")}, 'pods.csv:1: there is no column "num_gpu", which columns.gpus names; did you mean "num_gpus"?'),
        ({"pods": PODS.replace("500,256", "half,256")}, 'pods.csv:3: column cpu: "half" is not a number; write 0 or more'),
        ({"pods": PODS.replace("500,256", ",256")}, "pods.csv:3: column cpu: is empty; write 0 or more"),
        ({"pods": PODS.replace("500,256", "-5,256")}, 'pods.csv:3: column cpu: "-5" is not a number; write 0 or more'),
        ({"pods": PODS.replace("2,1000", "2,500")}, "pods.csv:3: column milli: a share of 2 GPUs: a pod shares one GPU or has whole ones; write 1000"),
        ({"pods": PODS.replace("1,460", "1.5,460")}, 'pods.csv:2: column num_gpu: "1.5" is not a whole number; write one such as 2'),
        ({"pods": PODS.replace("\nb,", "\na,")}, 'pods.csv:3: column name: "a" is on line 2 already; give it another name'),
        ({"pods": PODS + "d,1\n"}, "pods.csv:5: 2 values for 8 columns; write one for each column"),
        ({"pods": ""}, "pods.csv: is empty; write the names of the columns on the first line"),
        ({"nodes": NODES.splitlines()[0]}, "nodes.csv: has no rows; write a line for each behind the first"),
        ({"trace": TRACE.replace("pods.csv", "other.csv") % ("", "")}, "other.csv: no such file; check the path that the trace names"),
        ({"trace": TRACE % (", arival: came", "")}, 'trace.yaml:1: Trace: spec.pods.columns.arival: unknown field; did you mean "arrival"?'),
        ({"trace": TRACE % (", duration: lasts, end: came", "")}, "trace.yaml:1: Trace: spec.pods.columns: duration and end contradict one another; keep one"),
        ({"trace": TRACE % (TIMES, "  shuffle: true\n")}, "trace.yaml:1: Trace: spec: shuffle and pods.columns.arrival contradict one another; leave out one of the two"),
    ],
)  # fmt: skip
def test_what_is_wrong_is_one_line(tmp_path: Path, change: dict[str, str], line: str) -> None:
    assert told(written(tmp_path, **change)) == line


def test_a_seed_shuffles_and_copies_pods_up_to_the_demand(tmp_path: Path) -> None:
    pods = "name,cpu,mem,num_gpu,milli,spec,came,lasts\n" + "".join(f"p{n},10,1,1,100,,0,\n" for n in range(10))
    trace = TRACE % ("", "  shuffle: true\n  demand: {resource: gpu.example.com/milli, ofCapacity: 0.8}\n")
    given = loading.read([written(tmp_path, trace, pods=pods)])

    def names(seed: int) -> list[str]:
        return [each.name for each in arranged(given.objects, given.arrangements[0], seed) if isinstance(each, Pod)]

    assert names(1) == names(1) != names(2)
    assert len(names(1)) == 16  # 0.8 of 2000 is 16 times 100
    assert sorted(names(1)[:10]) == sorted(f"p{n}" for n in range(10))
    assert names(1)[10].split("-copy-")[1] == "0"


def test_a_seed_leaves_pods_out_where_the_demand_is_less(tmp_path: Path) -> None:
    pods = "name,cpu,mem,num_gpu,milli,spec,came,lasts\n" + "".join(f"p{n},10,1,1,100,,0,\n" for n in range(30))
    trace = TRACE % ("", "  demand: {resource: gpu.example.com/milli, ofCapacity: 1.0}\n")
    given = loading.read([written(tmp_path, trace, pods=pods)])
    document = simulation.simulate(given, now=0.0, seed=3)
    assert document["summary"]["pods"] == 20


def test_a_demand_that_nobody_could_simulate_is_told(tmp_path: Path) -> None:
    trace = TRACE % ("", "  demand: {resource: cpu, ofCapacity: 1000000000}\n")
    with pytest.raises(InputError, match=r"spec.demand.ofCapacity: asks for more than 5000000 pods"):
        simulation.simulate(loading.read([written(tmp_path, trace)]))


@pytest.mark.parametrize("harm", ["none", "cut off", "changed"])
def test_a_file_that_is_not_compressed_well_is_told(tmp_path: Path, harm: str) -> None:
    many = NODES + "".join(f"m{number},8000,16384,2,T4\n" for number in range(999))
    packed = bytearray(gzip.compress(many.encode()))
    packed[40:60] = b"\xff" * 20 if harm == "changed" else packed[40:60]
    path = written(tmp_path, (TRACE % ("", "")).replace("nodes.csv", "nodes.csv.gz"))
    (tmp_path / "nodes.csv.gz").write_bytes(many.encode() if harm == "none" else packed[:-12])
    with pytest.raises(InputError, match=r"nodes.csv.gz: its compression breaks off, or is none"):
        loading.read([path])

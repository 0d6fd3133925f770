"""The end of a simulation as the input of the next: the same state again, and nothing made twice."""

from __future__ import annotations

from typing import Any

import pytest
import yaml
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from bayplan.objects.files.manifests import Document
from bayplan.simulator.loading import Given, load
from bayplan.simulator.report import end_state
from bayplan.simulator.simulation import simulate
from bayplan.simulator.world import World
from tests.simulator.support import START, ZONE, Manifest, budget, config, job, node, pod, workload


def read(manifests: list[Manifest]) -> Given:
    """As strictly as files are read."""
    return load([Document("test.yaml", 0, each) for each in manifests], strict=True)


def ended(manifests: list[Manifest], **options: Any) -> tuple[Manifest, list[Manifest]]:
    """The document of a run, and the manifests of its end."""
    worlds: list[World] = []
    what = read(manifests)
    document = simulate(what, **{"now": START, "at_end": worlds.append, **options})
    items = yaml.safe_load(yaml.safe_dump(end_state.manifests(worlds[0], what)))["items"]
    return document, items


def state(document: Manifest) -> dict[str, Any]:
    there = [each for each in document["pods"] if each["state"] in ("Bound", "Pending", "Gated", "Ignored")]
    pods = {(each["namespace"], each["name"]): (each["state"], each["node"], each["owner"]) for each in there}
    return {"pods": pods, "nodes": sorted(document["nodes"], key=lambda each: str(each["name"]))}


def in_order(items: list[Manifest]) -> list[Manifest]:
    return sorted(items, key=lambda each: (each["kind"], str(each.get("metadata", {}).get("name"))))


def check(manifests: list[Manifest], **options: Any) -> list[Manifest]:
    """The next run changes nothing, and ends as it began."""
    first, items = ended(manifests, **options)
    second, again = ended(items, now=START + first["elapsed"])
    assert state(second) == state(first)
    assert all(each["boundAt"] is None for each in second["pods"])
    assert in_order(again) == in_order(items)
    return items


def claim(name: str, storage_class: str) -> Manifest:
    spec = {
        "accessModes": ["ReadWriteOnce"], "storageClassName": storage_class,
        "resources": {"requests": {"storage": "1Gi"}},
    }  # fmt: skip
    return {"apiVersion": "v1", "kind": "PersistentVolumeClaim", "metadata": {"name": name}, "spec": spec}


def storage_class(name: str, mode: str) -> Manifest:
    return {
        "apiVersion": "storage.k8s.io/v1", "kind": "StorageClass", "metadata": {"name": name},
        "provisioner": "disks.example.com", "volumeBindingMode": mode,
    }  # fmt: skip


def disk(name: str, zone: str) -> Manifest:
    term = {"matchExpressions": [{"key": ZONE, "operator": "In", "values": [zone]}]}
    spec = {
        "capacity": {"storage": "2Gi"}, "accessModes": ["ReadWriteOnce"], "storageClassName": "fixed",
        "nodeAffinity": {"required": {"nodeSelectorTerms": [term]}}, "hostPath": {"path": "/disk"},
    }  # fmt: skip
    return {"apiVersion": "v1", "kind": "PersistentVolume", "metadata": {"name": name}, "spec": spec}


def using(name: str, claim_name: str) -> Manifest:
    return pod(name, volumes=[{"name": "data", "persistentVolumeClaim": {"claimName": claim_name}}])


NODES = [node(f"n{number}", labels={ZONE: f"z{number % 2}"}) for number in range(4)]


def test_workloads_are_not_made_twice() -> None:
    items = check(
        [
            *NODES,
            workload("Deployment", "web", "1", replicas=3),
            workload("StatefulSet", "db", "1", replicas=2),
            workload("DaemonSet", "agent"),
            workload("ReplicaSet", "old", replicas=2),
            job("sum", parallelism=2, completions=5),
            pod("big", "99"),
            budget("web", {"app": "web"}, minAvailable=1),
        ]
    )
    assert sum(each["kind"] == "Pod" for each in items) == 3 + 2 + 4 + 2 + 2 + 1
    (told,) = (each for each in items if each["metadata"]["name"] == "web" and each["kind"] == "PodDisruptionBudget")
    assert "status" not in told
    (big,) = (each for each in items if each["metadata"]["name"] == "big")
    assert big["status"]["conditions"][0]["reason"] == "Unschedulable"
    assert "0/4 nodes are available" in big["status"]["conditions"][0]["message"]


def test_volumes_and_claims_are_kept() -> None:
    template = claim("data", "made")
    db = workload("StatefulSet", "db", replicas=2, volumeClaimTemplates=[template])
    scratch = {"name": "scratch", "ephemeral": {"volumeClaimTemplate": {"spec": claim("x", "made")["spec"]}}}
    items = check(
        [
            *NODES,
            storage_class("made", "WaitForFirstConsumer"), storage_class("fixed", "Immediate"),
            disk("d1", "z1"), claim("one", "fixed"), claim("two", "made"), claim("idle", "made"),
            using("a", "one"), using("b", "two"), db, pod("c", volumes=[scratch]), using("d", "missing"),
        ]
    )  # fmt: skip
    claims = {each["metadata"]["name"]: each for each in items if each["kind"] == "PersistentVolumeClaim"}
    assert set(claims) == {"one", "two", "idle", "data-db-0", "data-db-1", "c-scratch"}
    assert claims["one"]["spec"]["volumeName"] == "d1"
    assert claims["idle"].get("status") is None
    volumes = [each["metadata"]["name"] for each in items if each["kind"] == "PersistentVolume"]
    assert len(volumes) == len(set(volumes)) == 5


def test_pods_that_were_pushed_away_are_gone_and_the_winner_stays() -> None:
    low = [pod(f"low-{number}", "3", priority=-1, nodeName=f"n{number}") for number in range(4)]
    items = check([*NODES, *low, pod("urgent", "2", priority=10)])
    names = {each["metadata"]["name"] for each in items if each["kind"] == "Pod"}
    assert "urgent" in names
    assert len(names) == 4


def test_a_node_that_is_set_aside_for_a_pod_stays_so() -> None:
    """Its victim is leaving, and takes its time."""
    leaving = {"deletionTimestamp": "2025-06-15T15:00:00Z", "deletionGracePeriodSeconds": 30}
    victim = pod("victim", "4", meta=leaving, nodeName="n0", priority=-1)
    waiting = pod("urgent", "4", status={"nominatedNodeName": "n0"}, priority=10)
    others = [pod(f"busy-{number}", "3", nodeName=f"n{number}", priority=20) for number in range(1, 4)]
    items = check([*NODES, victim, waiting, *others])
    (found,) = (each for each in items if each["metadata"]["name"] == "urgent")
    assert found["status"]["nominatedNodeName"] == "n0"


def test_gates_other_schedulers_and_the_configuration_stay() -> None:
    items = check(
        [
            *NODES,
            config("mine"),
            pod("gated", schedulerName="mine", schedulingGates=[{"name": "example.com/wait"}]),
            pod("ours", schedulerName="mine"),
            pod("theirs", schedulerName="other"),
        ]
    )
    assert items[0]["kind"] == "KubeSchedulerConfiguration"


def test_what_people_wrote_stays_as_they_wrote_it() -> None:
    written = pod("a")
    written["spec"]["containers"][0]["env"] = [{"name": "COLOUR", "value": "blue"}]
    items = check([*NODES, written])
    (found,) = (each for each in items if each["kind"] == "Pod")
    assert found["spec"]["containers"] == written["spec"]["containers"]
    assert found["spec"]["nodeName"]
    assert found["status"]["phase"] == "Running"


def test_what_is_still_to_come_comes_when_it_would_have_come() -> None:
    late = pod("late", meta={"annotations": {"simulation.bayplan.io/arrives": "10m"}})
    bigger = workload("Deployment", "web", replicas=4)
    bigger["metadata"]["annotations"] = {"simulation.bayplan.io/at": "5m"}
    manifests = [*NODES, late, workload("Deployment", "web", replicas=2), bigger]
    first, items = ended(manifests, run_for_s=60)
    assert first["summary"]["bound"] == 2
    second, again = ended(items, now=START + 60)
    assert second["summary"]["bound"] == 5
    assert second["elapsed"] == 540
    deployment = next(each for each in again if each["kind"] == "Deployment")
    assert deployment["spec"]["replicas"] == 4
    whole, _ = ended(manifests)
    assert sorted(each["owner"] or each["name"] for each in whole["pods"]) == sorted(
        each["owner"] or each["name"] for each in second["pods"]
    )


SIZES = st.sampled_from(["100m", "500m", "1", "2500m", "9"])
KINDS = st.sampled_from(["Deployment", "StatefulSet", "DaemonSet", "ReplicaSet"])


@st.composite
def clusters(draw: st.DrawFn) -> list[Manifest]:
    made = [
        node(f"n{number}", draw(st.sampled_from(["2", "4"])), labels={ZONE: f"z{number % 2}"})
        for number in range(draw(st.integers(1, 5)))
    ]
    for number in range(draw(st.integers(0, 4))):
        kind = draw(KINDS)
        size = {} if kind == "DaemonSet" else {"replicas": draw(st.integers(0, 4))}
        spread = {
            "maxSkew": 1, "topologyKey": ZONE, "matchLabelKeys": ["pod-template-hash"],
            "whenUnsatisfiable": draw(st.sampled_from(["DoNotSchedule", "ScheduleAnyway"])),
            "labelSelector": {"matchLabels": {"app": f"w{number}"}},
        }  # fmt: skip
        more = {"topologySpreadConstraints": [spread]} if draw(st.booleans()) else {}
        made.append(workload(kind, f"w{number}", draw(SIZES), pods=more, **size))
    for number in range(draw(st.integers(0, 4))):
        made.append(pod(f"p{number}", draw(SIZES), priority=draw(st.integers(-2, 2))))
    if draw(st.booleans()):
        made += [storage_class("made", "WaitForFirstConsumer"), claim("two", "made"), using("b", "two")]
    if draw(st.booleans()):
        made.append(job("sum", parallelism=draw(st.integers(1, 3))))
    return made


@settings(max_examples=60, deadline=None, suppress_health_check=[HealthCheck.too_slow])
@given(clusters())
def test_any_end_is_a_beginning_that_stays_as_it_is(manifests: list[Manifest]) -> None:
    check(manifests)


@pytest.mark.parametrize("seed", [1, 2])
def test_another_seed_makes_no_difference(seed: int) -> None:
    check([*NODES, workload("Deployment", "web", "1", replicas=5)], seed=seed)


def test_what_has_not_gone_yet_goes_that_much_sooner() -> None:
    leaving = node("n1")
    leaving["metadata"]["annotations"] = {"simulation.bayplan.io/until": "5m"}
    _, items = ended([leaving, node("n2"), workload("Deployment", "web", replicas=2)], run_for_s=120)
    (left,) = (each for each in items if each["metadata"]["name"] == "n1")
    assert left["metadata"]["annotations"] == {"simulation.bayplan.io/until": "180s"}
    again, _ = ended(items)
    assert again["summary"]["nodes"] == 1
    assert again["elapsed"] == 180.0

"""Which pods there are at the start: workloads make them, and leave out those that are there already."""

from __future__ import annotations

import re
from typing import Any

from bayplan.objects.pod import Pod
from bayplan.objects.workload import ReplicaSet
from bayplan.simulator.controllers.workloads import HASH_LABEL, Workloads
from tests.simulator.support import Manifest, job, node, objects, owned_by, pod, workload

SAFE = "[bcdfghjklmnpqrstvwxz2456789]"


def begun(*manifests: Manifest, seed: int = 0) -> tuple[Workloads, list[Pod]]:
    workloads = Workloads(objects(*manifests), seed)
    return workloads, list(workloads.begin())


def replica_set(name: str, deployment: str, revision: str, **spec: Any) -> Manifest:
    made = workload("ReplicaSet", name, **spec)
    made["metadata"] |= {
        "ownerReferences": owned_by("Deployment", deployment),
        "annotations": {"deployment.kubernetes.io/revision": revision},
    }
    return made


def test_a_deployment_makes_a_replica_set_and_that_makes_pods() -> None:
    workloads, pods = begun(workload("Deployment", "web", replicas=3))
    (replicas,) = workloads.made
    assert isinstance(replicas, ReplicaSet)
    digest = replicas.labels[HASH_LABEL]
    assert re.fullmatch(SAFE + "{8,10}", digest)
    assert replicas.name == f"web-{digest}"
    assert replicas.controller is not None
    assert (replicas.controller.kind, replicas.controller.name) == ("Deployment", "web")
    assert replicas.selector.matches({"app": "web", HASH_LABEL: digest})
    assert not replicas.selector.matches({"app": "web"})
    assert len(pods) == 3
    for each in pods:
        assert re.fullmatch(f"web-{digest}-{SAFE}{{5}}", each.name)
        assert each.labels == {"app": "web", HASH_LABEL: digest}
        assert each.controller is not None
        assert (each.controller.kind, each.controller.name) == ("ReplicaSet", replicas.name)
        assert each.namespace == "default"
        assert workloads.owner(each) == "Deployment/web"


def test_pods_of_workloads_have_what_an_api_server_adds() -> None:
    _, (made,) = begun(workload("Deployment", "web", pods={"priorityClassName": "system-cluster-critical"}))
    assert made.priority == 2_000_000_000
    assert made.scheduler_name == "default-scheduler"
    assert {each.key for each in made.tolerations} == {"node.kubernetes.io/not-ready", "node.kubernetes.io/unreachable"}


def test_match_label_keys_see_the_template_hash() -> None:
    spread = {
        "maxSkew": 1,
        "topologyKey": "zone",
        "whenUnsatisfiable": "DoNotSchedule",
        "labelSelector": {"matchLabels": {"app": "web"}},
        "matchLabelKeys": ["pod-template-hash"],
    }
    _, (made,) = begun(workload("Deployment", "web", pods={"topologySpreadConstraints": [spread]}))
    (constraint,) = made.spread_constraints
    assert constraint.selector.matches(made.labels)
    assert not constraint.selector.matches({"app": "web", HASH_LABEL: "other"})


def test_pods_that_a_replica_set_has_are_not_made_again() -> None:
    old = pod("web-old", meta={"ownerReferences": owned_by("ReplicaSet", "web"), "labels": {"app": "web"}})
    _, pods = begun(workload("ReplicaSet", "web", replicas=3), old)
    assert len(pods) == 3
    assert [each.name for each in pods].count("web-old") == 1


def test_ended_and_terminating_pods_are_replaced() -> None:
    owner = {"ownerReferences": owned_by("ReplicaSet", "web")}
    ended = pod("ended", meta=owner, status={"phase": "Failed"})
    leaving = pod("leaving", meta={**owner, "deletionTimestamp": "2026-01-01T00:00:00Z"})
    _, pods = begun(workload("ReplicaSet", "web", replicas=2), ended, leaving)
    assert len(pods) == 4


def test_a_deployment_scales_its_newest_replica_set_and_leaves_older_ones_alone() -> None:
    deployment = workload("Deployment", "web", replicas=3)
    old, new = replica_set("web-old", "web", "1", replicas=0), replica_set("web-new", "web", "2", replicas=1)
    for order in ((deployment, old, new), (new, old, deployment)):
        workloads, pods = begun(*order)
        assert workloads.made == []
        assert [each.controller.name for each in pods if each.controller] == ["web-new"] * 3
        assert {workloads.owner(each) for each in pods} == {"Deployment/web"}


def test_pods_of_a_replica_set_that_is_not_given_still_belong_to_the_deployment() -> None:
    meta = {"labels": {"app": "web", HASH_LABEL: "abc"}, "ownerReferences": owned_by("ReplicaSet", "web-abc")}
    workloads, pods = begun(workload("Deployment", "web", replicas=2), pod("web-abc-1", meta=meta))
    assert [each.name for each in workloads.made] == ["web-abc"]
    assert len(pods) == 2
    assert {workloads.owner(each) for each in pods} == {"Deployment/web"}


def test_pods_come_in_the_order_of_the_documents() -> None:
    _, pods = begun(pod("first"), workload("Deployment", "web", replicas=1), pod("last"))
    assert [each.name[:3] for each in pods] == ["fir", "web", "las"]


def test_a_replication_controller_needs_no_selector() -> None:
    template = workload("ReplicaSet", "old")["spec"]["template"]
    spec = {"replicas": 2, "template": template}
    controller = {"apiVersion": "v1", "kind": "ReplicationController", "metadata": {"name": "old"}, "spec": spec}
    workloads, pods = begun(controller)
    assert [workloads.owner(each) for each in pods] == ["ReplicationController/old"] * 2


def test_a_stateful_set_makes_its_second_pod_when_the_first_is_on_a_node() -> None:
    workloads, (first,) = begun(workload("StatefulSet", "db", replicas=2))
    assert first.name == "db-0"
    assert first.labels["statefulset.kubernetes.io/pod-name"] == "db-0"
    assert first.labels["apps.kubernetes.io/pod-index"] == "0"
    (second,) = workloads.bound(first.assigned_to("n1"))
    assert second.name == "db-1"
    assert list(workloads.bound(second.assigned_to("n1"))) == []


def test_a_parallel_stateful_set_makes_all_pods_at_once() -> None:
    _, pods = begun(workload("StatefulSet", "db", replicas=3, podManagementPolicy="Parallel", ordinals={"start": 5}))
    assert [each.name for each in pods] == ["db-5", "db-6", "db-7"]


def test_a_stateful_set_fills_the_gap_first_and_keeps_its_running_pods() -> None:
    running = pod("db-1", meta={"ownerReferences": owned_by("StatefulSet", "db")}, nodeName="n1")
    workloads, pods = begun(workload("StatefulSet", "db", replicas=3), running)
    made = [each for each in pods if each.name != "db-1"]
    assert [each.name for each in made] == ["db-0"]
    assert [each.name for each in workloads.bound(made[0].assigned_to("n1"))] == ["db-2"]


def test_a_pod_of_a_stateful_set_that_goes_comes_back_under_its_name_as_another_pod() -> None:
    workloads, (first,) = begun(workload("StatefulSet", "db", replicas=1))
    (again,) = workloads.gone(first.assigned_to("n1"))
    assert again.name == first.name
    assert again.uid != first.uid


def test_claims_of_a_stateful_set_are_made_and_mounted() -> None:
    claim = {"metadata": {"name": "data"}, "spec": {"accessModes": ["ReadWriteOnce"]}}
    existing = {**claim, "apiVersion": "v1", "kind": "PersistentVolumeClaim", "metadata": {"name": "data-db-0"}}
    workloads, pods = begun(workload("StatefulSet", "db", replicas=2, volumeClaimTemplates=[claim]), existing)
    assert [each.key for each in workloads.made] == ["default/data-db-1"]
    assert pods[0].claim_names == ("data-db-0",)


def test_a_job_makes_as_many_pods_as_may_run_at_a_time() -> None:
    workloads, pods = begun(job("sum", parallelism=3, completions=2))
    assert len(pods) == 2
    for each in pods:
        assert re.fullmatch(f"sum-{SAFE}{{5}}", each.name)
        assert each.labels["job-name"] == each.labels["batch.kubernetes.io/job-name"] == "sum"
        assert workloads.owner(each) == "Job/sum"


def test_a_job_counts_what_has_succeeded() -> None:
    owner = {"ownerReferences": owned_by("Job", "sum", "batch/v1")}
    done = pod("sum-1", meta=owner, status={"phase": "Succeeded"})
    workloads, pods = begun(job("sum", parallelism=5, completions=3), done)
    assert len(pods) == 3
    assert sum(workloads.owner(each) == "Job/sum" and not each.is_terminal for each in pods) == 2


def test_a_suspended_job_and_a_cron_job_make_nothing() -> None:
    cron = {"apiVersion": "batch/v1", "kind": "CronJob", "metadata": {"name": "nightly"}}
    cron["spec"] = {"schedule": "0 0 * * *", "jobTemplate": {"spec": job("x")["spec"]}}
    assert begun(job("sum", suspend=True), cron)[1] == []


def test_an_indexed_job_numbers_its_pods() -> None:
    workloads, pods = begun(job("sum", parallelism=2, completions=2, completionMode="Indexed"))
    index = "batch.kubernetes.io/job-completion-index"
    assert [each.labels[index] for each in pods] == [each.annotations[index] for each in pods] == ["0", "1"]
    assert [each.name[:6] for each in pods] == ["sum-0-", "sum-1-"]
    (again,) = workloads.gone(pods[0])
    assert again.labels[index] == "0"


def test_a_pod_of_a_replica_set_that_goes_is_replaced_under_another_name() -> None:
    workloads, (first,) = begun(workload("ReplicaSet", "web", replicas=1))
    (again,) = workloads.gone(first)
    assert again.name != first.name
    assert again.labels == first.labels


def test_a_pod_without_a_controller_is_nobodys() -> None:
    workloads, (alone,) = begun(pod("alone"), node("n1"))
    assert workloads.owner(alone) is None
    assert workloads.scale(alone) is None
    assert list(workloads.gone(alone)) == []


def test_a_controller_that_is_not_given_is_named_all_the_same() -> None:
    meta = {"ownerReferences": owned_by("Rollout", "web", "example.com/v1")}
    workloads, (made,) = begun(pod("a", meta=meta))
    assert workloads.owner(made) == "Rollout/web"


def test_the_same_seed_makes_the_same_pods() -> None:
    manifests = (workload("Deployment", "web", replicas=5), job("sum", parallelism=2))

    def names(seed: int) -> list[str]:
        return [each.name for each in begun(*manifests, seed=seed)[1]]

    assert names(3) == names(3)
    assert names(3) != names(4)

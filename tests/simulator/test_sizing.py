"""Simulations that memory could not hold are refused at the workload that is too much."""

from __future__ import annotations

import pytest

from bayplan.errors import InputError
from bayplan.objects.files.manifests import AT
from bayplan.simulator.sizing import MOST_PODS, check_size
from tests.simulator.support import Manifest, given, job, owned_by, workload

TOO_MANY = MOST_PODS + 1
HALF = MOST_PODS // 2 + 1
FIX = f"too many to simulate; write at most {MOST_PODS} in all"


def owned_replica_set(replicas: int) -> Manifest:
    made = workload("ReplicaSet", "web-1", replicas=replicas)
    made["metadata"]["ownerReferences"] = owned_by("Deployment", "web")
    return made


def later(manifest: Manifest) -> Manifest:
    manifest["metadata"]["annotations"] = {AT: "5m"}
    return manifest


@pytest.mark.parametrize(
    ("manifests", "line"),
    [
        (
            [workload("Deployment", "web", replicas=TOO_MANY)],
            f"test.yaml: Deployment web: spec.replicas: {TOO_MANY} pods are {FIX}",
        ),
        (
            [workload("StatefulSet", "a", replicas=HALF), workload("ReplicaSet", "b", replicas=HALF)],
            f"test.yaml: ReplicaSet b: spec.replicas: {HALF} pods, {2 * HALF} together with those before, are {FIX}",
        ),
        (
            [job("sum", parallelism=2**31 - 1, completions=TOO_MANY)],
            f"test.yaml: Job sum: spec.parallelism: {TOO_MANY} pods are {FIX}",
        ),
        (
            [workload("Deployment", "web", replicas=1), later(workload("Deployment", "web", replicas=TOO_MANY))],
            f"test.yaml: Deployment web: spec.replicas: {TOO_MANY} pods are {FIX}",
        ),
        (
            [owned_replica_set(TOO_MANY)],
            f"test.yaml: ReplicaSet web-1: spec.replicas: {TOO_MANY} pods are {FIX}",
        ),
    ],
    ids=["one", "two together", "a job", "later on", "a replica set whose deployment is not there"],
)
def test_too_many_pods_are_refused(manifests: list[Manifest], line: str) -> None:
    with pytest.raises(InputError) as caught:
        check_size(given(*manifests))
    assert str(caught.value) == line


@pytest.mark.parametrize(
    "manifests",
    [
        [workload("Deployment", "web", replicas=MOST_PODS)],
        [workload("Deployment", "web", replicas=HALF), owned_replica_set(HALF)],
        [workload("Deployment", "web", replicas=HALF), later(workload("Deployment", "web", replicas=HALF + 1))],
        [job("sum", parallelism=2**31 - 1, suspend=True)],
        [job("sum", parallelism=2**31 - 1, completions=1)],
    ],
    ids=["as many as allowed", "counted with its deployment", "the same one later", "suspended", "few completions"],
)
def test_what_makes_fewer_pods_is_fine(manifests: list[Manifest]) -> None:
    check_size(given(*manifests))

"""Workloads, services and namespaces: whom they select."""

from __future__ import annotations

import pytest

from bayplan.objects import workload
from bayplan.objects.selector import NOTHING
from tests.objects.making import make

WEB = {"selector": {"matchLabels": {"app": "web"}}}


@pytest.mark.parametrize(
    "struct", [workload.Deployment, workload.ReplicaSet, workload.DaemonSet, workload.StatefulSet, workload.Job]
)
def test_workloads_select_by_label_selector(struct: type[workload.Deployment]) -> None:
    made = make(struct, spec=WEB)
    assert made.selector.matches({"app": "web"})
    assert not made.selector.matches({"app": "api"})
    assert make(struct).selector is NOTHING


@pytest.mark.parametrize("struct", [workload.Service, workload.ReplicationController])
def test_the_old_ones_select_by_map(struct: type[workload.Service]) -> None:
    made = make(struct, spec={"selector": {"app": "web"}})
    assert made.selector.matches({"app": "web", "x": "y"})
    assert make(struct).selector is NOTHING


def test_a_service_with_an_empty_selector_serves_nobody() -> None:
    assert make(workload.Service, spec={"selector": {}}).selector is NOTHING


def test_templates_are_whole_pods() -> None:
    template = {"metadata": {"labels": {"app": "web"}}, "spec": {"containers": [{"name": "c", "image": "web"}]}}
    cron = make(workload.CronJob, spec={"jobTemplate": {"spec": {"template": template, "completions": 3}}})
    job = cron.spec.job_template.spec
    assert job.completions == 3
    assert job.template.metadata.labels == {"app": "web"}
    assert job.template.spec.containers is not None
    assert job.template.spec.containers[0].image == "web"


def test_a_stateful_set_carries_its_claims() -> None:
    made = make(
        workload.StatefulSet,
        spec={
            "serviceName": "db",
            "ordinals": {"start": 3},
            "volumeClaimTemplates": [
                {"metadata": {"name": "data"}, "spec": {"resources": {"requests": {"storage": "1Gi"}}}}
            ],
        },
    )
    assert made.spec.volume_claim_templates is not None
    assert made.spec.volume_claim_templates[0].request_bytes == 2**30
    assert made.spec.ordinals is not None
    assert made.spec.ordinals.start == 3

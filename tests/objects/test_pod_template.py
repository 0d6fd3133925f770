"""A template: what pods share, what is worked out from it, and what it cannot know."""

from __future__ import annotations

import msgspec
import pytest

from bayplan.objects.pod import Condition, ContainerStatus, Pod, PodStatus, ResourceRequirements
from bayplan.objects.pod_template import PodTemplate
from tests.objects.making import container, make_pod

POD = make_pod({"containers": [container(cpu="1")], "nodeSelector": {"a": "b"}}, labels={"app": "web"}, uid="u")


@pytest.mark.parametrize("own", ["name", "uid", "annotations", "status", "metadata", "key", "claim_names", "accounted"])
def test_a_template_has_nothing_that_is_a_pods_own(own: str) -> None:
    assert hasattr(POD, own)
    assert not hasattr(POD.template, own)


def worked_out() -> list[str]:
    return [name for name, value in vars(PodTemplate).items() if hasattr(value, "attrname") and name != "nonzero"]


def test_a_pod_says_what_its_template_does() -> None:
    assert len(worked_out()) > 12
    for name in worked_out():
        assert getattr(POD, name) is getattr(POD.template, name), name
    assert (POD.template.namespace, POD.template.labels, POD.template.spec) == (POD.namespace, POD.labels, POD.spec)


def test_a_changed_status_leaves_the_template() -> None:
    told = POD.evolve(status=PodStatus(conditions=(Condition(type="PodScheduled", status="False"),)))
    assert told.template is POD.template
    assert POD.nominated_to("n1").template is POD.template
    assert POD.assigned_to("n1").template is POD.template


def test_a_changed_spec_or_other_labels_make_another() -> None:
    meta = msgspec.structs.replace(POD.metadata, labels={"app": "db"})
    renamed = POD.evolve(metadata=meta)
    assert renamed.template is not POD.template
    assert dict(renamed.template.labels) == {"app": "db"}
    larger = POD.evolve(spec=make_pod({"containers": [container(cpu="2")]}).spec)
    assert larger.template.requests.cpu_milli == 2000


def test_what_a_pod_reports_is_its_own() -> None:
    running = ContainerStatus(name=POD.containers[0].name, resources=ResourceRequirements(requests={"cpu": "3"}))
    grown = POD.evolve(status=PodStatus(container_statuses=(running,)))
    assert grown.template is POD.template
    assert (grown.accounted.cpu_milli, POD.accounted.cpu_milli) == (3000, 1000)
    assert (grown.nonzero[0], POD.nonzero[0]) == (3000, 1000)
    assert grown.requests.cpu_milli == 1000
    assert isinstance(grown.assigned_to("n1"), Pod)
    assert grown.assigned_to("n1").accounted.cpu_milli == 3000

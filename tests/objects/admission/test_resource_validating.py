"""Mistakes in what containers and pods ask for."""

from __future__ import annotations

from typing import Any

import pytest

from bayplan.objects.admission.validating import check_object
from bayplan.objects.meta import ApiObject
from tests.objects.making import container, make_pod


def lines(thing: ApiObject) -> list[str]:
    return [str(each) for each in check_object(thing)]


def with_resources(**resources: Any) -> ApiObject:
    return make_pod({"containers": [{"name": "c", "resources": resources}]})


AT = "spec.containers[0].resources"


@pytest.mark.parametrize(
    ("resources", "line"),
    [
        ({"requests": {"cpu": "1 Gi"}}, f'{AT}.requests.cpu: "1 Gi" is not a quantity; write "1Gi" instead'),
        ({"requests": {"cpu": "-5"}}, f"{AT}.requests.cpu: -5 is less than nothing; write 0 or more"),
        ({"limits": {"memory": "abc"}}, f'{AT}.limits.memory: "abc" is not a quantity; write a number with'),
        (
            {"requests": {"cpu": "2"}, "limits": {"cpu": "1"}},
            f"{AT}.requests.cpu: 2 is more than the limit of 1; write at most 1",
        ),
        ({"requests": {"gpu": 1}}, f'{AT}.requests.gpu: "gpu" is not a resource of containers; write cpu, memory'),
        (
            {"limits": {"example.com/gpu": "500m"}},
            f"{AT}.limits.example.com/gpu: 500m is not whole; write a whole number",
        ),
        ({"requests": {"example.com/gpu": 1}}, f"{AT}.limits.example.com/gpu: example.com/gpu needs a limit as well"),
        (
            {"requests": {"example.com/gpu": 1}, "limits": {"example.com/gpu": 2}},
            f"{AT}.requests.example.com/gpu: 1 is not the limit of 2; write 2",
        ),
    ],
)
def test_wrong_amounts(resources: dict[str, Any], line: str) -> None:
    found = lines(with_resources(**resources))
    assert len(found) == 1
    assert found[0].startswith(line)


@pytest.mark.parametrize(
    "resources",
    [
        {"requests": {"cpu": "1"}, "limits": {"cpu": "1000m"}},
        {"limits": {"example.com/gpu": 1}},
        {"requests": {"hugepages-2Mi": "2Mi"}, "limits": {"hugepages-2Mi": "2048Ki"}},
        {"requests": {"ephemeral-storage": "1Gi", "memory": 0}},
    ],
)
def test_right_amounts(resources: dict[str, Any]) -> None:
    assert lines(with_resources(**resources)) == []


@pytest.mark.parametrize(
    ("spec", "line"),
    [
        ({"resources": {"requests": {"pods": "1"}}}, "spec.resources.requests.pods: "),
        (
            {"resources": {"requests": {"cpu": "1"}}, "containers": [container(cpu="2")]},
            "spec.resources.requests.cpu: less than what the containers ask for together; write at least 2",
        ),
        (
            {"resources": {"requests": {"memory": "1"}}, "containers": [container(memory="2Mi")]},
            "spec.resources.requests.memory: less than what the containers ask for together; write at least 2Mi",
        ),
        (
            {"resources": {"limits": {"cpu": "1"}}, "containers": [container(limits={"cpu": "2"})]},
            "spec.resources.limits.cpu: less than what the containers ask for together; write at least 2",
        ),
    ],
)
def test_wrong_amounts_of_whole_pods(spec: dict[str, Any], line: str) -> None:
    found = lines(make_pod(spec))
    assert found
    assert found[0].startswith(line)


def test_pod_level_amounts_that_cover_the_containers_are_fine() -> None:
    spec = {"resources": {"limits": {"cpu": "3"}, "requests": {"memory": "1Gi"}}, "containers": [container(cpu="2")]}
    assert lines(make_pod(spec)) == []

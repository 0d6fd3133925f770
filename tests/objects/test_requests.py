"""What a pod asks for: containers, init containers, sidecars, overhead, pod-level requests, resizing."""

from __future__ import annotations

from typing import Any

import pytest

from bayplan.objects.requests import DEFAULT_MEMORY_BYTES, container_limits, scoring_request
from bayplan.objects.resources import Resources
from tests.objects.making import container, make_pod

MI = 2**20

# Containers A and B of 1 CPU, init I1 of 3, sidecar S of 1, init I2 of 2, 250m of overhead.
REFERENCE: dict[str, Any] = {
    "containers": [container("a", cpu="1"), container("b", cpu="1")],
    "initContainers": [
        container("i1", cpu="3"),
        container("s", cpu="1", restart="Always"),
        container("i2", cpu="2"),
    ],
    "overhead": {"cpu": "250m"},
}


def test_reference_vector() -> None:
    assert make_pod(REFERENCE).requests == Resources(cpu_milli=3250)


def test_pod_level_requests_replace_the_sum_and_overhead_comes_on_top() -> None:
    assert make_pod({**REFERENCE, "resources": {"requests": {"cpu": "2"}}}).requests == Resources(cpu_milli=2250)


@pytest.mark.parametrize(
    ("name", "spec", "expected"),
    [
        ("no containers", {}, {}),
        (
            "a sum",
            {"containers": [container(cpu="1", memory="1Mi"), container(cpu="500m")]},
            {"cpu": 1500, "memory": MI},
        ),
        ("init is a peak", {"containers": [container(cpu="1")], "initContainers": [container(cpu="2")]}, {"cpu": 2000}),
        (
            "init below the sum",
            {"containers": [container(cpu="3")], "initContainers": [container(cpu="2")]},
            {"cpu": 3000},
        ),
        (
            "init brings its own resource",
            {"containers": [container(cpu="1")], "initContainers": [container(memory="5")]},
            {"cpu": 1000, "memory": 5},
        ),
        (
            "a sidecar after an init does not count for it",
            {"containers": [], "initContainers": [container(cpu="2"), container(cpu="1", restart="Always")]},
            {"cpu": 2000},
        ),
        (
            "a sidecar before an init does",
            {"containers": [], "initContainers": [container(cpu="1", restart="Always"), container(cpu="2")]},
            {"cpu": 3000},
        ),
        (
            "rounding happens after the sum of milli",
            {"containers": [container(memory="100m"), container(memory="100m")]},
            {"memory": 1},
        ),
        (
            "each is first rounded to a milli",
            {"containers": [container(cpu="100u"), container(cpu="100u")]},
            {"cpu": 2},
        ),
        (
            "pod level covers cpu, memory and huge pages only",
            {
                "containers": [container(cpu="1", **{"ephemeral-storage": "7"})],
                "resources": {"requests": {"hugepages-2Mi": "2Mi", "ephemeral-storage": "9"}},
            },
            {"cpu": 1000, "ephemeral-storage": 7, "hugepages-2Mi": 2 * MI},
        ),
        (
            "scalars are kept, unknown names are not",
            {"containers": [container(**{"example.com/gpu": 2, "gpu": "9"})]},
            {"example.com/gpu": 2},
        ),
        ("numbers instead of text", {"containers": [container(cpu=0.5, memory=1000)]}, {"cpu": 500, "memory": 1000}),
    ],
    ids=lambda value: value if isinstance(value, str) else "",
)
def test_requests(name: str, spec: dict[str, Any], expected: dict[str, int]) -> None:
    assert make_pod(spec).requests.as_map() == expected


def test_a_bad_quantity_names_the_container() -> None:
    pod = make_pod({"containers": [container(cpu="1"), container(cpu="one")]})
    with pytest.raises(ValueError, match=r"spec\.containers\[1\]\.resources\.requests\.cpu: "):
        _ = pod.requests


@pytest.mark.parametrize(
    ("name", "spec", "expected"),
    [
        ("nothing said", {"containers": [container(), container()]}, (200, 2 * DEFAULT_MEMORY_BYTES)),
        ("an explicit zero stays", {"containers": [container(cpu="0", memory="0")]}, (0, 0)),
        ("per container and key", {"containers": [container(cpu="1"), container(memory="1Mi")]}, (1100, 201 * MI)),
        (
            "init containers too",
            {"containers": [container(cpu="50m", memory="1Mi")], "initContainers": [container()]},
            (100, 200 * MI),
        ),
        (
            "a sidecar adds its default",
            {
                "containers": [container(cpu="1", memory="1")],
                "initContainers": [container(restart="Always", memory="1")],
            },
            (1100, 2),
        ),
        (
            "pod level: the default only where the result lacks the resource",
            {"containers": [container()], "resources": {"requests": {"cpu": "1"}}},
            (1000, 200 * MI),
        ),
        (
            "pod level: no default beside a container that says something",
            {"containers": [container(memory="1Mi"), container()], "resources": {"requests": {"cpu": "1"}}},
            (1000, MI),
        ),
        ("overhead is added", {"containers": [container()], "overhead": {"cpu": "250m"}}, (350, 200 * MI)),
    ],
    ids=lambda value: value if isinstance(value, str) else "",
)
def test_nonzero(name: str, spec: dict[str, Any], expected: tuple[int, int]) -> None:
    assert make_pod(spec).nonzero == expected


def test_scoring_request_fills_in_defaults_and_does_not_read_pod_level() -> None:
    pod = make_pod(
        {
            "containers": [container(), container(cpu="1", **{"example.com/gpu": 1})],
            "resources": {"requests": {"cpu": "9", "memory": "9Gi"}},
            "overhead": {"memory": "1Mi"},
        }
    )
    assert scoring_request(pod.template, "cpu") == 1100
    assert scoring_request(pod.template, "memory") == 401 * MI
    assert scoring_request(pod.template, "example.com/gpu") == 1
    assert scoring_request(pod.template, "ephemeral-storage") == 0


def status(cpu: str | None, allocated: str | None = None) -> dict[str, Any]:
    made: dict[str, Any] = {"name": "c"}
    if cpu is not None:
        made["resources"] = {"requests": {"cpu": cpu}}
    if allocated is not None:
        made["allocatedResources"] = {"cpu": allocated}
    return made


INFEASIBLE = [{"type": "PodResizePending", "status": "True", "reason": "Infeasible"}]
DEFERRED = [{"type": "PodResizePending", "status": "True", "reason": "Deferred"}]


@pytest.mark.parametrize(
    ("name", "reported", "conditions", "cpu"),
    [
        ("no report", None, [], 2000),
        ("a report without resources", status(None, "9"), [], 2000),
        ("shrinking, still large", status("3"), [], 3000),
        ("growing, not yet large", status("1", "1"), [], 2000),
        ("allocated more than running", status("1", "4"), [], 4000),
        ("a resize that cannot be", status("1", "1500m"), INFEASIBLE, 1500),
        ("a resize that has to wait", status("1", "1"), DEFERRED, 2000),
    ],
    ids=lambda value: value if isinstance(value, str) else "",
)
def test_a_pod_that_resizes_counts_with_the_larger_size(
    name: str, reported: dict[str, Any] | None, conditions: list[dict[str, str]], cpu: int
) -> None:
    pod = make_pod(
        {"containers": [container(cpu="2")]},
        status={"containerStatuses": [reported] if reported else None, "conditions": conditions},
    )
    assert pod.accounted.cpu_milli == cpu
    assert pod.nonzero[0] == cpu
    assert pod.requests.cpu_milli == 2000


def test_only_sidecars_among_init_containers_resize() -> None:
    reports = {"initContainerStatuses": [{**status("5"), "name": "i"}, {**status("5"), "name": "s"}]}
    spec = {"initContainers": [container("i", cpu="1"), container("s", cpu="1", restart="Always")]}
    assert make_pod(spec, status=reports).accounted.cpu_milli == 5000
    assert make_pod({"initContainers": spec["initContainers"][:1]}, status=reports).accounted.cpu_milli == 1000


@pytest.mark.parametrize(("conditions", "cpu"), [([], 4250), (DEFERRED, 4250), (INFEASIBLE, 3250)])
def test_pod_level_requests_resize_as_well(conditions: list[dict[str, str]], cpu: int) -> None:
    pod = make_pod(
        {**REFERENCE, "resources": {"requests": {"cpu": "4"}}},
        status={
            "resources": {"requests": {"cpu": "2"}},
            "allocatedResources": {"cpu": "3"},
            "conditions": conditions,
        },
    )
    assert pod.accounted.cpu_milli == cpu


def test_limits_are_summed_the_same_way() -> None:
    spec = {
        "containers": [container(limits={"cpu": "1"})],
        "initContainers": [container(limits={"cpu": "3", "memory": "1Ki"})],
    }
    assert container_limits(make_pod(spec).spec) == {"cpu": 3000, "memory": 1024000}

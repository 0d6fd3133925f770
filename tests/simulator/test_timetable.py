"""Pods that appear later."""

from __future__ import annotations

from typing import Any

import pytest

from bayplan.errors import InputError
from bayplan.objects.admission.own_keys import ARRIVES, INTERVAL
from tests.simulator.support import by_name, node, pod, simulated, workload


def test_a_pod_appears_when_its_time_has_come() -> None:
    later = pod("later", meta={"annotations": {ARRIVES: "10m"}})
    document = simulated(node("n1"), pod("now"), later)
    assert by_name(document)["now"]["boundAt"] == 0
    assert by_name(document)["later"]["boundAt"] == 600
    assert document["elapsed"] == 600


def test_the_pods_of_a_workload_appear_one_after_the_other() -> None:
    made: dict[str, Any] = workload("Deployment", "web", replicas=3)
    made["spec"]["template"]["metadata"]["annotations"] = {INTERVAL: "1m", ARRIVES: "30s"}
    document = simulated(node("n1"), made)
    assert sorted(each["boundAt"] for each in document["pods"]) == [30, 90, 150]


def test_what_comes_after_the_end_does_not_come() -> None:
    document = simulated(node("n1"), pod("later", meta={"annotations": {ARRIVES: "10m"}}), run_for_s=60.0)
    assert document["pods"] == []
    assert document["elapsed"] == 60


@pytest.mark.parametrize("text", ["soon", "-5m"])
def test_a_time_that_is_none_is_refused(text: str) -> None:
    with pytest.raises(InputError, match=r"Pod p: metadata\.annotations"):
        simulated(node("n1"), pod("p", meta={"annotations": {ARRIVES: text}}))

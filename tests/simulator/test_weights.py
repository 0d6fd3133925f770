"""Other weights go before those of a profile, wherever these are written."""

from __future__ import annotations

import dataclasses
from typing import Any

import pytest

from bayplan.errors import InputError
from bayplan.framework.config.loading import load_config
from bayplan.simulator.loading import Given, documents_of, load
from bayplan.simulator.weights import reweighted
from tests.simulator.support import node, workload

HEADER = {"apiVersion": "kubescheduler.config.k8s.io/v1", "kind": "KubeSchedulerConfiguration"}
FIT = [{"name": "NodeResourcesFit", "weight": 3}]


def weights_of(given: Given) -> dict[str, list[int | None]]:
    """Of NodeResourcesFit, by profile."""
    config = reweighted(given, {"NodeResourcesFit": 7}, "--weights").config
    assert config is not None
    return {
        profile.scheduler_name: [
            each.weight for each in profile.plugins.score.enabled if each.name == "NodeResourcesFit"
        ]
        for profile in config.profiles
    }


@pytest.mark.parametrize(
    "plugins", [{}, {"score": {"enabled": FIT}}, {"multiPoint": {"enabled": FIT}}, {"score": {"disabled": FIT}}]
)
def test_a_weight_counts_once(plugins: dict[str, Any]) -> None:
    config, _ = load_config({**HEADER, "profiles": [{"plugins": plugins}]}, "given")
    given = dataclasses.replace(load(documents_of([node("n1")])), config=config)
    assert list(weights_of(given).values()) == [[7]]


def test_workloads_say_which_schedulers_there_are_without_a_configuration() -> None:
    given = load(documents_of([node("n1"), workload("Deployment", "web", pods={"schedulerName": "other"})]))
    assert weights_of(given)["other"] == [7]


def test_a_plugin_that_is_not_there_is_told() -> None:
    with pytest.raises(InputError, match=r'--weights: there is no plugin .* did you mean "NodeResourcesFit"'):
        reweighted(load(documents_of([node("n1")])), {"NodeResourceFit": 1}, "--weights")

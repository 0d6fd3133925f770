"""DynamicResources: pods with claims are kept and told why; for others it only says what kube-scheduler says."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

from bayplan.errors import InvalidArgsError
from bayplan.framework import SKIP, CycleState, Diagnosis, failed, unresolvable, unschedulable
from bayplan.plugins.dynamic_resources import DynamicResources
from bayplan.testing import cluster, make, node, pod, run_score

CACHE = cluster([node("n1"), node("n2")])
NOBODY_FITS = Diagnosis(CACHE.nodes, np.zeros(2, np.int32))


def test_a_pod_without_claims_is_left_alone_and_scored_0() -> None:
    plugin, asked = make(DynamicResources), pod("a").build()
    assert plugin.pre_enqueue(asked) is None
    assert plugin.pre_filter(CycleState(), asked, CACHE.nodes) is SKIP
    assert run_score(plugin, asked, CACHE) == {"n1": 0, "n2": 0}


def test_a_pod_with_claims_is_queued_and_told_which_claims_keep_it() -> None:
    plugin, asked = make(DynamicResources), pod("a").resource_claim("gpu").resource_claim("nic").build()
    assert plugin.pre_enqueue(asked) is None
    said = plugin.pre_filter(CycleState(), asked, CACHE.nodes)
    assert said == unresolvable("Bayplan does not place pods with resource claims yet: gpu, nic")


def test_it_has_nothing_to_free_when_no_node_fits() -> None:
    plugin, asked, state = make(DynamicResources), pod("a").build(), CycleState()
    plugin.pre_filter(state, asked, CACHE.nodes)
    assert plugin.post_filter(state, asked, NOBODY_FITS) == unschedulable("no new claims to deallocate")


def test_it_errs_when_an_earlier_plugin_ended_the_cycle_before_its_pre_filter() -> None:
    said = make(DynamicResources).post_filter(CycleState(), pod("a").build(), NOBODY_FITS)
    assert said == failed("not found")


def test_there_is_nothing_to_do_before_binding() -> None:
    plugin, asked, state = make(DynamicResources), pod("a").build(), CycleState()
    assert plugin.reserve(state, asked, "n1") is None
    assert plugin.pre_bind_pre_flight(state, asked, "n1") is SKIP


def test_the_timeouts_of_kube_scheduler_files_are_accepted() -> None:
    made = make(DynamicResources, filterTimeout="5s", bindingTimeout="1m0s")
    assert (made.args.filter_timeout, made.args.binding_timeout) == (5.0, 60.0)


@pytest.mark.parametrize("args", [{"filterTimeout": "-1s"}, {"bindingTimeout": "100ms"}, {"timeout": "1s"}])
def test_wrong_args_are_refused(args: dict[str, Any]) -> None:
    with pytest.raises(InvalidArgsError):
        make(DynamicResources, **args)

"""DynamicResources at its extension points: what a pod with claims is told, and which nodes fit it."""

from __future__ import annotations

from typing import Any

import msgspec
import numpy as np
import pytest

from bayplan.clock import VirtualClock
from bayplan.errors import InvalidArgsError
from bayplan.framework import SKIP, CycleState, Diagnosis, PostFilterResult, failed, unresolvable, unschedulable
from bayplan.framework.status import as_status
from bayplan.objects.devices.resource_claim import ResourceClaim
from bayplan.objects.pod import Pod
from bayplan.plugins.dynamic_resources import DynamicResources
from bayplan.plugins.dynamic_resources.plugin import RESERVED
from bayplan.testing import assert_forms_agree, cluster, make, node, pod, run_filter, run_score
from tests.plugins.dynamic_resources.device_building import (
    asks,
    claim,
    device,
    device_class,
    request,
    slice_of,
)

CACHE = cluster([node("n1"), node("n2")])
NOBODY_FITS = Diagnosis(CACHE.nodes, np.zeros(2, np.int32))
NOTHING = "cannot allocate all claims"
HERE = 'device.attributes["gpu.example.com"].numa == 1'
CEL_CLASS = device_class("gpu", 'device.driver == "gpu.example.com"')
GPUS = [device("d0", {"numa": 0}), device("d1", {"numa": 1})]
ASKED = pod("a").resource_claim("c")


def with_devices(*objects: Any) -> Any:
    return cluster([node("n1"), node("n2")], [], [CEL_CLASS, *objects])


def told(cache: Any, asked: Any = ASKED) -> dict[str, Any]:
    plugin = make(DynamicResources, cache)
    return {name: list(as_status(status).reasons) for name, status in run_filter(plugin, asked, cache).items()}


def allocated(one: Any, on: str | None = "n1", **status: Any) -> Any:
    terms = [{"matchFields": [{"key": "metadata.name", "operator": "In", "values": [on]}]}]
    results = [{"request": "r0", "driver": "gpu.example.com", "pool": "n1", "device": "d0"}]
    allocation = {"devices": {"results": results}, **({"nodeSelector": {"nodeSelectorTerms": terms}} if on else {})}
    plain = msgspec.to_builtins(one) | {"status": {"allocation": allocation, **status}}
    return msgspec.convert(plain, ResourceClaim)


class TestPodsWithoutClaims:
    def test_they_are_left_alone_and_scored_0(self) -> None:
        plugin, asked = make(DynamicResources), pod("a").build()
        assert plugin.pre_enqueue(asked) is None
        assert plugin.pre_filter(CycleState(), asked, CACHE.nodes) is SKIP
        assert plugin.promise(asked.template) is not None
        assert run_score(plugin, asked, CACHE) == {"n1": 0, "n2": 0}

    def test_there_is_nothing_to_free_when_no_node_fits(self) -> None:
        plugin, asked, state = make(DynamicResources), pod("a").build(), CycleState()
        plugin.pre_filter(state, asked, CACHE.nodes)
        assert plugin.post_filter(state, asked, NOBODY_FITS) == unschedulable("no new claims to deallocate")

    def test_it_errs_when_an_earlier_plugin_ended_the_cycle_before_its_pre_filter(self) -> None:
        said = make(DynamicResources).post_filter(CycleState(), pod("a").build(), NOBODY_FITS)
        assert said == failed("not found")

    def test_there_is_nothing_to_do_before_binding(self) -> None:
        plugin, asked, state = make(DynamicResources), pod("a").build(), CycleState()
        assert plugin.reserve(state, asked, "n1") is None
        assert plugin.pre_bind_pre_flight(state, asked, "n1") is SKIP


class TestClaimsOfPods:
    def said(self, asked: Any, *objects: Any) -> Any:
        cache = with_devices(*objects)
        plugin = make(DynamicResources, cache)
        built = asked.build() if hasattr(asked, "build") else asked
        first = plugin.pre_enqueue(built)
        assert plugin.pre_filter(CycleState(), built, cache.nodes) == first
        return first

    def test_one_that_does_not_exist(self) -> None:
        assert self.said(ASKED) == unresolvable('could not find ResourceClaim "default/c"')

    def test_one_that_is_being_deleted(self) -> None:
        going = claim("c", request())
        going = going.evolve(
            metadata=msgspec.structs.replace(going.metadata, deletion_timestamp="2026-01-01T00:00:00Z")
        )
        assert self.said(ASKED, going) == unresolvable('resourceclaim "c" is being deleted')

    def test_one_that_is_still_to_be_made(self) -> None:
        asked = _from_template(None)
        assert self.said(asked) == unresolvable('pod "default/a": ResourceClaim not created yet')

    def test_one_that_was_made_for_another_pod(self) -> None:
        text = "ResourceClaim default/made was not created for Pod default/a (Pod is not owner)"
        assert self.said(_from_template("made"), claim("made", request())) == unresolvable(text)

    def test_a_class_that_is_gone(self) -> None:
        cache = with_devices(claim("c", request(device_class="gone")))
        assert told(cache)["n1"] == ["request r0: device class gone does not exist"]

    def test_an_alternative_with_a_class_that_is_gone(self) -> None:
        wanted = {"name": "r0", "firstAvailable": [{"name": "x", **asks(device_class="gone")}]}
        cache = with_devices(claim("c", wanted))
        assert told(cache)["n1"] == ["request r0/x: device class gone does not exist"]


def _from_template(made: str | None) -> Any:
    status = {"resourceClaimStatuses": [{"name": "gpu", "resourceClaimName": made}]} if made else {}
    manifest = pod("a").manifest()
    manifest["spec"]["resourceClaims"] = [{"name": "gpu", "resourceClaimTemplateName": "t"}]
    return msgspec.convert({**manifest, "status": status}, Pod, strict=False)


class TestFilter:
    def test_nodes_without_the_devices_are_turned_down(self) -> None:
        cache = with_devices(slice_of("n1", GPUS), claim("c", request("r0", HERE)))
        assert told(cache) == {"n1": [], "n2": [NOTHING]}

    def test_a_no_is_one_that_preemption_does_not_change(self) -> None:
        cache = with_devices(claim("c", request()))
        assert run_filter(make(DynamicResources, cache), ASKED, cache)["n1"] == unresolvable(NOTHING)

    def test_an_expression_that_fails_is_an_error(self) -> None:
        wrong = 'device.attributes["gpu.example.com"].gone == 1'
        cache = with_devices(slice_of("n1", GPUS), claim("c", request("r0", wrong)))
        said = run_filter(make(DynamicResources, cache), ASKED, cache)
        assert said["n1"] == failed("claim default/c: selector #0: CEL runtime error: no such key: gone")
        assert said["n2"] == unresolvable(NOTHING)

    def test_a_claim_that_has_devices_goes_where_they_are(self) -> None:
        cache = with_devices(slice_of("n1", GPUS), allocated(claim("c", request())))
        assert told(cache) == {"n1": [], "n2": ["resourceclaim not available on the node"]}

    def test_a_claim_whose_devices_are_for_all_nodes_goes_anywhere(self) -> None:
        cache = with_devices(allocated(claim("c", request()), on=None))
        assert told(cache) == {"n1": [], "n2": []}

    def test_two_profiles_know_of_each_others_decisions(self) -> None:
        cache = with_devices(slice_of("n1", GPUS[:1]), claim("c", request()), claim("d", request()))
        first = make(DynamicResources, cache)
        second = DynamicResources(None, first.handle)
        state = CycleState()
        assert first.pre_filter(state, ASKED.build(), cache.nodes) is None
        assert first.reserve(state, ASKED.build(), "n1") is None
        assert run_filter(second, pod("b").resource_claim("d"), cache)["n1"] == unresolvable(NOTHING)
        pending = "resource claim default/c is in the process of being allocated"
        assert run_filter(second, ASKED, cache)["n1"] == unresolvable(pending)
        first.unreserve(state, ASKED.build(), "n1")
        assert run_filter(second, pod("b").resource_claim("d"), cache)["n1"] is None

    def test_a_search_that_takes_too_long_is_an_error(self) -> None:
        hundred = [device(f"d{number}", {"numa": number}) for number in range(100)]
        constraints = [
            {"requests": ["a"], "distinctAttribute": "gpu.example.com/numa"},
            {"requests": ["b"], "matchAttribute": "gpu.example.com/gone"},
        ]
        wanted = claim("c", request("a", count=6), request("b"), constraints=constraints)
        cache = with_devices(slice_of("n1", hundred), wanted)
        said = run_filter(make(DynamicResources, cache, filterTimeout="1ms"), ASKED, cache)
        assert said["n1"] == failed("node n1: timed out trying to allocate devices")


class TestExtendedResources:
    by_class = device_class("gpu", 'device.driver == "gpu.example.com"', extendedResourceName="example.com/gpu")

    def cache(self, *objects: Any) -> Any:
        return cluster([node("n1"), node("n2").scalar("example.com/gpu", 8)], [], [self.by_class, *objects])

    def test_devices_stand_in_where_the_node_has_none_itself(self) -> None:
        asked = pod("a").scalar("example.com/gpu", 2)
        assert told(self.cache(), asked) == {"n1": [NOTHING], "n2": []}
        assert told(self.cache(slice_of("n1", GPUS)), asked) == {"n1": [], "n2": []}

    def test_a_claim_of_an_earlier_attempt_is_removed_first(self) -> None:
        asked = pod("a").scalar("example.com/gpu", 1)
        left = claim("a-extended-resources-x", request())
        owner = {"apiVersion": "v1", "kind": "Pod", "name": "a", "uid": asked.build().uid, "controller": True}
        plain = msgspec.to_builtins(left)
        plain["metadata"] |= {
            "annotations": {"resource.kubernetes.io/extended-resource-claim": "true"}, "ownerReferences": [owner],
        }  # fmt: skip
        cache = self.cache(msgspec.convert(plain, ResourceClaim))
        assert told(cache, asked)["n1"] == ["cannot schedule extended resource claim"]


class TestScore:
    def test_the_earlier_the_alternative_the_better(self) -> None:
        wanted = {"name": "r0", "firstAvailable": [{"name": "near", **asks(HERE)}, {"name": "any", **asks()}]}
        cache = with_devices(slice_of("n1", GPUS[:1]), slice_of("n2", GPUS[1:]), claim("c", wanted))
        plugin, state = make(DynamicResources, cache), CycleState()
        assert plugin.pre_filter(state, ASKED.build(), cache.nodes) is None
        assert plugin.score(state, ASKED.build(), cache.nodes).tolist() == [7, 8]

    def test_with_device_score_the_alternative_counts_a_hundred_times_the_points(self) -> None:
        """A second alternative with the best device stays behind a first with a worse one."""
        wanted = {"name": "r0", "firstAvailable": [{"name": "near", **asks(HERE)}, {"name": "any", **asks()}]}
        large, small = ({"memory": {"value": size}} for size in ("80", "20"))
        cache = with_devices(
            slice_of("n1", [device("d", {"numa": 0}, capacity=small)]),
            slice_of("n2", [device("d", {"numa": 1}, capacity=large)]),
            claim("c", wanted),
        )
        score = {"rules": [{"type": "Tightest"}]}
        plugin, state = make(DynamicResources, cache, deviceScore=score), CycleState()
        assert plugin.pre_filter(state, ASKED.build(), cache.nodes) is None
        raw = plugin.score(state, ASKED.build(), cache.nodes)
        assert raw.tolist() == [100 * 7 + 80, 100 * 8 + 50]
        assert [plugin.score_node(state, ASKED.build(), cache.nodes.node(row)) for row in (0, 1)] == raw.tolist()
        assert plugin.normalize(state, ASKED.build(), raw, np.arange(2)).tolist() == [91, 100]

    def test_with_device_score_and_no_alternatives_the_points_are_all(self) -> None:
        large, small = (device("d", capacity={"memory": {"value": size}}) for size in ("80", "20"))
        cache = with_devices(slice_of("n1", [small]), slice_of("n2", [large]), claim("c", request()))
        plugin, state = make(DynamicResources, cache, deviceScore={"rules": [{"type": "Tightest"}]}), CycleState()
        assert plugin.pre_filter(state, ASKED.build(), cache.nodes) is None
        assert plugin.score(state, ASKED.build(), cache.nodes).tolist() == [80, 50]


class TestPostFilter:
    def said(self, cache: Any, asked: Any = ASKED) -> Any:
        plugin, state, built = make(DynamicResources, cache), CycleState(), asked.build()
        assert plugin.pre_filter(state, built, cache.nodes) is None
        verdicts = plugin.filter(state, built, cache.nodes)
        statuses = [as_status(each) for each in verdicts.statuses]
        diagnosis = Diagnosis(cache.nodes, verdicts.codes.astype(np.int32) - 1, statuses)
        return plugin.post_filter(state, built, diagnosis)

    def test_devices_that_nobody_uses_are_given_back(self) -> None:
        said = self.said(with_devices(allocated(claim("c", request()))))
        assert isinstance(said, PostFilterResult)
        assert said.status == unschedulable("deallocation of ResourceClaim completed")
        assert said.follow_up is not None

    def test_devices_that_somebody_uses_stay(self) -> None:
        used = allocated(claim("c", request()), reservedFor=[{"resource": "pods", "name": "b", "uid": "x"}])
        said = self.said(with_devices(used))
        assert (said.status, said.follow_up) == (unschedulable("still not schedulable"), None)


def test_a_claim_that_was_not_prepared_in_time_is_given_other_devices() -> None:
    plain = msgspec.json.decode(msgspec.json.encode(allocated(claim("c", request()))))
    plain["status"]["allocation"] |= {"allocationTimestamp": "2026-01-01T00:00:00Z"}
    plain["status"]["allocation"]["devices"]["results"][0] |= {"bindingConditions": ["ready"]}
    cache = with_devices(msgspec.convert(plain, ResourceClaim))
    for seconds, expected in ((599, []), (601, ["resourceclaim not available on the node"])):
        clock = VirtualClock(1767225600.0 + seconds)
        plugin = make(DynamicResources, cache, clock=clock)
        assert list(as_status(run_filter(plugin, ASKED, cache)["n1"]).reasons) == expected


def test_both_forms_agree() -> None:
    wanted = {"name": "r0", "firstAvailable": [{"name": "near", **asks(HERE)}, {"name": "any", **asks()}]}
    cache = with_devices(slice_of("n1", GPUS), claim("c", wanted), allocated(claim("e", request())))
    asked = (ASKED, pod("b").resource_claim("c").resource_claim("e"), pod("x"))
    assert_forms_agree(make(DynamicResources, cache), asked, cache)


def test_reserving_twice_and_giving_back_leaves_nothing() -> None:
    cache = with_devices(slice_of("n1", GPUS), claim("c", request(count=2)))
    plugin, state = make(DynamicResources, cache), CycleState()
    for _ in range(2):
        assert plugin.pre_filter(state, ASKED.build(), cache.nodes) is None
        assert plugin.reserve(state, ASKED.build(), "n1") is None
        assert [each.allocation is not None for each in state[RESERVED].taken] == [True]
        plugin.unreserve(state, ASKED.build(), "n1")
    assert told(cache)["n1"] == []


def test_the_timeouts_of_kube_scheduler_files_are_accepted() -> None:
    made = make(DynamicResources, filterTimeout="5s", bindingTimeout="1m0s")
    assert (made.args.filter_timeout, made.args.binding_timeout) == (5.0, 60.0)


@pytest.mark.parametrize("args", [{"filterTimeout": "-1s"}, {"bindingTimeout": "100ms"}, {"timeout": "1s"}])
def test_wrong_args_are_refused(args: dict[str, Any]) -> None:
    with pytest.raises(InvalidArgsError):
        make(DynamicResources, **args)

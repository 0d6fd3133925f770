"""Devices in explanations: what a node would give, what keeps it back, and the text for people."""

from __future__ import annotations

from typing import Any

import pytest

from bayplan.simulator.explain.explanation import explain_pod
from bayplan.simulator.explain.text import as_text
from tests.simulator.support import Manifest, node, pod, world

API = "resource.k8s.io/v1"
DRIVER = "gpu.example.com"
CLAIMED = [{"name": "gpu", "resourceClaimName": "mine"}]
PROFILE = f'device.attributes["{DRIVER}"].profile'


def made(kind: str, name: str, spec: Manifest, **parts: Any) -> Manifest:
    return {"apiVersion": API, "kind": kind, "metadata": {"name": name}, "spec": spec, **parts}


CLASS = made("DeviceClass", "gpu", {"selectors": [{"cel": {"expression": f'device.driver == "{DRIVER}"'}}]})


def published(*devices: Manifest, count: int = 1, counters: Any = None) -> list[Manifest]:
    pool = {"name": "n1", "generation": 1, "resourceSliceCount": count + bool(counters)}
    spec = {"driver": DRIVER, "pool": pool, "nodeName": "n1"}
    found = [made("ResourceSlice", "devices", spec | {"devices": list(devices)})]
    return found + ([made("ResourceSlice", "counters", spec | {"sharedCounters": counters})] if counters else [])


def claim(*requests: Manifest, name: str = "mine", status: Manifest | None = None, **devices: Any) -> Manifest:
    asked = requests or ({},)
    written = [
        {"name": f"r{number}", "exactly": {"deviceClassName": "gpu", **each}} for number, each in enumerate(asked)
    ]
    parts = {"status": status} if status else {}
    return made("ResourceClaim", name, {"devices": {"requests": written, **devices}}, **parts)


def explained(*objects: Manifest) -> Manifest:
    here = world(node("n1"), CLASS, pod("web", resourceClaims=CLAIMED), *objects)
    return explain_pod(here, "default", "web")


def why(document: Manifest) -> list[tuple[str, str]]:
    (found,) = document["nodes"]
    return [(each["device"], each["why"]) for lacking in found["missing"] for each in lacking["devices"]]


def held(device: str, *pods: str) -> Manifest:
    result = {"request": "r0", "driver": DRIVER, "pool": "n1", "device": device}
    reserved = [{"resource": "pods", "name": name, "uid": name} for name in pods]
    return claim(name="other", status={"allocation": {"devices": {"results": [result]}}, "reservedFor": reserved})


def test_a_node_that_fits_says_what_it_would_give() -> None:
    document = explained(claim({"count": 2}), *published({"name": "a"}, {"name": "b"}))
    (found,) = document["nodes"]
    shared = {"claim": "default/mine", "request": "r0", "driver": DRIVER, "pool": "n1"}
    assert found["devices"] == [shared | {"device": "a"}, shared | {"device": "b"}]
    assert "gpu.example.com/n1/b" in as_text(document)


@pytest.mark.parametrize(
    ("request_", "devices", "expected"),
    [
        (
            {"selectors": [{"cel": {"expression": f'{PROFILE} == "whole"'}}]},
            [{"name": "a", "attributes": {"profile": {"string": "half"}}}],
            f"selector of the request is false: {PROFILE} == \"whole\" (profile is 'half')",
        ),
        (
            {},
            [{"name": "a", "taints": [{"key": "broken", "value": "yes", "effect": "NoSchedule"}]}],
            "taint broken=yes:NoSchedule is not tolerated",
        ),
        (
            {"capacity": {"requests": {"memory": "20Gi"}}},
            [{"name": "a", "allowMultipleAllocations": True, "capacity": {"memory": {"value": "10Gi"}}}],
            '20Gi of "memory" is asked for, and it has 10Gi',
        ),
    ],
)
def test_the_first_thing_that_keeps_a_device(request_: Manifest, devices: list[Manifest], expected: str) -> None:
    assert why(explained(claim(request_), *published(*devices))) == [("a", expected)]


def test_a_device_in_use_is_told_with_the_claim_that_has_it() -> None:
    running = pod(
        "busy", nodeName="n1", meta={"uid": "busy"}, resourceClaims=[{"name": "g", "resourceClaimName": "other"}]
    )
    document = explained(claim(), *published({"name": "a"}), held("a", "busy"), running)
    assert why(document) == [("a", "in use by default/other")]
    assert "\n  the claims would fit if gpu.example.com/n1/a were given back\n" in as_text(document)
    assert why(explained(claim(), *published({"name": "a"}), held("a"))) == [("a", "in use by default/other")]


def test_a_share_that_is_too_large_says_what_is_left() -> None:
    shared = {"name": "a", "allowMultipleAllocations": True, "capacity": {"memory": {"value": "10Gi"}}}
    result = {"request": "r0", "driver": DRIVER, "pool": "n1", "device": "a", "consumedCapacity": {"memory": "8Gi"}}
    result["shareID"] = "00000000-0000-4000-8000-000000000000"
    other = claim(name="other", status={"allocation": {"devices": {"results": [result]}}})
    asked = claim({"capacity": {"requests": {"memory": "4Gi"}}})
    document = explained(asked, *published(shared), other)
    assert why(document) == [("a", "4Gi of memory is asked for, and 2Gi is left")]
    assert "\n  the claims would fit if 2Gi more of memory of gpu.example.com/n1/a were left\n" in as_text(document)


def test_a_counter_is_short_by_so_much() -> None:
    takes = [{"counterSet": "c", "counters": {"memory": {"value": "6Gi"}}}]
    devices = [{"name": name, "consumesCounters": takes} for name in ("a", "b")]
    counters = [{"name": "c", "counters": {"memory": {"value": "10Gi"}}}]
    document = explained(claim(), *published(*devices, counters=counters), held("a"))
    assert why(document) == [
        ("a", "in use by default/other"),
        ("b", "counter memory of c is short by 2Gi"),
    ]
    (found,) = document["nodes"]
    where = {"driver": DRIVER, "pool": "n1"}
    assert found["wouldFitIf"] == [
        {"change": "giveBack", "text": f"{DRIVER}/n1/a were given back", "devices": [where | {"device": "a"}]},
        {
            "change": "freeCounters",
            "text": f"2Gi more of counter memory of c in {DRIVER}/n1 were left",
            "counters": [{"counterSet": "c", "counter": "memory", "amount": "2Gi"}],
            **where,
        },
    ]
    assert found["changesTried"] == 2
    assert f"  the claims would fit if 2Gi more of counter memory of c in {DRIVER}/n1 were left" in as_text(document)


def test_a_constraint_names_the_device_that_it_does_not_go_with() -> None:
    def device(name: str, root: str) -> Manifest:
        return {"name": name, "attributes": {"kind": {"string": name}, "root": {"string": root}}}

    kind = 'device.attributes["gpu.example.com"].kind == "{}"'
    kinds = [{"selectors": [{"cel": {"expression": kind.format(name)}}]} for name in "ab"]
    constraints = [{"matchAttribute": f"{DRIVER}/root"}]
    document = explained(claim(*kinds, constraints=constraints), *published(device("a", "x"), device("b", "y")))
    assert ("b", f"constraint: its {DRIVER}/root is y, another than that of a of request r0") in why(document)
    text = f"the claims would fit if claim default/mine were without its constraint matchAttribute {DRIVER}/root"
    assert f"\n  {text}\n" in as_text(document)


def test_a_pool_that_is_not_complete_is_told() -> None:
    ((name, text),) = why(explained(claim(), *published({"name": "a"}, count=2)))
    assert name == ""
    assert text.startswith("the pool is being updated")


def test_how_many_are_missing_is_told_where_it_is_more_than_one() -> None:
    document = explained(claim({"count": 3}), *published({"name": "a"}))
    assert document["nodes"][0]["missing"][0]["short"] == 2
    like = "the claims would fit if there were 2 more devices like gpu.example.com/n1/a"
    assert f"\n  2 more devices are missing: {like}\n" in as_text(document)


def test_one_more_device_is_missing() -> None:
    text = as_text(explained(claim({"count": 2}), *published({"name": "a"})))
    like = "the claims would fit if there were 1 more device like gpu.example.com/n1/a"
    assert f"\n  1 more device is missing: {like}\n" in text


def test_a_taint_that_could_be_tolerated() -> None:
    tainted = {"name": "a", "taints": [{"key": "broken", "value": "yes", "effect": "NoSchedule"}]}
    text = "the claims would fit if request r0 of claim default/mine tolerated taint broken=yes:NoSchedule"
    assert f"\n  {text}\n" in as_text(explained(claim(), *published(tainted)))


def test_what_would_not_help_is_not_told() -> None:
    """Given back it would still be tainted, and tolerated it would still be in use."""
    tainted = {"name": "a", "taints": [{"key": "broken", "effect": "NoSchedule"}]}
    document = explained(claim(), *published(tainted), held("a"))
    (found,) = document["nodes"]
    assert (found["wouldFitIf"], found["changesTried"]) == ([], 3)
    assert "would fit" not in as_text(document)
    assert "\n  no change would do: 3 were tried\n" in as_text(document)


def test_changes_are_imagined_for_the_nearest_nodes_only() -> None:
    names = [f"n{number}" for number in range(5)]
    slices = [
        made("ResourceSlice", name, {"driver": DRIVER, "nodeName": name, "devices": [{"name": "a"}],
             "pool": {"name": name, "generation": 1, "resourceSliceCount": 1}})
        for name in names
    ]  # fmt: skip
    here = world(*map(node, names), CLASS, pod("web", resourceClaims=CLAIMED), claim({"count": 2}), *slices)
    document = explain_pod(here, "default", "web")
    assert [bool(each.get("wouldFitIf")) for each in document["nodes"]] == [True] * 3 + [False] * 2


@pytest.mark.parametrize(
    ("steps", "end"),
    [
        (100, "none is better (2 steps)"),
        (1, "the search ended after 1 step: others may be better"),
    ],
)
def test_what_device_score_says_of_the_devices(steps: int, end: str) -> None:
    rules = [{"type": "Tightest", "weight": 4}, {"type": "Pack"}]
    score = {"deviceScore": {"rules": rules, "searchSteps": steps}}
    config = {
        "apiVersion": "kubescheduler.config.k8s.io/v1",
        "kind": "KubeSchedulerConfiguration",
        "profiles": [{"pluginConfig": [{"name": "DynamicResources", "args": score}]}],
    }
    document = explained(config, claim(), *published({"name": "a"}))
    said = f"DeviceScore of these devices: 60 of 100 (Tightest 50, Pack 100); {end}"
    assert said in as_text(document).splitlines()


def test_a_pod_without_claims_has_nothing_about_devices() -> None:
    here = world(node("n1"), pod("plain"))
    (found,) = explain_pod(here, "default", "plain")["nodes"]
    assert "devices" not in found
    assert "missing" not in found

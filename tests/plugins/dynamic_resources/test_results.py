"""What a claim's status says of an allocation."""

from __future__ import annotations

from typing import Any

import msgspec

from tests.plugins.dynamic_resources.device_building import (
    DRIVER,
    Bench,
    asks,
    claim,
    device,
    device_class,
    request,
    slice_of,
)


def result(bench: Bench, one: Any, **where: Any) -> dict[str, Any]:
    outcome = bench.outcome(one, **where)
    (allocation,) = bench.results(outcome, (one,), **where)
    plain: dict[str, Any] = msgspec.json.decode(msgspec.json.encode(allocation))
    return plain


def test_devices_of_a_node_tie_the_claim_to_it() -> None:
    bench = Bench(slice_of("n1", [device("d0")]))
    tolerations = [{"key": "x", "operator": "Exists"}]
    assert result(bench, claim("c", request(tolerations=tolerations))) == {
        "devices": {
            "results": [
                {"request": "r0", "driver": DRIVER, "pool": "n1", "device": "d0", "tolerations": tolerations},
            ]
        },
        "nodeSelector": {
            "nodeSelectorTerms": [{"matchFields": [{"key": "metadata.name", "operator": "In", "values": ["n1"]}]}]
        },
    }


def test_devices_for_all_nodes_tie_it_to_none() -> None:
    bench = Bench(slice_of(None, [device("d0")], allNodes=True))
    assert "nodeSelector" not in result(bench, claim("c", request()))


def test_a_device_that_binds_to_its_node_ties_it_there() -> None:
    bench = Bench(slice_of(None, [device("d0", bindsToNode=True, bindingConditions=["a"])], allNodes=True))
    given = result(bench, claim("c", request()))
    assert given["nodeSelector"]["nodeSelectorTerms"][0]["matchFields"][0]["values"] == ["n1"]
    assert given["devices"]["results"][0]["bindingConditions"] == ["a"]


def test_selectors_of_several_slices_are_joined_without_repeating() -> None:
    def choice(*pairs: tuple[str, str]) -> dict[str, Any]:
        found = [{"key": key, "operator": "In", "values": [value]} for key, value in pairs]
        return {"nodeSelectorTerms": [{"matchExpressions": found}]}

    bench = Bench(
        slice_of(None, [device("d0")], pool="a", nodeSelector=choice(("rack", "1"))),
        slice_of(None, [device("d1")], pool="b", nodeSelector=choice(("rack", "1"), ("zone", "z"))),
    )
    given = result(bench, claim("c", request(count=2)), labels={"rack": "1", "zone": "z"})
    assert given["nodeSelector"] == choice(("rack", "1"), ("zone", "z"))


def test_settings_of_classes_come_once_with_all_their_requests_and_before_the_claims_own() -> None:
    def settings(name: str) -> dict[str, Any]:
        return {"opaque": {"driver": DRIVER, "parameters": {"name": name}}}

    bench = Bench(
        slice_of("n1", [device(f"d{number}") for number in range(3)]),
        device_class("one", config=[settings("class")]),
    )
    second = {"name": "b", "firstAvailable": [{"name": "x", **asks(device_class="one")}]}
    config = [
        settings("all"),
        {"requests": ["b"], **settings("b")},
        {"requests": ["b/x"], **settings("b/x")},
        {"requests": ["other"], **settings("other")},
    ]
    given = result(bench, claim("c", request("a", device_class="one"), second, config=config))
    assert given["devices"]["config"] == [
        {"source": "FromClass", "requests": ["a", "b/x"], **settings("class")},
        {"source": "FromClaim", **settings("all")},
        {"source": "FromClaim", "requests": ["b"], **settings("b")},
        {"source": "FromClaim", "requests": ["b/x"], **settings("b/x")},
    ]

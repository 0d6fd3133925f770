from __future__ import annotations

from typing import Any, cast

from bayplan.objects import kinds
from bayplan.objects.devices.resource_slice import ResourceSlice


def resource_slice(**spec: Any) -> ResourceSlice:
    raw = {"apiVersion": "resource.k8s.io/v1", "kind": "ResourceSlice", "metadata": {"name": "s"}, "spec": spec}
    return cast(ResourceSlice, kinds.decode(raw))


def test_devices_carry_attributes_of_four_types_and_capacity() -> None:
    attributes = {"i": {"int": 3}, "b": {"bool": False}, "s": {"string": "x"}, "v": {"version": "1.2.3"}}
    device = {"name": "gpu-0", "attributes": attributes, "capacity": {"memory": {"value": "80Gi"}}}
    (read,) = resource_slice(driver="d", pool={"name": "p"}, nodeName="n", devices=[device]).devices
    values = read.attributes or {}
    assert (values["i"].int_value, values["b"].bool_value) == (3, False)
    assert (values["s"].string_value, values["v"].version_value) == ("x", "1.2.3")
    assert (read.capacity or {})["memory"].value == "80Gi"


def test_the_pool_is_of_a_driver() -> None:
    assert resource_slice(driver="d", pool={"name": "p", "generation": 2}).pool_key == ("d", "p")


def test_a_selector_says_which_nodes_and_none_says_nothing() -> None:
    term = {"matchExpressions": [{"key": "zone", "operator": "In", "values": ["a"]}]}
    chosen = resource_slice(nodeSelector={"nodeSelectorTerms": [term]}).node_requirement
    assert chosen is not None
    assert chosen.matches("n", {"zone": "a"})
    assert not chosen.matches("n", {"zone": "b"})
    assert resource_slice(allNodes=True).node_requirement is None

"""What devices have in common is held once; the slices say what they said before."""

from __future__ import annotations

from typing import Any

import msgspec

from bayplan.objects import kinds
from bayplan.objects.devices.resource_slice import ResourceSlice
from bayplan.objects.devices.shared_parts import SharedParts


def written(number: int) -> dict[str, Any]:
    said = {"model": {"string": "large"}, "uuid": {"string": f"gpu-{number}"}}
    one = {"name": "gpu-0", "attributes": said, "capacity": {"memory": {"value": "80Gi"}}}
    return {"metadata": {"name": f"node-{number}"}, "spec": {"driver": "gpu.example.com", "devices": [one]}}


def read(number: int) -> ResourceSlice:
    return msgspec.convert(written(number), ResourceSlice)


def test_equal_parts_are_the_same_object_and_slices_stay_equal() -> None:
    parts = SharedParts()
    first, second = parts.within(read(1)), parts.within(read(2))
    assert (first, second) == (read(1), read(2))
    (one,), (other,) = first.devices, second.devices
    assert one.capacity is other.capacity
    assert one.name is other.name
    assert one.attributes is not None
    assert other.attributes is not None
    assert one.attributes["model"] is other.attributes["model"]
    assert one.attributes["uuid"] != other.attributes["uuid"]


def test_a_slice_without_devices_is_left_alone() -> None:
    counters = msgspec.convert({"spec": {"sharedCounters": [{"name": "memory"}]}}, ResourceSlice)
    assert SharedParts().within(counters) is counters


def test_what_an_api_server_says_is_shared() -> None:
    decode = kinds.decoder(kinds.named("ResourceSlice"))
    first, second = (decode(msgspec.json.encode(written(number))) for number in (1, 2))
    assert first == read(1)
    assert first.devices[0].capacity is second.devices[0].capacity

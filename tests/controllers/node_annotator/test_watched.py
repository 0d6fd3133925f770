"""Nodes and events as far as the annotator reads them."""

from __future__ import annotations

from typing import Any

import msgspec
import pytest

from bayplan.controllers.node_annotator.watched import AddressedNode, ScheduledEvent


def test_only_internal_addresses_count() -> None:
    addresses = [
        {"type": "Hostname", "address": "n1"},
        {"type": "InternalIP", "address": "10.0.0.1"},
        {"type": "ExternalIP", "address": "1.2.3.4"},
        {"type": "InternalIP", "address": "fd00::1"},
    ]
    node = msgspec.convert({"metadata": {"name": "n1"}, "status": {"addresses": addresses}}, AddressedNode)
    assert node.internal_ips == ["10.0.0.1", "fd00::1"]
    assert AddressedNode().internal_ips == []


@pytest.mark.parametrize(
    ("event", "at"),
    [
        ({"eventTime": "1970-01-01T00:00:10.500000Z"}, 10.5),
        ({"eventTime": "1970-01-01T00:00:10.5Z", "count": 2, "lastTimestamp": "1970-01-01T00:00:30Z"}, 30.0),
        ({"eventTime": None, "count": 1, "lastTimestamp": "1970-01-01T00:00:30Z"}, 30.0),
        ({"eventTime": None, "count": 0, "lastTimestamp": "1970-01-01T00:00:30Z"}, 30.0),
        ({"metadata": {"creationTimestamp": "1970-01-01T00:00:40Z"}}, 40.0),
        ({}, None),
    ],
)
def test_an_event_has_its_own_time_unless_it_is_counted(event: dict[str, Any], at: float | None) -> None:
    assert msgspec.convert(event, ScheduledEvent).at == at


def test_an_event_names_its_node() -> None:
    event = msgspec.convert({"message": "Successfully assigned a/b to n1"}, ScheduledEvent)
    assert event.node == "n1"
    assert ScheduledEvent(message="no").node is None

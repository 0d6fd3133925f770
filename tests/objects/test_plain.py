"""An object without a class is a mapping with metadata."""

from __future__ import annotations

from collections.abc import Mapping

import msgspec
import pytest
from msgspec.structs import replace

from bayplan.errors import ConfigError
from bayplan.objects import kinds
from bayplan.objects.kinds import Kind

RAW = {
    "apiVersion": "v1",
    "kind": "ConfigMap",
    "metadata": {"name": "a", "namespace": "b", "labels": {"x": "y"}, "uid": "u", "managedFields": [{}]},
    "data": {"key": "value"},
}
CONFIG_MAP = kinds.named("ConfigMap")


def test_its_fields_are_those_of_a_mapping_and_its_metadata_that_of_every_object() -> None:
    thing = kinds.decode(RAW)

    assert isinstance(thing, Mapping)
    assert (thing["data"], thing.get("binaryData", 3), "data" in thing, len(thing)) == ({"key": "value"}, 3, True, 4)
    assert list(thing) == list(thing.keys()) == ["apiVersion", "kind", "metadata", "data"]
    assert (thing.name, thing.namespace, thing.key, thing.uid, dict(thing.labels)) == ("a", "b", "b/a", "u", {"x": "y"})
    assert kinds.kind_of(thing) == "ConfigMap"
    with pytest.raises(AttributeError, match=r'a ConfigMap has no attribute "data": .* write \["data"\]'):
        _ = thing.data  # type: ignore[attr-defined]


def test_a_copy_with_other_metadata_shows_it_in_both_ways() -> None:
    thing = kinds.decode(RAW)
    other = thing.evolve(metadata=replace(thing.metadata, name="c"))

    assert (other.name, other["metadata"]["name"], other["data"]) == ("c", "c", {"key": "value"})
    assert "managedFields" not in other["metadata"]


def test_the_list_of_an_api_server_does_not_say_what_its_items_are() -> None:
    item = {key: value for key, value in RAW.items() if key not in ("apiVersion", "kind")}

    assert kinds.decoder(CONFIG_MAP)(msgspec.json.encode(item)) == kinds.decode(RAW)


@pytest.mark.parametrize(
    ("name", "plural"),
    [("Maintenance", "maintenances"), ("Policy", "policies"), ("Gateway", "gateways"), ("Ingress", "ingresses")],
)
def test_the_plural_is_made_as_usual_unless_it_is_said(name: str, plural: str) -> None:
    assert Kind("example.com", "v1", name).plural == plural
    assert Kind("example.com", "v1", name, "others").plural == "others"


def test_a_kind_whose_name_is_taken_needs_another_one_for_plugins() -> None:
    with pytest.raises(ConfigError, match=r'there is a Service in v1 already: .*alias="ServingService"'):
        kinds.register(Kind("serving.knative.dev", "v1", "Service"))
    kinds.register(Kind("serving.knative.dev", "v1", "Service", alias="KnativeService"))
    thing = kinds.decode({"apiVersion": "serving.knative.dev/v1", "kind": "Service", "metadata": {"name": "a"}})

    assert kinds.kind_of(thing) == "KnativeService"
    assert kinds.kind_of(kinds.decode({"apiVersion": "v1", "kind": "Service", "metadata": {"name": "a"}})) == "Service"


def test_nobody_can_give_another_class_to_what_the_scheduler_itself_reads() -> None:
    with pytest.raises(ConfigError, match='Bayplan has a Pod in v1: name it in reads as "Pod"'):
        kinds.register(Kind("", "v1", "Pod"))

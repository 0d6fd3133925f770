"""From documents to the start of a simulation: configurations, warnings, and mistakes in templates."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from bayplan.errors import ConfigError, InputError
from bayplan.objects.files.manifests import Document
from bayplan.simulator import loading
from tests.simulator.support import config, given, node, pod, workload


def test_objects_are_found_again_where_they_were_written() -> None:
    found = given(node("n1"), pod("a", meta={"namespace": "shop"}))
    places = {each.key: found.place(each) for each in found.objects if each.name in ("n1", "a")}
    assert {key: place.source for key, place in places.items() if place} == {"n1": "test.yaml", "shop/a": "test.yaml"}


def test_a_configuration_among_the_files_is_taken_out_of_them() -> None:
    found = given(node("n1"), config("mine"))
    assert found.config is not None
    assert [profile.scheduler_name for profile in found.config.profiles] == ["mine"]


def test_without_a_configuration_there_is_none() -> None:
    assert given(node("n1")).config is None


def test_two_configurations_are_one_too_many() -> None:
    documents = loading.documents_of([config("a"), config("b")], "both.yaml")
    with pytest.raises(InputError, match=r"both.yaml: there is a KubeSchedulerConfiguration in both.yaml already"):
        loading.load(documents)


def test_a_configuration_may_come_apart_from_the_files() -> None:
    found = loading.load(loading.documents_of([node("n1")]), Document("own.yaml", 1, config("mine")))
    assert found.config is not None
    assert found.config.source == "own.yaml"


def test_a_configuration_file_must_hold_a_configuration(tmp_path: Path) -> None:
    path = tmp_path / "not-it.yaml"
    path.write_text("{apiVersion: v1, kind: Node, metadata: {name: n1}}\n")
    with pytest.raises(InputError, match="expected one KubeSchedulerConfiguration, found Node"):
        loading.read_config(path)


def test_a_mistake_in_a_configuration_names_the_file() -> None:
    with pytest.raises(ConfigError, match=r"^test.yaml: profilez: unknown field"):
        given({**config(), "profilez": []})


def test_unknown_kinds_are_named_once() -> None:
    strange = {"apiVersion": "example.com/v1", "kind": "Widget"}
    found = given({**strange, "metadata": {"name": "a"}}, {**strange, "metadata": {"name": "b"}})
    assert found.warnings == ["not needed and left out: example.com/v1 Widget (2)"]


@pytest.mark.parametrize(
    "meta", [["a"], "a", 5, None, {"name": ["a"]}, {"name": {"a": "b"}}, {"name": "a", "namespace": ["b"]},
             {"name": "a", "annotations": ["b"]}]
)  # fmt: skip
def test_whatever_an_unknown_kind_holds_it_is_left_out(meta: object, tmp_path: Path) -> None:
    path = tmp_path / "in.json"
    for version, kind in (("example.com/v1", "Widget"), ("v1", "ConfigMap")):
        path.write_text(json.dumps({"apiVersion": version, "kind": kind, "metadata": meta}))
        assert loading.read([path]).warnings == [f"not needed and left out: {version} {kind} (1)"]


def test_extenders_are_told_to_have_no_say() -> None:
    extender = {"urlPrefix": "http://127.0.0.1:1/", "filterVerb": "filter"}
    assert any("extenders" in warning for warning in given(config(extenders=[extender])).warnings)


@pytest.mark.parametrize("kind", ["Deployment", "ReplicaSet", "StatefulSet", "DaemonSet"])
def test_a_template_with_an_unknown_priority_class_is_a_mistake_of_the_workload(kind: str) -> None:
    with pytest.raises(InputError) as caught:
        given(workload(kind, "web", pods={"priorityClassName": "urgent"}))
    assert str(caught.value).startswith(f"test.yaml: {kind} web: spec.template.spec.priorityClassName: there is no")


def test_several_templates_with_mistakes_are_all_named() -> None:
    bad = {"priorityClassName": "urgent"}
    with pytest.raises(InputError) as caught:
        given(workload("Deployment", "a", pods=bad), workload("Deployment", "b", pods=bad))
    assert len(str(caught.value).splitlines()) == 2


def test_what_is_left_out_of_a_folder_is_a_warning(tmp_path: Path) -> None:
    (tmp_path / "n.yaml").write_text("{apiVersion: v1, kind: Node, metadata: {name: n1}}\n")
    (tmp_path / "more").symlink_to(tmp_path)
    (warning,) = loading.read([tmp_path], recursive=True).warnings
    assert warning == f"{tmp_path}/more: this link to a folder is not followed; give it with -f to have it read"

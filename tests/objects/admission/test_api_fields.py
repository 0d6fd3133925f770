"""Fields that the API server does not know are misspelt; those it knows and Bayplan does not read are fine."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest
import yaml

from bayplan.errors import InputError, InputErrors
from bayplan.objects import kinds
from bayplan.objects.admission import api_fields
from bayplan.objects.files import loading, manifests
from tests.objects import openapi_fields
from tests.support.api import Api, ApiError, path_of
from tests.support.binaries import binaries_or_skip
from tests.support.control_plane import ControlPlane

CONTAINERS = "containers: [{name: c, image: web}]"
POD = f"{{apiVersion: v1, kind: Pod, metadata: {{name: web}}, spec: {{{CONTAINERS}}}}}"
DEPLOYMENT = f"""
apiVersion: apps/v1
kind: Deployment
metadata: {{name: web}}
spec:
  selector: {{matchLabels: {{app: web}}}}
  template: {{metadata: {{labels: {{app: web}}}}, spec: {{{CONTAINERS}}}}}
"""
NONE = "there are none; write at least one, with a name and an image"

WRONG = [
    (POD.replace("containers:", "contaners:"), ['spec.contaners: unknown field; did you mean "containers"?']),
    (
        POD.replace("image: web", "image: web, resources: {request: {cpu: 1}}"),
        ['spec.containers[0].resources.request: unknown field; did you mean "requests"?'],
    ),
    (
        POD.replace("image: web", "image: web, ports: [{containerPort: 80, hostIp: 1.2.3.4}]"),
        ['spec.containers[0].ports[0].hostIp: unknown field; did you mean "hostIP"?'],
    ),
    (
        POD.replace("image: web", "image: web, env: [{name: A, valu: b}]"),
        ['spec.containers[0].env[0].valu: unknown field; did you mean "value"?'],
    ),
    (
        POD.replace("image: web", "image: web, ports: [{containerPort: 80, xyz: 1}]"),
        ["spec.containers[0].ports[0].xyz: unknown field; known here: containerPort, hostIP, hostPort, name, protocol"],
    ),
    (
        POD.replace("spec:", "zzz: 1, spec:"),
        ["zzz: unknown field; known here: apiVersion, kind, metadata, spec, status"],
    ),
    (
        POD.replace("containers:", "zzz: 1, containers:").replace("name: web", "nme: web, name: web"),
        [
            'metadata.nme: unknown field; did you mean "name"?',
            "spec.zzz: unknown field; correct its name, or remove it",
        ],
    ),
    (
        DEPLOYMENT.replace("  selector", "  replica: 3\n  selector"),
        ['spec.replica: unknown field; did you mean "replicas"?'],
    ),
    (POD.replace(CONTAINERS, ""), [f"spec.containers: {NONE}"]),
    (POD.replace(CONTAINERS, "containers: []"), [f"spec.containers: {NONE}"]),
    (DEPLOYMENT.replace(CONTAINERS, ""), [f"spec.template.spec.containers: {NONE}"]),
    (
        "{apiVersion: batch/v1, kind: CronJob, metadata: {name: web}, spec: {schedule: '* * * * *', jobTemplate: {}}}",
        [f"spec.jobTemplate.spec.template.spec.containers: {NONE}"],
    ),
]


def read(text: str) -> manifests.Document:
    return manifests.Document("a.yaml", 1, yaml.safe_load(text))


@pytest.mark.parametrize(("text", "lines"), WRONG)
def test_what_no_api_server_takes_is_told(text: str, lines: list[str]) -> None:
    kind = yaml.safe_load(text)["kind"]
    with pytest.raises(InputError) as caught:
        loading.load([read(text)])
    assert str(caught.value).splitlines() == [f"a.yaml:1: {kind} web: {line}" for line in lines]


def test_misspelt_fields_and_other_mistakes_are_told_together() -> None:
    with pytest.raises(InputErrors) as caught:
        loading.load([read(POD.replace("containers:", "nodeNam: a, nodeName: 5, containers:"))])
    assert [error.field for error in caught.value.errors] == ["spec.nodeNam", "spec.nodeName"]


def test_documents_that_nobody_wrote_need_not_be_complete() -> None:
    (pod, _) = loading.load([read(POD.replace(CONTAINERS, "some: thing"))], strict=False).objects
    assert pod.name == "web"


def test_real_fields_that_scheduling_does_not_read_are_fine() -> None:
    text = POD.replace("image: web", "image: web, command: [a], livenessProbe: {httpGet: {port: 80}}, tty:")
    text = text.replace("name: web}", "name: web, managedFields: [{manager: kubectl, fieldsV1: {'f:a': {}}}]}")
    assert loading.load([read(text)]).warnings == []


def test_a_field_of_a_newer_server_is_told_once_and_no_mistake() -> None:
    """What has a UID comes from a server, which knew all of its fields."""
    text = POD.replace("name: web}", "name: %s, uid: %s}").replace("containers:", "hyper: 1, containers:")
    loaded = loading.load([read(text % (name, name)) for name in ("web", "api")])
    assert loaded.warnings == [
        "a.yaml:1: Pod web: spec.hyper: unknown field, not taken into account; correct its name, or remove it"
    ]
    assert {each.name for each in loaded.objects} >= {"web", "api"}


def test_every_built_in_kind_is_in_the_table() -> None:
    for kind in filter(kinds.is_built_in, kinds.all_kinds()):
        raw = {"apiVersion": kind.api_version, "kind": kind.name, "metadata": {"name": "a"}}
        assert api_fields.check_fields(kind.name, raw) == []
        assert len(api_fields.check_fields(kind.name, {**raw, "metadata": {"nonsense": 1}})) == 1


@pytest.fixture(scope="module")
def api() -> Any:
    with ControlPlane(binaries_or_skip(), extra_flags=openapi_fields.SERVED) as plane:
        yield plane.api()


@pytest.mark.kube
def test_the_table_is_what_the_api_server_says(api: Api) -> None:
    written = [line for line in Path(api_fields.PATH).read_text().splitlines() if not line.startswith("#")]
    assert written == openapi_fields.lines(api), "write it anew: python -m tests.objects.openapi_fields"


@pytest.mark.kube
@pytest.mark.parametrize("text", [text for text, _ in WRONG])
def test_the_api_server_refuses_the_same(api: Api, text: str) -> None:
    raw = yaml.safe_load(text)
    with pytest.raises(ApiError, match=r"unknown field|Required value"):
        api.call("POST", path_of(raw["kind"], "default"), raw, dryRun="All", fieldValidation="Strict")


@pytest.mark.kube
def test_what_the_api_server_shows_can_be_given_as_it_is(api: Api) -> None:
    for text in (POD, DEPLOYMENT):
        raw = yaml.safe_load(text)
        stored = api.call("POST", path_of(raw["kind"], "default"), raw)
        assert stored["metadata"]["managedFields"]
        del stored["metadata"]["uid"]  # so that unknown fields would be mistakes
        assert loading.load([manifests.Document("a.yaml", 1, stored)]).warnings == []

"""Documents to objects as a cluster would hold them."""

from __future__ import annotations

import time
from pathlib import Path
from typing import Any

import pytest

from bayplan.errors import InputError, InputErrors
from bayplan.objects.files import loading, manifests
from bayplan.objects.files.manifests import AT, Document
from bayplan.objects.pod import Pod
from bayplan.objects.workload import Namespace


def document(line: int, kind: str = "Pod", api_version: str = "v1", **parts: Any) -> manifests.Document:
    raw = {"apiVersion": api_version, "kind": kind, "metadata": {"name": f"x{line}"}, **parts}
    if kind == "Pod":
        raw["spec"] = {"containers": [{"name": "c", "image": "web"}], **raw.get("spec", {})}
    return manifests.Document("a.yaml", line, raw)


def priority_class(line: int, **parts: Any) -> manifests.Document:
    return document(line, "PriorityClass", "scheduling.k8s.io/v1", **parts)


def test_objects_are_decoded_and_filled_in_and_namespaces_added() -> None:
    loaded = loading.load([document(1, spec={"priorityClassName": "x2"}), priority_class(2, value=9)])
    pod, _, namespace = loaded.objects
    assert isinstance(pod, Pod)
    assert (pod.key, pod.priority) == ("default/x1", 9)
    assert isinstance(namespace, Namespace)
    assert namespace.name == "default"
    assert loading.load([document(1)], with_namespaces=False).objects[-1].name == "x1"


def test_strangers_are_kept_apart_and_named_once() -> None:
    config = [document(line, "ConfigMap") for line in (1, 2)]
    loaded = loading.load([*config, document(3, "Widget", "example.com/v1")])
    assert loaded.objects == []
    assert [each.line for each in loaded.strangers] == [1, 2, 3]
    assert loaded.note == "not needed and left out: example.com/v1 Widget (1), v1 ConfigMap (2)"
    assert loading.load([]).note == ""


def test_generated_names_differ_and_repeat_in_every_run() -> None:
    documents = [document(line, metadata={"generateName": "web-"}) for line in (1, 2)]
    names = [each.name for each in loading.load(documents, with_namespaces=False).objects]
    assert len(set(names)) == 2
    assert all(name.startswith("web-") and len(name) == 9 for name in names)
    assert names == [each.name for each in loading.load(documents, with_namespaces=False).objects]


def test_one_mistake_is_one_line_with_file_line_object_and_field() -> None:
    bad = document(
        7,
        metadata={"name": "web", "namespace": "shop"},
        spec={"containers": [{"resources": {"requests": {"cpu": "1 Gi"}}}]},
    )
    with pytest.raises(InputError) as caught:
        loading.load([document(1), bad])
    assert str(caught.value) == (
        "a.yaml:7: Pod shop/web: spec.containers[0].resources.requests.cpu: "
        '"1 Gi" is not a quantity; write "1Gi" instead'
    )


def test_all_mistakes_of_all_documents_are_reported_together() -> None:
    documents = [
        document(1, spec={"nodeName": 5}),
        document(2, metadata={}),
        document(3, "Deployment"),
        priority_class(4, globalDefault=True),
        priority_class(5, globalDefault=True),
    ]
    with pytest.raises(InputErrors) as caught:
        loading.load(documents)
    assert str(caught.value).splitlines() == [
        'a.yaml:1: Pod x1: spec.nodeName: must be text, not a whole number (5); put it in quotes: "5"',
        'a.yaml:3: Deployment x3: apiVersion: there is no Deployment in "v1"; write apps/v1 instead',
        "a.yaml:2: Pod: metadata.name: the object has no name; write one",
        'a.yaml:5: PriorityClass x5: globalDefault: "x4" is the default already; write false here or there',
    ]


def test_an_unknown_priority_class_is_placed_in_its_file() -> None:
    with pytest.raises(
        InputError, match=r'^a\.yaml:3: Pod x3: spec\.priorityClassName: there is no PriorityClass "no";'
    ):
        loading.load([document(3, spec={"priorityClassName": "no"})])


TEXT = """\
apiVersion: v1
kind: Pod
metadata:
  name: web-%d
  labels: {app: web}
spec:
  containers:
  - name: main
    image: web:1
    resources:
      requests: {cpu: 250m, memory: 512Mi}
  topologySpreadConstraints:
  - maxSkew: 1
    topologyKey: topology.kubernetes.io/zone
    whenUnsatisfiable: DoNotSchedule
    labelSelector: {matchLabels: {app: web}}
---
"""


@pytest.mark.slow
def test_fifteen_thousand_objects_load_in_seconds(tmp_path: Path) -> None:
    path = tmp_path / "big.yaml"
    path.write_text("".join(TEXT % number for number in range(15_000)))
    before = time.process_time()
    loaded = loading.load(manifests.read([path]))
    assert len(loaded.objects) == 15_001
    assert time.process_time() - before < 15  # about 3 s on an idle core; the rest is room for a slow machine


def with_uid(name: str, uid: str, kind: str = "Pod", **meta: Any) -> Document:
    version = "apps/v1" if kind == "ReplicaSet" else "v1"
    spec = {"containers": [{"name": "c", "image": "i"}]} if kind == "Pod" else {}
    raw = {"apiVersion": version, "kind": kind, "metadata": {"name": name, "uid": uid, **meta}, "spec": spec}
    return Document("in.yaml", 3, raw)


@pytest.mark.parametrize(
    ("first", "second", "line"),
    [
        (with_uid("a", "1"), with_uid("b", "1"), 'Pod b: metadata.uid: "1" is the uid of Pod a at in.yaml:3 already'),
        (with_uid("a", "1"), with_uid("a", "1", "Node"), 'Node a: metadata.uid: "1" is the uid of Pod a at in.yaml:3'),
        (
            with_uid("a", "1"),
            with_uid("a", "1", namespace="b"),
            'Pod b/a: metadata.uid: "1" is the uid of Pod a at in.yaml',
        ),
        (with_uid("a", "1"), with_uid("b", "2"), ""),
        (with_uid("a", ""), with_uid("b", ""), ""),
        (with_uid("a", "1"), with_uid("a", "1", annotations={AT: "5m"}), ""),
    ],
)
@pytest.mark.parametrize("strict", [True, False])
def test_a_uid_is_of_one_object(first: Document, second: Document, line: str, strict: bool) -> None:
    if not line:
        assert len(loading.load([first, second], strict=strict, with_namespaces=False).objects) == 2
        return
    with pytest.raises(InputError) as caught:
        loading.load([first, second], strict=strict)
    assert str(caught.value).startswith(f"in.yaml:3: {line}")
    assert str(caught.value).endswith("; remove it here")

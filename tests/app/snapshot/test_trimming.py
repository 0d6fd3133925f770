"""Objects of a live cluster lose what scheduling does not read, and nothing else."""

from __future__ import annotations

from typing import Any

import yaml

from bayplan.app.snapshot.trimming import Trimming
from bayplan.objects.kinds import all_kinds
from bayplan.simulator.loading import documents_of, load

KINDS = {kind.name: kind for kind in all_kinds()}


def trimmed(text: str, trimming: Trimming | None = None) -> dict[str, Any]:
    raw = yaml.safe_load(text)
    document = (trimming or Trimming()).document(KINDS[raw["kind"]], raw)
    assert document is not None
    return document


POD = """
apiVersion: v1
kind: Pod
metadata:
  name: web
  namespace: shop
  uid: u1
  resourceVersion: "7"
  labels: {app: web}
  annotations: {token: hunter2, example.com/kept: "yes"}
  managedFields: [{manager: kubectl}]
spec:
  schedulerName: bayplan
  priority: 0
  priorityClassName: gone
  containers:
  - name: main
    image: web:1
    command: [run, --password=hunter2]
    env: [{name: PASSWORD, value: hunter2}]
    resources: {requests: {cpu: 100m}}
  volumes:
  - name: keys
    secret: {secretName: hunter2}
  - name: data
    persistentVolumeClaim: {claimName: data}
  affinity:
    podAntiAffinity:
      requiredDuringSchedulingIgnoredDuringExecution:
      - topologyKey: kubernetes.io/hostname
        labelSelector: {}
status: {phase: Pending, message: hunter2}
"""


def test_what_scheduling_reads_stays_and_secrets_go() -> None:
    document = trimmed(POD)

    assert "hunter2" not in yaml.safe_dump(document)
    assert document["metadata"] == {"name": "web", "namespace": "shop", "uid": "u1", "labels": {"app": "web"}}
    assert document["spec"]["containers"] == [
        {"name": "main", "image": "web:1", "resources": {"requests": {"cpu": "100m"}}}
    ]
    (term,) = document["spec"]["affinity"]["podAntiAffinity"]["requiredDuringSchedulingIgnoredDuringExecution"]
    assert term == {"topologyKey": "kubernetes.io/hostname", "labelSelector": {}}


def test_annotations_that_are_asked_for_stay() -> None:
    document = trimmed(POD, Trimming(keep=["example.com/kept"]))

    assert document["metadata"]["annotations"] == {"example.com/kept": "yes"}


def test_all_annotations_stay_on_request() -> None:
    trimming = Trimming(keep=["*"])

    assert trimmed(POD, trimming)["metadata"]["annotations"] == {"token": "hunter2", "example.com/kept": "yes"}
    assert trimming.left_out == set()


def test_annotations_that_go_are_named() -> None:
    trimming = Trimming(keep=["example.com/kept"])
    trimmed(POD, trimming)
    trimmed(POD.replace("token:", "key:"), trimming)

    assert trimming.left_out == {"token", "key"}


def test_for_use_in_this_process_nothing_goes_that_a_plugin_could_read() -> None:
    trimming = Trimming(whole=True)
    pod = trimmed(POD, trimming)

    assert pod["metadata"]["annotations"] == {"token": "hunter2", "example.com/kept": "yes"}
    assert pod["metadata"]["resourceVersion"] == "7"
    assert pod["spec"]["volumes"][0] == {"name": "keys", "secret": {"secretName": "hunter2"}}
    storage = "{apiVersion: storage.k8s.io/v1, kind: StorageClass, metadata: {name: fast}, parameters: {a: b}}"
    assert trimmed(storage, trimming)["parameters"] == {"a": "b"}
    assert trimming.left_out == set()


def test_a_live_object_has_no_timetable() -> None:
    """In a simulation it would come later, and it is there already."""
    raw = yaml.safe_load(POD)
    moments = {f"simulation.bayplan.io/{name}": "5m" for name in ("at", "arrives", "interval")}
    raw["metadata"]["annotations"] = {**moments, "mine": "yes"}
    document = Trimming(whole=True).document(KINDS["Pod"], raw)

    assert document is not None
    assert document["metadata"]["annotations"] == {"mine": "yes"}


def test_a_claim_keeps_what_it_was_given_and_loses_what_only_its_driver_reads() -> None:
    config = {"opaque": {"driver": "d", "parameters": {"token": "hunter2"}}}
    given = {"devices": {"results": [{"request": "r", "driver": "d", "pool": "p", "device": "x"}], "config": [config]}}
    raw: dict[str, Any] = {
        "apiVersion": "resource.k8s.io/v1",
        "kind": "ResourceClaim",
        "metadata": {
            "name": "c",
            "uid": "u",
            "annotations": {"resource.kubernetes.io/pod-claim-name": "gpu", "mine": "x"},
            "finalizers": ["example.com/mine", "resource.kubernetes.io/delete-protection"],
        },
        "spec": {"devices": {"requests": [{"name": "r", "exactly": {"deviceClassName": "c"}}], "config": [config]}},
        "status": {"allocation": given, "reservedFor": [{"resource": "pods", "name": "web", "uid": "1"}]},
    }
    document = trimmed(yaml.safe_dump(raw))
    assert "hunter2" not in yaml.safe_dump(document)
    assert document["metadata"]["annotations"] == {"resource.kubernetes.io/pod-claim-name": "gpu"}
    assert document["metadata"]["finalizers"] == ["resource.kubernetes.io/delete-protection"]
    assert document["status"]["allocation"]["devices"]["results"] == given["devices"]["results"]
    assert document["status"]["reservedFor"] == raw["status"]["reservedFor"]


def test_what_a_driver_says_of_its_devices_stays_whatever_it_is_called() -> None:
    device = {"name": "x", "attributes": {"local": {"bool": True}, "secret": {"string": "no"}}}
    spec = {"driver": "d", "pool": {"name": "p", "generation": 1, "resourceSliceCount": 1}, "devices": [device]}
    raw = {"apiVersion": "resource.k8s.io/v1", "kind": "ResourceSlice", "metadata": {"name": "s", "uid": "u"}}
    document = trimmed(yaml.safe_dump(raw | {"spec": spec | {"allNodes": True}}))
    assert document["spec"] == spec | {"allNodes": True}


def test_annotations_that_scheduling_reads_stay() -> None:
    document = trimmed(
        """
        apiVersion: v1
        kind: PersistentVolumeClaim
        metadata:
          name: data
          namespace: shop
          annotations: {pv.kubernetes.io/bind-completed: "yes", owner: me}
        spec: {volumeName: v1, accessModes: [ReadWriteOnce], resources: {requests: {storage: 1Gi}}}
        """
    )

    assert document["metadata"]["annotations"] == {"pv.kubernetes.io/bind-completed": "yes"}


def test_the_pod_that_comes_back_is_the_pod_that_was_there() -> None:
    raw = yaml.safe_load(POD)
    raw["spec"]["volumes"][0]["secret"] = {}
    (before, *_), (after, *_) = (load(documents_of([each])).objects for each in (raw, trimmed(POD)))

    assert after.spec == before.spec  # type: ignore[attr-defined]
    assert after.labels == before.labels


def test_a_budget_keeps_a_status_that_allows_nothing() -> None:
    document = trimmed(
        """
        apiVersion: policy/v1
        kind: PodDisruptionBudget
        metadata: {name: web, namespace: shop}
        spec: {minAvailable: 1, selector: {matchLabels: {app: web}}}
        """
    )

    assert document["status"] == {"disruptionsAllowed": 0}


def test_parameters_of_storage_classes_go() -> None:
    document = trimmed(
        """
        apiVersion: storage.k8s.io/v1
        kind: StorageClass
        metadata: {name: fast}
        provisioner: example.com/disks
        parameters: {restuserkey: hunter2}
        volumeBindingMode: WaitForFirstConsumer
        """
    )

    assert "parameters" not in document
    assert document["volumeBindingMode"] == "WaitForFirstConsumer"


def test_one_odd_object_is_left_out_with_a_word() -> None:
    told: list[str] = []
    raw = yaml.safe_load(POD)
    raw["spec"]["containers"][0]["resources"]["requests"]["cpu"] = "a lot"

    assert Trimming(warn=told.append).document(KINDS["Pod"], raw) is None
    (line,) = told
    assert line.startswith("left out: Pod shop/web: spec.containers[0].resources.requests")


def test_the_classes_that_every_cluster_has_are_not_repeated() -> None:
    raw = {"metadata": {"name": "system-node-critical"}, "value": 2000001000}

    assert Trimming().document(KINDS["PriorityClass"], raw) is None


def test_templates_lose_a_priority_class_that_is_gone() -> None:
    template = """
    apiVersion: apps/v1
    kind: ReplicaSet
    metadata: {{name: {name}, namespace: shop, uid: {name}}}
    spec:
      selector: {{matchLabels: {{app: web}}}}
      template:
        metadata: {{labels: {{app: web}}}}
        spec: {{priorityClassName: {name}, containers: [{{name: main, image: web}}]}}
    """
    trimming = Trimming()
    sets = [trimmed(template.format(name=name), trimming) for name in ("gone", "there", "system-node-critical")]
    there = trimming.document(KINDS["PriorityClass"], {"metadata": {"name": "there"}, "value": 5})
    assert there is not None

    trimming.consistent([*sets, there])

    names = [each["spec"]["template"]["spec"].get("priorityClassName") for each in sets]
    assert names == [None, "there", "system-node-critical"]
    load(documents_of([*sets, there]))


def test_loads_stay_whatever_their_policy_calls_them_and_so_do_ledgers() -> None:
    document = trimmed(
        """
        apiVersion: v1
        kind: Node
        metadata:
          name: n1
          annotations:
            gpu_busy: "0.63012,2026-01-31T10:00:00Z"
            node_hot_value: "3,2026-01-31T10:00:00Z"
            spare.bayplan.io/ledger: '{"cpuMilli":1}'
            note: "a,b"
            csi.volume.kubernetes.io/nodeid: '{"driver":"hunter2"}'
        """
    )

    assert set(document["metadata"]["annotations"]) == {"gpu_busy", "node_hot_value", "spare.bayplan.io/ledger"}

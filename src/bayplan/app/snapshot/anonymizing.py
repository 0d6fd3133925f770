"""
Documents without the names of a cluster: every name becomes another one, the same each time.

So labels still match selectors, pods their nodes and claims their volumes, and decisions stay what they were.  What has
a meaning of its own stays: fields and words of Kubernetes, keys with ``kubernetes.io`` in them, amounts, numbers and
times.  Everything else that is text is a name.  Messages are left out, and so are kinds in which names are hidden
inside other text, such as expressions that choose devices.  Used by ``bayplan snapshot --anonymous``.
"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Callable
from typing import Any

from bayplan.objects.pod_template import normalise_image
from bayplan.objects.third_party import crane_annotations

KINDS = {
    "CSIDriver": "driver",
    "CSINode": "node",
    "CSIStorageCapacity": "capacity",
    "CronJob": "cron",
    "DaemonSet": "daemons",
    "Deployment": "deploy",
    "Job": "job",
    "Namespace": "ns",
    "Node": "node",
    "PersistentVolume": "pv",
    "PersistentVolumeClaim": "claim",
    "Pod": "pod",
    "PodDisruptionBudget": "budget",
    "PriorityClass": "priority",
    "ReplicaSet": "rs",
    "ReplicationController": "rc",
    "RuntimeClass": "runtime",
    "Service": "svc",
    "StatefulSet": "sts",
    "StorageClass": "storage",
    "VolumeAttachment": "attachment",
    "WorkloadPolicy": "policy",
}
"""The kinds that can be made anonymous, and what their objects are called then."""

_LABELS = frozenset({"labels", "matchLabels", "nodeSelector", "selector"})
_AMOUNTS = frozenset(
    {"requests", "limits", "allocatable", "capacity", "overhead", "podFixed", "allocatedResources", "hard", "used"}
)
_KEYS = frozenset({"key", "topologyKey", "topologyKeys", "matchLabelKeys", "mismatchLabelKeys"})
_IMAGES = frozenset({"image", "names", "reference"})
_DROPPED = frozenset({"message", "generateName", "providerID"})
_KEPT = frozenset(
    {
        "accessModes",
        "allocationMethod",
        "allocationType",
        "apiVersion",
        "completionMode",
        "concurrencyPolicy",
        "declaredFeatures",
        "effect",
        "kind",
        "nodeAffinityPolicy",
        "nodeTaintsPolicy",
        "operator",
        "persistentVolumeReclaimPolicy",
        "phase",
        "podManagementPolicy",
        "preemptionPolicy",
        "protocol",
        "reason",
        "restartPolicy",
        "schedule",
        "schedulerName",
        "status",
        "type",
        "unhealthyPodEvictionPolicy",
        "volumeBindingMode",
        "volumeMode",
        "whenUnsatisfiable",
    }
)
"""Fields whose words are Kubernetes' own."""
_WELL_KNOWN = re.compile(r"(^|[./])(kubernetes|k8s)\.io(/|$)")
_NATIVE = re.compile(r"(cpu|memory|pods|storage|ephemeral-storage|(hugepages|attachable-volumes)-.*)")
_PLAIN = frozenset(
    {
        "",
        "*",
        "0.0.0.0",
        "::",
        "127.0.0.1",
        "default",
        "default-scheduler",
        "false",
        "kube-node-lease",
        "kube-public",
        "kube-system",
        "metadata.name",
        "system-cluster-critical",
        "system-node-critical",
        "true",
        "yes",
    }
)
_NUMBER = re.compile(r"[-+]?[0-9][0-9.]*([a-zA-Z]{1,2}|%)?")
_TIME = re.compile(r"[0-9]{4}-[0-9]{2}-[0-9]{2}T.*")


class Pseudonyms:
    """What everything is called instead; ``warn`` hears of what cannot be told at all."""

    def __init__(self, warn: Callable[[str], None] = lambda warning: None) -> None:
        self._names: dict[str, str] = {}
        self._numbers: Counter[str] = Counter()
        self._warn = warn
        self._left_out: set[str] = set()

    def document(self, document: dict[str, Any]) -> dict[str, Any] | None:
        """The object under other names; ``None`` for kinds that cannot be made anonymous."""
        kind = document["kind"]
        if kind not in KINDS:
            if kind not in self._left_out:
                self._left_out.add(kind)
                self._warn(f"{kind} objects are left out: they cannot be made anonymous")
            return None
        meta = document["metadata"]
        name = self._object_name(kind, meta)
        rest = {field: self._value(field, value) for field, value in document.items() if field != "metadata"}
        walked = self._value("metadata", meta)
        return {**rest, "metadata": {**walked, "name": name}}

    def _object_name(self, kind: str, meta: dict[str, Any]) -> str:
        """A claim that was made for a pod alone is called after it, and is looked for by that name."""
        name = str(meta["name"])
        for owner in meta.get("ownerReferences") or ():
            made_for = f"{owner.get('name')}-"
            if kind == "PersistentVolumeClaim" and owner.get("kind") == "Pod" and name.startswith(made_for):
                return f"{self._name(owner['name'], 'pod')}-{self._name(name.removeprefix(made_for), 'name')}"
        return self._name(name, KINDS[kind])

    def _value(self, field: str, value: Any) -> Any:
        if isinstance(value, dict):
            return self._mapping(field, value)
        if isinstance(value, list | tuple):
            return [self._value(field, each) for each in value]
        return self._text(field, value) if isinstance(value, str) else value

    def _mapping(self, field: str, value: dict[str, Any]) -> dict[str, Any]:
        if field == "annotations":
            found = {name: self._annotation(text) for name, text in value.items()}
            return {name: text for name, text in found.items() if text is not None}
        if field in _LABELS and all(isinstance(each, str) for each in value.values()):
            return {self._key(key): self._name(each, "value") for key, each in value.items()}
        if field in _AMOUNTS and not any(isinstance(each, dict) for each in value.values()):
            return {self._resource(name): amount for name, amount in value.items()}
        return {key: self._value(key, each) for key, each in value.items() if key not in _DROPPED}

    def _text(self, field: str, text: str) -> str:
        if field in _KEPT:
            return text
        if field in _KEYS:
            return self._key(text)
        if field in _IMAGES:
            return self._image(text)
        if field == "resourceName":
            return self._resource(text)
        return self._name(text, "uid" if field == "uid" else "name")

    def _annotation(self, text: Any) -> str | None:
        """A number, a load or a name; what has names hidden in it is left out."""
        if not isinstance(text, str):
            return None
        if crane_annotations.read(text) is not None:
            return text
        return None if re.search(r"[\s{\[,]", text) else self._name(text, "name")

    def _key(self, key: str) -> str:
        return key if key in _PLAIN or _WELL_KNOWN.search(key.partition("/")[0]) else self._called(key, "key")

    def _resource(self, name: str) -> str:
        if _NATIVE.fullmatch(name) or _WELL_KNOWN.search(name):
            return name
        return f"example.com/{self._called(name, 'resource')}"

    def _image(self, image: str) -> str:
        """With a tag, as nodes tell it: a name without one means another image."""
        return f"{self._called(normalise_image(image), 'image')}:1"

    def _name(self, text: str, prefix: str) -> str:
        is_plain = text in _PLAIN or _NUMBER.fullmatch(text) or _TIME.fullmatch(text) or _WELL_KNOWN.search(text)
        return text if is_plain else self._called(text, prefix)

    def _called(self, text: str, prefix: str) -> str:
        """One name for one text, wherever it stands."""
        known = self._names.get(text)
        if known is None:
            self._numbers[prefix] += 1
            known = self._names[text] = f"{prefix}-{self._numbers[prefix]}"
        return known

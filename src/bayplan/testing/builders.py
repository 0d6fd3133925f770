"""
Pods and nodes in one line each: ``pod("a").cpu("500m").tolerates("gpu").build()``, ``node("n1").zone("z")``.

Tests of plugins call these, inside Bayplan and outside.  A builder holds a manifest and never changes: every
method gives a new builder, so a common start can be kept and varied.  ``build()`` makes the object as the API
server would show it, with a uid that is the same on every run.
"""

from __future__ import annotations

import copy
from collections.abc import Iterable, Mapping
from typing import Any, Generic, Self, TypeVar

import msgspec

from bayplan.objects import kinds, quantity
from bayplan.objects.meta import ApiObject
from bayplan.objects.node import HOSTNAME_LABEL, Node
from bayplan.objects.pod import ZONE_LABEL, Pod
from bayplan.objects.quantity import Quantity
from bayplan.testing import parts
from bayplan.testing.parts import Expression, Manifest

Built = TypeVar("Built", bound=ApiObject)

DELETED_AT = "2026-01-01T00:00:00Z"
"""When terminating pods were deleted; no rule reads more of it than that it is there."""

_REQUIRED = "requiredDuringSchedulingIgnoredDuringExecution"
_PREFERRED = "preferredDuringSchedulingIgnoredDuringExecution"


class Builder(Generic[Built]):
    """What pod and node builders share: metadata, and how a method makes the next builder."""

    kind: type[Built]

    def __init__(self, manifest: Manifest) -> None:
        self._manifest = manifest

    def manifest(self) -> Manifest:
        """The object as one would write it in a file."""
        return copy.deepcopy(self._manifest)

    def build(self) -> Built:
        """The object, with a uid made of its name."""
        built: Built = msgspec.convert(self._identified(self.kind.__name__), self.kind)
        return built

    def _identified(self, kind: str) -> Manifest:
        manifest = copy.deepcopy(self._manifest)
        meta = manifest["metadata"]
        meta.setdefault("uid", "-".join(filter(None, (kind.lower(), meta.get("namespace"), meta["name"]))))
        return manifest

    def label(self, labels: Mapping[str, str] | None = None, /, **more: str) -> Self:
        return self._set("metadata", "labels", **parts.merged(labels, more))

    def annotation(self, annotations: Mapping[str, str] | None = None, /, **more: str) -> Self:
        return self._set("metadata", "annotations", **parts.merged(annotations, more))

    def uid(self, uid: str) -> Self:
        return self._set("metadata", uid=uid)

    def _set(self, *path: str, **values: Any) -> Self:
        """The next builder, with values set in the mapping at a path."""
        manifest = self.manifest()
        at = manifest
        for step in path:
            at = at.setdefault(step, {})
        at.update(values)
        return type(self)(manifest)

    def _append(self, *path: str, value: Any) -> Self:
        """The next builder, with one more entry in the list at a path."""
        manifest = self.manifest()
        at = manifest
        for step in path[:-1]:
            at = at.setdefault(step, {})
        at.setdefault(path[-1], []).append(value)
        return type(self)(manifest)


class ObjectBuilder(Builder[ApiObject]):
    """An object of any other kind in the making."""

    def build(self) -> ApiObject:
        kind = kinds.find(self._manifest["apiVersion"], self._manifest["kind"])
        assert kind is not None
        made: ApiObject = kinds.convert(self._identified(kind.called), kind.struct)
        return made

    def namespace(self, namespace: str) -> Self:
        return self._set("metadata", namespace=namespace)

    def set(self, **fields: Any) -> Self:
        """Fields as a manifest writes them: ``set(spec={"racks": ["r1"]})``."""
        return self._set(**fields)


class PodBuilder(Builder[Pod]):
    """A pod in the making.  It starts with one container that asks for nothing."""

    kind = Pod

    def manifest(self) -> Manifest:
        """The pod as one would write it in a file: every container has a name and an image."""
        made = super().manifest()
        for part in ("containers", "initContainers"):
            for number, each in enumerate(made["spec"].get(part, ())):
                each["name"] = each.get("name") or f"{part[:4]}-{number}"
                each["image"] = each.get("image") or "image"
        return made

    # -- who it is --

    def namespace(self, namespace: str) -> Self:
        return self._set("metadata", namespace=namespace)

    def owned_by(self, kind: str, name: str, api_version: str = "apps/v1") -> Self:
        """Looked after by this controller."""
        owner = {"apiVersion": api_version, "kind": kind, "name": name, "uid": f"{kind}-{name}"}
        return self._append("metadata", "ownerReferences", value=owner | {"controller": True})

    def terminating(self) -> Self:
        return self._set("metadata", deletionTimestamp=DELETED_AT)

    def created(self, time: str) -> Self:
        return self._set("metadata", creationTimestamp=time)

    # -- what it asks for --

    def cpu(self, amount: Quantity) -> Self:
        return self.request(cpu=amount)

    def memory(self, amount: Quantity) -> Self:
        return self.request(memory=amount)

    def scalar(self, resource: str, amount: Quantity) -> Self:
        return self.request({resource: amount})

    def request(self, amounts: Mapping[str, Quantity] | None = None, /, **more: Quantity) -> Self:
        """Requests of the first container; ``ephemeral_storage=`` stands for ``ephemeral-storage``."""
        made = self.manifest()
        first = made["spec"]["containers"][0]
        first.setdefault("resources", {}).setdefault("requests", {}).update(parts.amounts(amounts, more))
        return type(self)(made)

    def overhead(self, **amounts: Quantity) -> Self:
        return self._set("spec", "overhead", **parts.amounts(None, amounts))

    def pod_level(self, **amounts: Quantity) -> Self:
        """Requests of the pod as a whole."""
        return self._set("spec", "resources", "requests", **parts.amounts(None, amounts))

    # -- containers --

    def image(self, name: str) -> Self:
        """The image of the first container."""
        made = self.manifest()
        made["spec"]["containers"][0]["image"] = name
        return type(self)(made)

    def port(self, port: int, *, ip: str = "", protocol: str = "") -> Self:
        """A host port of the first container."""
        made = self.manifest()
        taken = {"containerPort": port, "hostPort": port, "hostIP": ip, "protocol": protocol}
        made["spec"]["containers"][0].setdefault("ports", []).append(taken)
        return type(self)(made)

    def container(self, image: str = "", **requests: Quantity) -> Self:
        """One more regular container."""
        return self._append("spec", "containers", value=parts.container(image, requests))

    def init(self, image: str = "", **requests: Quantity) -> Self:
        """An init container that ends before the others start."""
        return self._append("spec", "initContainers", value=parts.container(image, requests))

    def sidecar(self, image: str = "", *, host_port: int = 0, **requests: Quantity) -> Self:
        """An init container that keeps running."""
        made = parts.container(image, requests) | {"restartPolicy": "Always"}
        if host_port:
            made["ports"] = [{"containerPort": host_port, "hostPort": host_port}]
        return self._append("spec", "initContainers", value=made)

    def image_volume(self, reference: str) -> Self:
        return self._append("spec", "volumes", value={"name": reference, "image": {"reference": reference}})

    def claim(self, name: str) -> Self:
        """A PersistentVolumeClaim it mounts."""
        volume = {"name": name, "persistentVolumeClaim": {"claimName": name}}
        return self._append("spec", "volumes", value=volume)

    def volume(self, name: str, **source: Manifest) -> Self:
        """A volume of any kind, as manifests write it: ``volume("disk", cinder={"volumeID": "v"})``."""
        return self._append("spec", "volumes", value={"name": name} | source)

    def resource_claim(self, name: str) -> Self:
        """A ResourceClaim it uses devices of."""
        return self._append("spec", "resourceClaims", value={"name": name, "resourceClaimName": name})

    # -- where it stands in the queue --

    def priority(self, priority: int) -> Self:
        return self._set("spec", priority=priority)

    def preemption_policy(self, policy: str) -> Self:
        return self._set("spec", preemptionPolicy=policy)

    def gated(self, *gates: str) -> Self:
        return self._set("spec", schedulingGates=[{"name": name} for name in gates])

    def scheduler(self, name: str) -> Self:
        return self._set("spec", schedulerName=name)

    def nominated(self, node_name: str) -> Self:
        return self._set("status", nominatedNodeName=node_name)

    def phase(self, phase: str) -> Self:
        return self._set("status", phase=phase)

    def started(self, time: str) -> Self:
        return self._set("status", startTime=time)

    # -- which nodes --

    def on(self, node_name: str) -> Self:
        """Already on a node."""
        return self._set("spec", nodeName=node_name)

    def tolerates(self, key: str = "", value: str = "", effect: str = "", operator: str = "") -> Self:
        """Without a value any value is tolerated, without a key any taint."""
        written = {"key": key, "operator": operator or ("Equal" if value else "Exists"), "effect": effect}
        return self._append("spec", "tolerations", value=written | ({"value": value} if value else {}))

    def node_selector(self, labels: Mapping[str, str] | None = None, /, **more: str) -> Self:
        return self._set("spec", "nodeSelector", **parts.merged(labels, more))

    def requires_node(self, key: str, operator: str, *values: str) -> Self:
        """One more term of the required node affinity, with one condition; any term is enough."""
        return self.requires_node_term([(key, operator, *values)])

    def requires_node_term(self, expressions: Iterable[Expression] = (), fields: Iterable[Expression] = ()) -> Self:
        """One more term of the required node affinity; all its conditions must hold."""
        path = ("spec", "affinity", "nodeAffinity", _REQUIRED, "nodeSelectorTerms")
        return self._append(*path, value=parts.node_term(expressions, fields))

    def prefers_node(self, weight: int, key: str, operator: str, *values: str) -> Self:
        """One more preferred term of the node affinity, with one condition."""
        return self.prefers_node_term(weight, [(key, operator, *values)])

    def prefers_node_term(
        self, weight: int, expressions: Iterable[Expression] = (), fields: Iterable[Expression] = ()
    ) -> Self:
        """One more preferred term of the node affinity; all its conditions must hold."""
        term = {"weight": weight, "preference": parts.node_term(expressions, fields)}
        return self._append("spec", "affinity", "nodeAffinity", _PREFERRED, value=term)

    # -- which neighbours --
    # ``selector`` and ``ns_selector`` are labels, or None for a selector that is not written at all.

    def affinity(self, selector: Mapping[str, str] | None, topology_key: str, **more: Any) -> Self:
        """Only beside such pods.  ``more``: ``namespaces=``, ``ns_selector=``, ``expressions=``."""
        term = parts.pod_term(selector, topology_key, **more)
        return self._append("spec", "affinity", "podAffinity", _REQUIRED, value=term)

    def anti_affinity(self, selector: Mapping[str, str] | None, topology_key: str, **more: Any) -> Self:
        """Never beside such pods."""
        term = parts.pod_term(selector, topology_key, **more)
        return self._append("spec", "affinity", "podAntiAffinity", _REQUIRED, value=term)

    def prefers_pods(self, weight: int, selector: Mapping[str, str] | None, topology_key: str, **more: Any) -> Self:
        """Rather beside such pods."""
        term = {"weight": weight, "podAffinityTerm": parts.pod_term(selector, topology_key, **more)}
        return self._append("spec", "affinity", "podAffinity", _PREFERRED, value=term)

    def avoids_pods(self, weight: int, selector: Mapping[str, str] | None, topology_key: str, **more: Any) -> Self:
        """Rather not beside such pods."""
        term = {"weight": weight, "podAffinityTerm": parts.pod_term(selector, topology_key, **more)}
        return self._append("spec", "affinity", "podAntiAffinity", _PREFERRED, value=term)

    def spread(
        self,
        topology_key: str,
        max_skew: int = 1,
        *,
        hard: bool = True,
        selector: Mapping[str, str] | None = None,
        no_selector: bool = False,
        expressions: Iterable[Expression] = (),
        min_domains: int | None = None,
        node_affinity_policy: str | None = None,
        node_taints_policy: str | None = None,
        match_label_keys: Iterable[str] = (),
    ) -> Self:
        """Spread over a topology.  Without ``selector`` it counts pods labelled as this one is so far."""
        constraint: Manifest = {
            "topologyKey": topology_key,
            "maxSkew": max_skew,
            "whenUnsatisfiable": "DoNotSchedule" if hard else "ScheduleAnyway",
            "minDomains": min_domains,
            "nodeAffinityPolicy": node_affinity_policy,
            "nodeTaintsPolicy": node_taints_policy,
            "matchLabelKeys": list(match_label_keys) or None,
        }
        if not no_selector:
            counted = self._manifest["metadata"].get("labels", {}) if selector is None else selector
            constraint["labelSelector"] = parts.label_selector(counted, expressions)
        return self._append("spec", "topologySpreadConstraints", value=parts.without_none(constraint))


class NodeBuilder(Builder[Node]):
    """A node in the making.  It starts empty, with 4 CPUs, 32Gi of memory and room for 110 pods."""

    kind = Node

    def cpu(self, amount: Quantity) -> Self:
        return self.allocatable(cpu=amount)

    def memory(self, amount: Quantity) -> Self:
        return self.allocatable(memory=amount)

    def pods(self, count: int) -> Self:
        return self.allocatable(pods=count)

    def scalar(self, resource: str, amount: Quantity) -> Self:
        return self.allocatable({resource: amount})

    def allocatable(self, amounts: Mapping[str, Quantity] | None = None, /, **more: Quantity) -> Self:
        """What it has to give; ``ephemeral_storage=`` stands for ``ephemeral-storage``."""
        return self._set("status", "allocatable", **parts.amounts(amounts, more))

    def zone(self, zone: str) -> Self:
        return self.label({ZONE_LABEL: zone})

    def without_label(self, *keys: str) -> Self:
        """The hostname label, say, which every builder begins with."""
        manifest = self.manifest()
        for key in keys:
            manifest["metadata"]["labels"].pop(key, None)
        return type(self)(manifest)

    def taint(self, key: str, value: str = "", effect: str = "NoSchedule") -> Self:
        return self._append("spec", "taints", value={"key": key, "value": value, "effect": effect})

    def cordoned(self) -> Self:
        return self._set("spec", unschedulable=True)

    def image(self, names: str | Iterable[str], size: Quantity) -> Self:
        """An image it holds, under one name or several."""
        known = [names] if isinstance(names, str) else list(names)
        return self._append("status", "images", value={"names": known, "sizeBytes": quantity.value(size)})

    def condition(self, kind: str, status: str = "True") -> Self:
        return self._append("status", "conditions", value={"type": kind, "status": status})


def pod(name: str) -> PodBuilder:
    """Begin a pod, in the namespace ``default``."""
    spec = {"containers": [{"name": "main"}]}
    meta = {"name": name, "namespace": "default"}
    return PodBuilder({"apiVersion": "v1", "kind": "Pod", "metadata": meta, "spec": spec})


def node(name: str) -> NodeBuilder:
    """Begin a node."""
    manifest = {"apiVersion": "v1", "kind": "Node", "metadata": {"name": name}}
    started = NodeBuilder(manifest).label({HOSTNAME_LABEL: name})
    return started.allocatable(cpu="4", memory="32Gi", pods=110)


def api_object(kind: str, name: str, **fields: Any) -> ObjectBuilder:
    """
    Begin an object of any kind that Bayplan knows or a plugin ``reads``: ``api_object("ConfigMap", "a", data={…})``.

    It is in the namespace ``default``, unless its kind has none.
    """
    known = kinds.named(kind)
    meta = {"name": name} | ({"namespace": "default"} if known.namespaced else {})
    return ObjectBuilder({"apiVersion": known.api_version, "kind": known.name, "metadata": meta, **fields})

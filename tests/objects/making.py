"""Objects for these tests, decoded from what a manifest would hold."""

from __future__ import annotations

from typing import Any, TypeVar, cast

from bayplan.objects import kinds
from bayplan.objects.meta import ApiObject
from bayplan.objects.node import Node
from bayplan.objects.pod import Pod

T = TypeVar("T", bound=ApiObject)


def make_pod(
    spec: dict[str, Any] | None = None,
    *,
    name: str = "web",
    namespace: str = "shop",
    labels: dict[str, str] | None = None,
    status: dict[str, Any] | None = None,
    **metadata: Any,
) -> Pod:
    raw = {
        "apiVersion": "v1",
        "kind": "Pod",
        "metadata": {"name": name, "namespace": namespace, "labels": labels or {}, **metadata},
        "spec": spec or {},
        "status": status or {},
    }
    return cast(Pod, kinds.decode(raw))


def make_node(name: str = "n1", **parts: Any) -> Node:
    meta = {"name": name, **parts.pop("metadata", {})}
    return cast(Node, kinds.decode({"apiVersion": "v1", "kind": "Node", "metadata": meta, **parts}))


def make(struct: type[T], **raw: Any) -> T:
    """Any other kind, decoded without looking at its apiVersion."""
    return cast(T, kinds.convert({"metadata": {"name": "x"}, **raw}, struct))


def container(name: str = "c", /, *, restart: Any = None, limits: Any = None, **requests: Any) -> dict[str, Any]:
    """A container with requests; ``cpu="1"`` and friends."""
    made: dict[str, Any] = {"name": name, "resources": {"requests": requests}}
    if limits is not None:
        made["resources"]["limits"] = limits
    if restart is not None:
        made["restartPolicy"] = restart
    return made

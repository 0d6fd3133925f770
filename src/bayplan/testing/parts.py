"""Parts of manifests that ``testing.builders`` puts together: amounts, containers, selectors, terms."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import Any

from bayplan.objects.quantity import Quantity

Manifest = dict[str, Any]

Expression = tuple[str, ...]
"""One condition of a selector: ``("zone", "In", "a", "b")``, ``("gpu", "Exists")``."""


def merged(one: Mapping[str, str] | None, more: Mapping[str, str]) -> dict[str, str]:
    return {**(one or {}), **more}


def amounts(one: Mapping[str, Quantity] | None, more: Mapping[str, Quantity]) -> dict[str, Quantity]:
    return {**(one or {}), **{name.replace("_", "-"): amount for name, amount in more.items()}}


def container(image: str, requests: Mapping[str, Quantity]) -> Manifest:
    return {"image": image, "resources": {"requests": amounts(None, requests)}}


def conditions(expressions: Iterable[Expression]) -> list[Manifest]:
    return [{"key": key, "operator": op, "values": values or None} for key, op, *values in expressions]


def node_term(expressions: Iterable[Expression], fields: Iterable[Expression]) -> Manifest:
    return {"matchExpressions": conditions(expressions), "matchFields": conditions(fields)}


def label_selector(labels: Mapping[str, str] | None, expressions: Iterable[Expression] = ()) -> Manifest | None:
    """A selector, or None (which matches nothing) for labels that are None."""
    if labels is None:
        return None
    return {"matchLabels": dict(labels), "matchExpressions": conditions(expressions)}


def pod_term(
    selector: Mapping[str, str] | None,
    topology_key: str,
    *,
    namespaces: Iterable[str] = (),
    ns_selector: Mapping[str, str] | None = None,
    ns_expressions: Iterable[Expression] = (),
    expressions: Iterable[Expression] = (),
) -> Manifest:
    in_namespaces = {} if ns_selector is None and ns_expressions else ns_selector
    return {
        "labelSelector": label_selector(selector, expressions),
        "topologyKey": topology_key,
        "namespaces": list(namespaces) or None,
        "namespaceSelector": label_selector(in_namespaces, ns_expressions),
    }


def without_none(written: Manifest) -> Manifest:
    return {key: value for key, value in written.items() if value is not None}

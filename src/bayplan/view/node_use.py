"""What nodes really use, as the annotations say that carry their load."""

from __future__ import annotations

from bayplan.framework.snapshot import NodeTable
from bayplan.objects.load_estimate import resource_of
from bayplan.objects.node import Node
from bayplan.objects.resources import CPU, MEMORY
from bayplan.objects.third_party import crane_annotations
from bayplan.view.cluster_view import Used


def used_by_annotations(nodes: NodeTable) -> Used | None:
    """By resource and row; None if no node says anything.  Of several metrics of a resource the newest counts."""
    columns: dict[str, list[float | None]] = {CPU: [], MEMORY: []}
    for row in range(len(nodes)):
        node = nodes.object_at(row)
        shares = _shares(node)
        for resource, column in columns.items():
            share = shares.get(resource)
            column.append(None if share is None else round(share * node.allocatable.get(resource)))
    is_known = any(value is not None for column in columns.values() for value in column)
    return columns if is_known else None


def _shares(node: Node) -> dict[str, float]:
    found: dict[str, crane_annotations.Reading] = {}
    for metric, text in node.annotations.items():
        resource = resource_of(metric)
        reading = crane_annotations.read(text) if resource is not None else None
        if resource is not None and reading is not None and (resource not in found or reading.at > found[resource].at):
            found[resource] = reading
    return {resource: reading.value for resource, reading in found.items() if reading.value < float("inf")}

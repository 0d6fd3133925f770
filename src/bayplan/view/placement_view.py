"""What ``bayplan place`` shows: each placement's story, and the fleet by region and zone with what was chosen."""

from __future__ import annotations

from collections.abc import Iterable, Sequence

from bayplan.objects.meta import ApiObject
from bayplan.objects.third_party.placement import ManagedCluster
from bayplan.view.documents import Document, Origin, fact, view
from bayplan.view.texts import shown, shown_all

REGIONS = ("topology.kubernetes.io/region", "region", "region.open-cluster-management.io")
ZONES = ("topology.kubernetes.io/zone", "zone")
"""Labels or claims that say where a cluster is, the first that it has."""
MOST_NAMES = 200
"""Names of clusters that are told for each zone, or for each step of a filter."""


def placement_view(documents: Sequence[Document], objects: Iterable[ApiObject], origin: Origin) -> Document:
    """The ``View`` of some placements over one fleet."""
    things = list(objects)
    clusters = sum(isinstance(each, ManagedCluster) for each in things)
    return view(origin, facts=placement_facts(documents, clusters), placements=placements_of(documents, things))


def placement_facts(documents: Sequence[Document], clusters: int) -> list[Document]:
    """How many of them have what they ask for, of a fleet of so many clusters."""
    satisfied = sum(each["conditions"][0]["status"] == "True" for each in documents)
    return [
        fact("Placements satisfied", f"{satisfied} of {len(documents)}", good=satisfied == len(documents)),
        fact("Clusters", clusters),
    ]


def placements_of(documents: Iterable[Document], objects: Iterable[ApiObject]) -> list[Document]:
    """Each with the fleet by region and zone."""
    fleet = [each for each in objects if isinstance(each, ManagedCluster)]
    return [_placement(each, fleet) for each in documents]


def _placement(document: Document, fleet: Sequence[ManagedCluster]) -> Document:
    lost = set(document.get("without", {}).get("clusters", ()))
    left = [each for each in fleet if each.name not in lost]
    filters = [
        {**each, "droppedClusters": each.get("droppedClusters", [])[:MOST_NAMES]} for each in document["filters"]
    ]
    chosen = {each["clusterName"] for each in document["decisions"]}
    told: Document = shown_all({**document, "filters": filters})
    return {**told, "byRegion": by_region(left, chosen)}


def by_region(fleet: Iterable[ManagedCluster], chosen: set[str]) -> list[Document]:
    """How many clusters each zone has, and which of them were chosen."""
    found: dict[str, dict[str, list[str]]] = {}
    for cluster in fleet:
        zones = found.setdefault(_where(cluster, REGIONS), {})
        zones.setdefault(_where(cluster, ZONES), []).append(cluster.name)
    return [
        {
            "region": shown(region),
            "zones": [
                {
                    "zone": shown(zone),
                    "clusters": len(names),
                    "chosen": [shown(name) for name in sorted(names) if name in chosen],
                }
                for zone, names in sorted(zones.items())
            ],
        }
        for region, zones in sorted(found.items())
    ]


def _where(cluster: ManagedCluster, keys: Sequence[str]) -> str:
    said = {**cluster.claims, **cluster.labels}
    return next((said[key] for key in keys if said.get(key)), "")

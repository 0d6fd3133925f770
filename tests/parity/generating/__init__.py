"""Random clusters that exercise every scheduling rule; the same seed gives the same cluster, byte for byte.

``oracle.py`` shows them to the real kube-scheduler. Nothing here needs a server. The cluster is built in layers:
``nodes``, ``policies`` (namespaces, classes, budgets, services, owners), ``pods`` (from ``resources`` and
``constraints``). A new kind of rule is one more module with one more entry in ``pods.FEATURES`` and its objects
added in ``generate``. Storage (``volumes``, ``mounting``) and devices (``devices``, ``device_*``) come with seeds of
their own.
"""

from __future__ import annotations

from random import Random

from tests.parity.generating.cluster import Cluster, World
from tests.parity.generating.device_style import FIRST_DEVICE_SEED
from tests.parity.generating.devices import generate_devices
from tests.parity.generating.mounting import mount
from tests.parity.generating.nodes import make_nodes
from tests.parity.generating.pods import free_ports_held_twice, make_bound_pods, make_pending_pods
from tests.parity.generating.policies import make_budgets, make_classes, make_namespaces, make_owners
from tests.parity.generating.style import FIRST_FULL_SEED, pick_style
from tests.parity.generating.volumes import Storage, make_storage

__all__ = ["Cluster", "generate"]


def generate(seed: int) -> Cluster:
    """The cluster of this seed."""
    if seed >= FIRST_DEVICE_SEED:
        return generate_devices(seed)
    rng = Random(seed)
    style = pick_style(seed)
    nodes = make_nodes(rng, style)
    world = World(style=style, nodes=nodes)
    objects = [*make_namespaces(rng), *make_classes(rng), *nodes, *make_owners(rng), *make_budgets(rng)]
    bound = make_bound_pods(rng, world)
    if seed >= FIRST_FULL_SEED:
        free_ports_held_twice(bound)
    pending = make_pending_pods(rng, world)
    storage = make_storage(rng, world) if style.storage else Storage()
    own_claims = mount(rng, world, storage, [*bound, *pending]) if style.storage else {}
    return Cluster(
        name=f"{seed:04}",
        style=style.name,
        objects=[*objects, *storage.objects],
        bound=bound,
        pending=pending,
        terminating=world.terminating,
        deleting=storage.deleting,
        own_claims=own_claims,
    )

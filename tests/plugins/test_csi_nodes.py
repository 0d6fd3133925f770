"""What CSINodes and attachments say, by row, while nodes and objects come, change and go."""

from __future__ import annotations

from random import Random

import pytest

from bayplan.engine.cache import ClusterCache
from bayplan.objects.volume import MIGRATED_PLUGINS
from bayplan.plugins.csi_nodes import NO_LIMIT, Attachments, CSINodes
from bayplan.testing import cluster, node
from tests.plugins.storage import attachment, csi_node

NAMES = [f"n{number}" for number in range(5)]


def check(cache: ClusterCache, csi_nodes: CSINodes, attachments: Attachments) -> None:
    """Every column equals what one would get by looking each node up."""
    nodes, objects = cache.nodes, cache.objects
    known = [objects.get("CSINode", "", name) for name in nodes.names]
    attached = [each.spec.node_name for each in objects.list("VolumeAttachment")]
    assert csi_nodes.known(nodes).tolist() == [each is not None for each in known]
    assert csi_nodes.migrated(nodes, "p").tolist() == [bool(each and "p" in each.migrated_plugins) for each in known]
    for driver in ("d", "e"):
        expected = [each.limits.get(driver, NO_LIMIT) if each else NO_LIMIT for each in known]
        assert csi_nodes.limits(nodes, driver).tolist() == expected
    assert attachments.counts(nodes).tolist() == [attached.count(name) for name in nodes.names]
    for name in NAMES:
        assert len(attachments.on(name)) == attached.count(name)


def change(rng: Random, cache: ClusterCache) -> None:
    name, objects = rng.choice(NAMES), cache.objects
    match rng.randrange(6):
        case 0:
            cache.add_node(node(name).build())
        case 1:
            cache.remove_node(name)
        case 2:
            annotations = {MIGRATED_PLUGINS: rng.choice(["p", "q", "p,q"])}
            limits = {driver: rng.choice([None, 0, 3]) for driver in rng.sample("de", rng.randrange(3))}
            objects.put("CSINode", "", name, csi_node(name, limits, annotations=annotations))
        case 3:
            objects.drop("CSINode", "", name)
        case 4:
            number = f"a{rng.randrange(4)}"
            objects.put("VolumeAttachment", "", number, attachment(number, name, "v"))
        case _:
            objects.drop("VolumeAttachment", "", f"a{rng.randrange(4)}")


@pytest.mark.parametrize("seed", range(10))
def test_columns_follow_every_change(seed: int) -> None:
    rng, cache = Random(seed), cluster([node("n0"), node("n1")])
    csi_nodes, attachments = CSINodes(cache.objects), Attachments(cache.objects)
    for _ in range(40):
        for _ in range(rng.randrange(4)):
            change(rng, cache)
        check(cache, csi_nodes, attachments)


def test_two_of_them_on_one_table_do_not_mix_their_numbers_up() -> None:
    cache = cluster([node("n1"), node("n2")], [], [csi_node("n2", {"d": 1})])
    first, second = CSINodes(cache.objects), CSINodes(cache.objects)
    assert first.limits(cache.nodes, "d").tolist() == second.limits(cache.nodes, "d").tolist() == [NO_LIMIT, 1]


def test_one_node_alone_says_the_same() -> None:
    cache = cluster([node("n1"), node("n2")], [], [csi_node("n2", {"d": 1}), attachment("a", "n2", "v")])
    alone = cache.nodes.node(1).as_table()
    assert CSINodes(cache.objects).limits(alone, "d").tolist() == [1]
    assert Attachments(cache.objects).counts(alone).tolist() == [1]

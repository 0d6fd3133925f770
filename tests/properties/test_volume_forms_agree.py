"""
The volume plugins say the same in both forms, on clusters with volumes in every state.

The clusters are those that parity shows to the real scheduler, so that they reach every rule.
"""

from __future__ import annotations

from functools import cache
from typing import Any

import pytest

from bayplan.engine.cache import ClusterCache
from bayplan.framework import Plugin
from bayplan.objects.admission.defaulting import Classes, default_object
from bayplan.objects.kinds import decode
from bayplan.objects.node import Node
from bayplan.objects.pod import Pod
from bayplan.plugins.node_volume_limits import NodeVolumeLimits
from bayplan.plugins.volume_binding import VolumeBinding
from bayplan.plugins.volume_restrictions import VolumeRestrictions
from bayplan.plugins.volume_zone import VolumeZone
from bayplan.testing import cluster, make
from bayplan.testing.agreement import assert_forms_agree
from tests.parity.generating import generate
from tests.parity.generating.style import FIRST_STORAGE_SEED
from tests.parity.oracle import owned_by

PLUGINS = [VolumeRestrictions, NodeVolumeLimits, VolumeBinding, VolumeZone]


@cache
def world(seed: int) -> tuple[ClusterCache, list[Pod]]:
    made = generate(FIRST_STORAGE_SEED + seed)
    things = [decode(each) for each in made.objects]
    classes = Classes.among(things)
    pods = [default_object(decode(each), classes) for each in (*made.bound, *made.pending)]
    claims = [
        decode(owned_by(each, {"metadata": {"uid": pod.uid}}))
        for pod in pods
        for each in made.own_claims.get(pod.name, ())
    ]
    things = [default_object(each, classes) for each in (*things, *claims)]
    nodes: list[Any] = [each for each in things if isinstance(each, Node)]
    placed: list[Any] = [each for each in pods if isinstance(each, Pod) and each.node_name]
    others = [each for each in things if not isinstance(each, Node)]
    return cluster(nodes, placed, others), [each for each in pods if isinstance(each, Pod) and not each.node_name]


@pytest.mark.parametrize("seed", range(12))
@pytest.mark.parametrize("plugin", PLUGINS, ids=lambda plugin: plugin.name)
def test_both_forms_agree_on_clusters_with_storage(plugin: type[Plugin], seed: int) -> None:
    cache, pods = world(seed)
    assert_forms_agree(make(plugin, cache), pods, cache)

"""
NodeDeclaredFeatures: which specs need a feature, which nodes have it, what brings a pod back.
"""

from __future__ import annotations

import msgspec
import pytest

from bayplan.framework import Change
from bayplan.objects.node import Node
from bayplan.objects.pod import Container, ContainerRestartRule, Pod
from bayplan.plugins.node_declared_features import (
    HOST_NETWORK_USER_NAMESPACE,
    LACKS_FEATURE,
    RESTART_ALL_CONTAINERS,
    NodeDeclaredFeatures,
)
from bayplan.testing import assert_forms_agree, cluster, make, node, pod, run_filter

RULE = (ContainerRestartRule(action="RestartAllContainers"),)


def with_spec(**changes: object) -> Pod:
    plain = pod("p").build()
    return plain.evolve(spec=msgspec.structs.replace(plain.spec, **changes))


def declaring(name: str, *features: str) -> Node:
    plain = node(name).build()
    return plain.evolve(status=msgspec.structs.replace(plain.status, declared_features=features))


PLAIN = pod("plain").build()
RESTARTS = with_spec(containers=(Container(name="c", restart_policy_rules=RULE),))
INIT_RESTARTS = with_spec(init_containers=(Container(name="i", restart_policy_rules=RULE),))
HOST_USERS = with_spec(host_network=True, host_users=False)


@pytest.mark.parametrize(
    ("case", "incoming", "fits"),
    [
        ("a plain pod fits everywhere", PLAIN, {"none", "restart", "users"}),
        ("a restart-all rule needs the feature", RESTARTS, {"restart"}),
        ("init containers count too", INIT_RESTARTS, {"restart"}),
        ("host network with own users needs its feature", HOST_USERS, {"users"}),
        ("host network alone needs nothing", with_spec(host_network=True), {"none", "restart", "users"}),
    ],
)
def test_a_pod_goes_only_where_its_features_are(case: str, incoming: Pod, fits: set[str]) -> None:
    cache = cluster(
        nodes=[
            declaring("none"),
            declaring("restart", RESTART_ALL_CONTAINERS),
            declaring("users", HOST_NETWORK_USER_NAMESPACE),
        ]
    )
    plugin = make(NodeDeclaredFeatures, cache)

    answers = run_filter(plugin, incoming, cache)

    assert {name for name, status in answers.items() if status is None} == fits, case
    assert {status.message for status in answers.values() if status} <= {LACKS_FEATURE.text}
    assert_forms_agree(plugin, [incoming], cache)


@pytest.mark.parametrize(
    ("case", "old", "new", "expected"),
    [
        ("a new node", None, declaring("n"), True),
        ("other features", declaring("n"), declaring("n", RESTART_ALL_CONTAINERS), True),
        ("the same features", declaring("n"), declaring("n"), False),
    ],
)
def test_a_node_brings_a_pod_back_when_it_declares_something_else(
    case: str, old: Node | None, new: Node, expected: bool
) -> None:
    on_node = next(on for on in NodeDeclaredFeatures().requeue_on() if on.kind == "Node")

    assert on_node.change == Change.ADDED | Change.DECLARED_FEATURE
    assert on_node.hint is not None
    assert on_node.hint(RESTARTS, old, new) is expected, case


def test_only_the_pods_own_new_requirements_bring_it_back() -> None:
    on_pod = next(on for on in NodeDeclaredFeatures().requeue_on() if on.kind == "Pod")
    plain = RESTARTS.evolve(spec=PLAIN.spec)
    assert on_pod.hint is not None

    assert on_pod.hint(RESTARTS, RESTARTS, plain)
    assert not on_pod.hint(RESTARTS, RESTARTS, RESTARTS)
    assert not on_pod.hint(PLAIN, RESTARTS, plain)

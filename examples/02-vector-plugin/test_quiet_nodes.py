"""Both forms agree on random clusters, and the quieter node is worth more."""

from random import Random

from quiet_nodes import QuietNodes

from bayplan.testing import (
    assert_forms_agree,
    assert_promises_hold,
    cluster,
    make,
    node,
    pod,
    random_cluster,
    random_pod,
    run_score,
)


def test_both_forms_agree():
    rng = Random(1)
    cache = random_cluster(rng, nodes=30, pods=60)
    assert_forms_agree(make(QuietNodes, cache), [random_pod(rng, f"p{number}") for number in range(10)], cache)


def test_the_quieter_node_is_worth_more():
    residents = [pod(f"p{number}").on("busy") for number in range(5)]
    cache = cluster([node("busy").pods(10), node("idle").pods(10), node("full").pods(0)], residents)
    assert run_score(make(QuietNodes, cache), pod("new"), cache) == {"busy": 50, "idle": 100, "full": 0}


def test_promises_hold():
    assert_promises_hold(QuietNodes)

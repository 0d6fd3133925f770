"""Two configurations on one cluster: what they come to, who does better, and which plugin tipped each pod."""

from __future__ import annotations

from typing import Any

from bayplan.simulator.comparison.comparing import Run, afresh, compare, nodes_of
from bayplan.simulator.loading import Given, documents_of, load
from bayplan.simulator.weights import reweighted
from tests.simulator.support import START, ZONE, Manifest, config, node, pod, workload
from tests.simulator.what_if.asking import on

NODES = [node("n1", labels={ZONE: "a"}), node("n2", labels={ZONE: "b"}), node("n3", labels={ZONE: "a"})]
FIT = {"type": "MostAllocated", "resources": [{"name": "cpu", "weight": 1}]}


def profile(**more: Any) -> Manifest:
    return config() | {"profiles": [{"schedulerName": "default-scheduler", **more}]}


PACKING = profile(pluginConfig=[{"name": "NodeResourcesFit", "args": {"scoringStrategy": FIT}}],
                  plugins={"score": {"disabled": [{"name": "NodeResourcesBalancedAllocation"}, {"name": "PodTopologySpread"}]}})  # fmt: skip


def given(*manifests: Manifest) -> Given:
    return load(documents_of(manifests))


def compared(
    objects: list[Manifest], *configs: Manifest | None, prices: dict[str, float] | None = None
) -> dict[str, Any]:
    runs = []
    for name, each in zip("ABC", configs, strict=False):
        made = given(*objects, *([each] if each is not None else []))
        runs.append(Run(name, made, nodes_of(made)))
    return compare(runs, prices=prices or {}, now=START)


def by_name(document: dict[str, Any]) -> dict[str, dict[str, Any]]:
    return {each["name"]: each for each in document["runs"]}


def test_packing_uses_fewer_nodes_and_is_marked_for_it() -> None:
    objects = [*NODES, pod("there", "1", nodeName="n1"), *(pod(f"p{number}", "500m") for number in range(4))]
    document = compared(objects, None, PACKING)
    runs = by_name(document)
    assert (runs["A"]["nodesUsed"], runs["B"]["nodesUsed"]) == (3, 1)
    assert document["better"]["nodesUsed"] == ["B"]
    assert document["better"]["balance.cpu"] == ["A"]
    assert "bound" not in document["better"]


def test_the_plugin_that_tipped_a_pod_is_named() -> None:
    objects = [*NODES, pod("there", "1", nodeName="n1"), pod("next", "1")]
    (differ,) = compared(objects, None, PACKING)["differ"]
    assert (differ["name"], differ["B"], differ["because"]) == ("next", "n1", "NodeResourcesFit")
    assert differ["A"] in ("n2", "n3")


def test_a_filter_that_only_one_of_them_has_is_named() -> None:
    without = profile(plugins={"multiPoint": {"disabled": [{"name": "NodeAffinity"}]}})
    document = compared([*NODES, pod("choosy", nodeSelector={ZONE: "b"})], None, without)
    for differ in document["differ"]:
        assert (differ["A"], differ["because"]) == ("n2", "NodeAffinity")


def test_a_pod_that_waits_in_one_of_them_differs() -> None:
    without = profile(plugins={"multiPoint": {"disabled": [{"name": "NodeAffinity"}]}})
    document = compared([node("n1"), pod("choosy", nodeSelector={"disk": "ssd"})], without, None)
    assert document["differ"] == [
        {"namespace": "default", "name": "choosy", "A": "n1", "B": None, "because": "NodeAffinity"}
    ]
    assert document["better"]["pending"] == ["A"]


def test_equal_configurations_differ_in_nothing() -> None:
    document = compared([*NODES, workload("Deployment", "web", "500m", replicas=7)], None, None)
    assert (document["differ"], document["better"]) == ([], {})


def test_pods_placed_anew_count_as_moved() -> None:
    objects = [*NODES, workload("ReplicaSet", "web", "1", replicas=3), *(on(f"web-{n}", "n1", "web") for n in range(3))]
    before = given(*objects)
    runs = [Run("as-is", before, nodes_of(before)), Run("anew", afresh(before), nodes_of(before))]
    document = compare(runs, prices={}, now=START)
    assert [each["moved"] for each in document["runs"]] == [0, 2]


def test_prices_go_by_the_kind_of_node() -> None:
    typed = [node("n1", labels={"node.kubernetes.io/instance-type": "m5"}), node("n2")]
    document = compared([*typed, pod("a", nodeName="n1"), pod("b", nodeName="n2")], None, None, prices={"m5": 0.5})
    assert [each["cost"] for each in document["runs"]] == [1.5, 1.5]


def test_other_weights_are_another_run() -> None:
    objects = [*NODES, pod("there", "1", nodeName="n1", meta={"labels": {"app": "web"}}), pod("next", "1")]
    base = given(*objects)
    other = reweighted(base, {"NodeResourcesFit": 100}, "--weights")
    assert base.config is None
    assert other.config is not None
    assert {(each.name, each.weight) for each in other.config.profiles[0].plugins.score.enabled} == {
        ("NodeResourcesFit", 100)
    }
    document = compare([Run("A", base), Run("B", other)], prices={}, now=START)
    assert document["differ"] == []

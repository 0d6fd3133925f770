"""What is written for a decision: pages that gain before pages that lose, and nothing twice."""

from __future__ import annotations

import random
from typing import Any

import msgspec
import pytest

from bayplan.objects import kinds
from bayplan.objects.meta import LabelSelector, ObjectMeta
from bayplan.objects.third_party import placement as api
from bayplan.objects.toleration import Taint
from bayplan.placement.decision_writes import Create, Delete, PatchStatus, Update, Write, writes_for
from bayplan.placement.events import Applied, Deleted
from bayplan.placement.state import PlacementState
from tests.placement.fleet_building import NAMESPACE, cluster, constraint, placement, state_of

KEY, NOW = f"{NAMESPACE}/p", "2026-01-31T10:00:00Z"


class Hub:
    """Carries writes out as an API server would, and notes every step."""

    def __init__(self) -> None:
        self.pages: dict[str, api.PlacementDecision] = {}
        self.status = api.PlacementStatus()
        self.moments: list[set[str]] = []
        """Which clusters were on some page after every write of the last round."""

    def publish(self, state: PlacementState) -> list[Write]:
        evaluation = state.evaluation(KEY)
        current = evaluation.plan.placement.evolve(status=self.status)
        writes = writes_for(evaluation, current, list(self.pages.values()), NOW)
        self.moments = []
        for write in writes:
            self._carry_out(write)
            self.moments.append(self.clusters())
        return writes

    def clusters(self) -> set[str]:
        return {name for page in self.pages.values() for name in page.clusters}

    def _carry_out(self, write: Write) -> None:
        match write:
            case Create(manifest, status):
                thing = kinds.decode(manifest | {"status": status})
                assert isinstance(thing, api.PlacementDecision)
                self.pages[thing.name] = thing
            case Update(name, metadata, status):
                page = self.pages[name]
                if metadata is not None:
                    patched = _metadata(name, metadata)
                    page = page.evolve(metadata=patched)
                if status is not None:
                    made = tuple(
                        api.ClusterDecision(cluster_name=each["clusterName"], reason=each["reason"])
                        for each in status["decisions"]
                    )
                    page = page.evolve(status=api.PlacementDecisionStatus(decisions=made))
                self.pages[name] = page
            case Delete(name):
                del self.pages[name]
            case PatchStatus(status):
                raw = {"apiVersion": f"{api.GROUP}/v1beta1", "kind": "Placement", "metadata": {"name": "p"}}
                held = kinds.decode(raw | {"status": msgspec.to_builtins(self.status) | status})
                assert isinstance(held, api.Placement)
                self.status = held.status


def _metadata(name: str, patch: dict[str, Any]) -> ObjectMeta:
    """What a merge patch leaves; what it sets to nothing goes."""
    annotations = {key: value for key, value in patch.get("annotations", {}).items() if value is not None}
    return msgspec.convert({"name": name, "namespace": NAMESPACE, **patch, "annotations": annotations}, ObjectMeta)


def names(count: int, start: int = 0) -> list[str]:
    return [f"c{number:03d}" for number in range(start, start + count)]


def test_a_new_placement_gets_its_pages_and_status() -> None:
    hub = Hub()
    writes = hub.publish(state_of(*(cluster(name) for name in names(150)), placement()))
    assert [type(each) for each in writes] == [Create, Create, PatchStatus]
    assert sorted(hub.pages) == ["p-decision-1", "p-decision-2"]
    assert hub.status.number_of_selected_clusters == 150
    (group,) = hub.status.decision_groups or ()
    assert (group.cluster_count, group.decisions) == (150, ("p-decision-1", "p-decision-2"))


def test_nothing_changed_is_nothing_written() -> None:
    hub, state = Hub(), state_of(cluster("a"), placement())
    hub.publish(state)
    assert hub.publish(state) == []


def test_nobody_is_lost_on_the_way_when_clusters_come_and_go() -> None:
    hub, state = Hub(), state_of(*(cluster(name) for name in names(250)), placement())
    hub.publish(state)
    stay = set(names(250)) - {"c000", "c120"}
    state.handle_all(
        [Deleted(cluster("c000")), Deleted(cluster("c120")), *(Applied(cluster(n)) for n in names(3, 900))]
    )
    writes = hub.publish(state)
    assert hub.clusters() == stay | set(names(3, 900))
    # Every page keeps who was on it, so at no moment is one of them missing.
    assert not any(isinstance(each, Create | Delete) for each in writes)


def test_a_page_that_is_dissolved_goes_after_its_clusters_are_elsewhere() -> None:
    hub, state = Hub(), state_of(*(cluster(name) for name in names(150)), placement())
    hub.publish(state)
    state.handle_all(Deleted(cluster(name)) for name in names(90))
    writes = hub.publish(state)
    kinds_written = [type(each) for each in writes]
    assert kinds_written == [Update, Delete, PatchStatus]
    assert hub.clusters() == set(names(60, 90))


def test_replicas_are_in_the_annotation_of_their_page() -> None:
    hub = Hub()
    hub.publish(state_of(cluster("a"), cluster("b"), placement(annotations={api.REPLICAS_ANNOTATION: "5"})))
    (page,) = hub.pages.values()
    assert page.annotations["placement.bayplan.io/replicas-by-cluster"] == '{"a": 3, "b": 2}'


def test_a_mistake_changes_the_status_and_no_page() -> None:
    hub, state = Hub(), state_of(cluster("a"), placement())
    hub.publish(state)
    state.handle(Applied(placement("p", -1)))
    (write,) = hub.publish(state)
    assert isinstance(write, PatchStatus)
    assert hub.clusters() == {"a"}
    assert {each.type: each.status for each in hub.status.conditions or ()}["PlacementMisconfigured"] == "True"


def test_clusters_that_change_places_between_two_groups_are_always_on_some_page() -> None:
    selector = api.ClusterSelector(label_selector=LabelSelector(match_labels={"canary": "yes"}))
    groups = api.GroupStrategy(
        decision_groups=(api.DecisionGroup(group_name="canary", group_cluster_selector=selector),)
    )
    wanted = placement("p", decision_strategy=api.DecisionStrategy(group_strategy=groups))
    hub, state = Hub(), state_of(cluster("a", {"canary": "yes"}), cluster("b"), wanted)
    hub.publish(state)
    state.handle_all([Applied(cluster("a")), Applied(cluster("b", {"canary": "yes"}))])
    hub.publish(state)
    assert all({"a", "b"} <= moment for moment in hub.moments)
    assert {page.labels[api.GROUP_NAME_LABEL]: page.clusters for page in hub.pages.values()} == {
        "canary": ("b",),
        "": ("a",),
    }


def test_labels_and_owner_that_somebody_edited_are_put_right() -> None:
    hub, state = Hub(), state_of(cluster("a"), placement())
    hub.publish(state)
    (page,) = hub.pages.values()
    edited = msgspec.structs.replace(page.metadata, labels={api.PLACEMENT_LABEL: "other"}, owner_references=None)
    hub.pages[page.name] = page.evolve(metadata=edited)
    (write,) = hub.publish(state)
    assert isinstance(write, Update)
    assert write.metadata is not None
    assert write.metadata["labels"][api.PLACEMENT_LABEL] == "p"
    assert [each["name"] for each in write.metadata["ownerReferences"]] == ["p"]


def test_replicas_that_are_no_longer_asked_for_leave_the_annotation() -> None:
    hub, state = Hub(), state_of(cluster("a"), placement(annotations={api.REPLICAS_ANNOTATION: "5"}))
    hub.publish(state)
    state.handle(Applied(placement()))
    write = hub.publish(state)[0]
    assert isinstance(write, Update)
    assert write.metadata is not None
    assert write.metadata["annotations"] == {"placement.bayplan.io/replicas-by-cluster": None}


def test_a_page_with_a_foreign_name_goes_and_does_not_disturb_the_numbers() -> None:
    hub, state = Hub(), state_of(cluster("a"), placement())
    hub.publish(state)
    (page,) = hub.pages.values()
    hub.pages["q-decision-1"] = page.evolve(metadata=msgspec.structs.replace(page.metadata, name="q-decision-1"))
    assert hub.publish(state) == [Delete("q-decision-1")]


@pytest.mark.parametrize("seed", range(4))
def test_whatever_happens_who_stays_chosen_is_on_some_page_after_every_write(seed: int) -> None:
    pick = random.Random(seed)
    selector = api.ClusterSelector(label_selector=LabelSelector(match_labels={"canary": "yes"}))
    groups = api.GroupStrategy(
        decision_groups=(api.DecisionGroup(group_name="canary", group_cluster_selector=selector),),
        clusters_per_decision_group=pick.choice(("100%", "30%", 45)),
    )
    strategy = api.DecisionStrategy(group_strategy=groups)
    tainted = (Taint(key="t", effect=api.NO_SELECT),)
    fleet = {name: cluster(name, {"region": pick.choice("abc")}) for name in names(260)}
    wanted = placement("p", pick.choice((None, 150)), constraint("region", skew=2), decision_strategy=strategy)
    hub, state = Hub(), state_of(*fleet.values(), wanted)
    hub.publish(state)
    for _ in range(15):
        before = set(state.clusters(KEY))
        for name in pick.sample(sorted(fleet), 4):
            labels = {"region": pick.choice("abc"), "canary": pick.choice(("yes", "no"))}
            fleet[name] = cluster(name, labels, taints=pick.choice(((), (), tainted)))
            state.handle(Applied(fleet[name]))
        after = set(state.clusters(KEY))
        hub.publish(state)
        assert all(before & after <= moment for moment in hub.moments)
        assert hub.clusters() == after
        assert all(len(page.clusters) <= 100 for page in hub.pages.values())
        assert hub.publish(state) == []

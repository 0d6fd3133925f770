"""Plugins of one's own over clusters: found, given args, asked again when they must be, and told of when they fail."""

from __future__ import annotations

from importlib.metadata import EntryPoint
from typing import Any, ClassVar

import pytest
from pydantic import BaseModel

from bayplan.errors import ConfigError, DuplicatePluginError
from bayplan.objects.third_party import placement as api
from bayplan.placement import explaining
from bayplan.placement.cluster_plugin import ClusterFilterPlugin, ClusterPlugin, ClusterScorePlugin, claim, label
from bayplan.placement.evaluation import RETRY_S
from bayplan.placement.events import Applied, TimePassed
from bayplan.placement.own_plugins import GROUP, OwnPlugins, own_plugins
from bayplan.placement.state import PlacementState
from tests.placement.fleet_building import bound_set, cluster, placement

KEY = "web/p"
PLUGINS = api.PLUGINS_ANNOTATION


class Level(BaseModel):
    least: int = 1


class Good(ClusterFilterPlugin):
    name = "Good"
    Args = Level
    reads = (label("good"),)
    asked: ClassVar[list[str]] = []

    def filter(self, cluster: api.ManagedCluster, placement: api.Placement) -> bool:
        self.asked.append(cluster.name)
        return int(cluster.labels.get("good", "0")) >= self.args.least


class ByClaim(ClusterScorePlugin):
    name = "ByClaim"
    reads = (claim("score"),)

    def score(self, cluster: api.ManagedCluster, placement: api.Placement) -> int:
        return int(cluster.claims.get("score", "0"))


def state_with(
    *things: Any, classes: tuple[type[ClusterPlugin], ...], everywhere: tuple[str, ...] = ()
) -> PlacementState:
    state = PlacementState(0.0, plugins=OwnPlugins(classes, everywhere))
    state.load([*bound_set(), *things])
    return state


def fleet() -> list[Any]:
    return [cluster("a", {"good": "1"}), cluster("b", {"good": "2"}), cluster("c")]


def test_a_filter_of_the_command_line_holds_for_every_placement() -> None:
    state = state_with(*fleet(), placement(), placement("q"), classes=(Good,), everywhere=("Good",))
    assert state.clusters(KEY) == state.clusters("web/q") == ("a", "b")


def test_a_filter_that_is_only_known_holds_for_placements_that_name_it() -> None:
    named = placement("q", annotations={PLUGINS: "{Good: {least: 2}}"})
    state = state_with(*fleet(), placement(), named, classes=(Good,))
    assert state.clusters(KEY) == ("a", "b", "c")
    assert state.clusters("web/q") == ("b",)


def test_a_score_counts_where_a_placement_names_it() -> None:
    things = [cluster("a", claims={"score": "5"}), cluster("b", claims={"score": "50"}), cluster("c")]
    plain, scored = placement("p", 1), placement("q", 1, weights={"ByClaim": 1, "Balance": 0, "Steady": 0})
    state = state_with(*things, plain, scored, classes=(ByClaim,))
    assert state.clusters("web/q") == ("b",)
    document = explaining.explain(state.evaluation("web/q"), 0.0)
    assert document["scores"][0]["scores"] == {"a": 5, "b": 50, "c": 0}
    state.handle(Applied(cluster("c", claims={"score": "99"})))
    assert state.clusters("web/q") == ("c",)


def test_what_the_plugin_reads_decides_when_it_is_asked_again() -> None:
    state = state_with(*fleet(), placement(), classes=(Good,), everywhere=("Good",))
    Good.asked.clear()
    state.handle(Applied(cluster("c", {"other": "x"})))
    assert Good.asked == []
    state.handle(Applied(cluster("c", {"good": "3"})))
    assert "c" in Good.asked
    assert state.clusters(KEY) == ("a", "b", "c")


def test_the_answers_are_the_same_whether_events_come_one_by_one_or_all_at_once() -> None:
    stepwise = state_with(placement(), classes=(Good,), everywhere=("Good",))
    for each in [*fleet(), cluster("a", {"good": "0"}), cluster("d", {"good": "9"})]:
        stepwise.handle(Applied(each))
    last = [cluster("a", {"good": "0"}), cluster("b", {"good": "2"}), cluster("c"), cluster("d", {"good": "9"})]
    at_once = state_with(*last, placement(), classes=(Good,), everywhere=("Good",))
    assert stepwise.clusters(KEY) == at_once.clusters(KEY) == ("b", "d")


class Outside(ClusterFilterPlugin):
    name = "Outside"
    fresh_for = 300.0
    open: ClassVar[set[str]] = set()

    def filter(self, cluster: api.ManagedCluster, placement: api.Placement) -> bool:
        return cluster.name in self.open


def test_answers_that_depend_on_others_are_asked_for_again_after_a_while() -> None:
    Outside.open = {"a"}
    state = state_with(*fleet(), placement(), classes=(Outside,), everywhere=("Outside",))
    assert (state.clusters(KEY), state.next_at) == (("a",), 300.0)
    Outside.open = {"b"}
    state.handle(TimePassed(299.0))
    assert state.clusters(KEY) == ("a",)
    state.handle(TimePassed(300.0))
    assert (state.clusters(KEY), state.next_at) == (("b",), 600.0)


class Moody(ClusterFilterPlugin):
    name = "Moody"
    answer: Any = True

    def filter(self, cluster: api.ManagedCluster, placement: api.Placement) -> bool:
        if isinstance(self.answer, Exception):
            raise self.answer
        return self.answer  # type: ignore[no-any-return]  # a wrong answer is what is tried


@pytest.mark.parametrize(
    ("answer", "told"),
    [
        (ValueError("no luck"), "plugin Moody failed in filter for cluster a: ValueError: no luck"),
        (None, "plugin Moody failed in filter for cluster a: it gave None; give True or False"),
    ],
)
def test_a_plugin_that_fails_leaves_the_last_decision_and_is_named(answer: Any, told: str) -> None:
    Moody.answer = True
    state = state_with(cluster("a"), placement(), classes=(Moody,), everywhere=("Moody",))
    Moody.answer = answer
    changes = state.handle(Applied(cluster("a", {"x": "y"})))
    assert [each.key for each in changes] == [KEY]
    assert state.clusters(KEY) == ("a",)
    evaluation = state.evaluation(KEY)
    assert told in evaluation.problem
    shown = explaining.explain(evaluation, 0.0)["conditions"][1]
    assert (shown["status"], told in shown["message"]) == ("True", True)
    assert state.next_at == RETRY_S
    Moody.answer = False
    assert state.handle(TimePassed(RETRY_S))
    assert (state.clusters(KEY), evaluation.problem) == ((), "")


def test_a_score_out_of_range_is_a_failure() -> None:
    class High(ClusterScorePlugin):
        name = "High"

        def score(self, cluster: api.ManagedCluster, placement: api.Placement) -> int:
            return 101

    state = state_with(cluster("a"), placement("p", 1, weights={"High": 1}), classes=(High,))
    assert "for cluster a: it gave 101; give a whole number from -100 to 100" in state.evaluation(KEY).problem


@pytest.mark.parametrize(
    ("annotation", "told"),
    [
        ("{God: {}}", 'unknown plugin "God"; did you mean "Good"?'),
        ("{Good: {least: many}}", "plugins].Good.least"),
        ("{Good: 5}", "must be a mapping of Good's args, not 5"),
        ("[Good]", "must be a mapping; write fields, such as {Certified: {level: gold}}"),
        ("{", "write JSON or YAML"),
    ],
)
def test_what_a_placement_writes_wrongly_is_told(annotation: str, told: str) -> None:
    state = state_with(*fleet(), placement(annotations={PLUGINS: annotation}), classes=(Good,))
    assert told in state.evaluation(KEY).problem


class Nameless(ClusterFilterPlugin):
    def filter(self, cluster: api.ManagedCluster, placement: api.Placement) -> bool:
        return True


class Abstract(ClusterFilterPlugin):
    name = "Abstract"


class Taken(Nameless):
    name = "Balance"


class Idle(ClusterPlugin):
    name = "Idle"


class Reading(Nameless):
    name = "Reading"
    reads = "label x"  # type: ignore[assignment]  # the mistake that is told


class Fresh(Nameless):
    name = "Fresh"
    fresh_for = -1.0


@pytest.mark.parametrize(
    ("cls", "told"),
    [
        (dict, "class dict is no plugin for placements; derive it from ClusterFilterPlugin or ClusterScorePlugin"),
        (Nameless, 'class Nameless has no name; add the line name = "Nameless" to it'),
        (Abstract, "class Abstract is abstract; define filter"),
        (Taken, '"Balance" is the name of one of Bayplan\'s own; take another'),
        (Idle, "class Idle neither filters nor scores"),
        (Reading, "reads is 'label x'; write a tuple"),
        (Fresh, "fresh_for is -1.0; write seconds, or None"),
    ],
)
def test_a_class_that_is_no_plugin_is_refused(cls: Any, told: str) -> None:
    with pytest.raises(ConfigError) as caught:
        OwnPlugins().register(cls, "--plugin m:X")
    assert str(caught.value).startswith("--plugin m:X: ")
    assert told in str(caught.value)


def test_a_name_is_taken_once() -> None:
    class Other(Good):
        pass

    with pytest.raises(DuplicatePluginError, match='plugin name "Good" is taken twice'):
        OwnPlugins([Good, Other])


def test_packages_offer_plugins_by_entry_point(monkeypatch: pytest.MonkeyPatch) -> None:
    point = EntryPoint("Good", f"{__name__}:Good", GROUP)
    monkeypatch.setattr("bayplan.framework.registry.entry_points", lambda group: [point] if group == GROUP else [])
    found = own_plugins()
    assert (found.names, found.everywhere) == (("Good",), ())


def test_the_command_line_names_a_class() -> None:
    found = own_plugins([f"{__name__}:Good", f"{__name__}:ByClaim"])
    assert found.everywhere == ("Good", "ByClaim")
    assert found.scorers == ("ByClaim",)
    with pytest.raises(ConfigError, match="has no class"):
        own_plugins([f"{__name__}:God"])

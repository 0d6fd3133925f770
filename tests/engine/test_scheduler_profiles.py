"""Several profiles in one scheduler: what they share, and what is each one's own."""

from __future__ import annotations

from bayplan.clock import VirtualClock
from bayplan.engine.events import NodeAdded, PodAdded
from bayplan.engine.intents import Bind, Emit
from bayplan.engine.scheduler import Scheduler
from bayplan.framework.config.model import PluginRef, Plugins, PluginSet, ProfileConfig, SchedulerConfig
from bayplan.framework.plugin import Plugin
from bayplan.framework.profile import DefaultPlugin, build_profiles
from bayplan.framework.registry import Registry
from bayplan.framework.status import unschedulable
from bayplan.plugins.default_binder import DefaultBinder
from bayplan.plugins.priority_sort import PrioritySort
from bayplan.testing import PodBuilder, Recorder, node, pod
from tests.engine.support import SaysFilter, SaysScoreNode, intents_of, named, note_of

CLASSES: list[type[Plugin]] = [
    PrioritySort,
    DefaultBinder,
    named(SaysScoreNode, "Score", answer=1),
    named(SaysFilter, "Strict", answer=unschedulable("not here")),
]
LENIENT = Plugins(multi_point=PluginSet(disabled=(PluginRef(name="Strict"),)))
CONFIG = SchedulerConfig(
    profiles=(
        ProfileConfig(scheduler_name="a", plugins=LENIENT),
        ProfileConfig(scheduler_name="b", plugins=LENIENT),
        ProfileConfig(scheduler_name="strict"),
    ),
    percentage_of_nodes_to_score=50,
)


def scheduler_of(*pods: PodBuilder, nodes: int = 300) -> Scheduler:
    defaults = [DefaultPlugin(cls.name) for cls in CLASSES]
    recorder = Recorder()
    made = Scheduler(
        lambda handle: build_profiles(CONFIG, Registry(CLASSES), defaults, handle)[0],
        clock=VirtualClock(1000.0),
        writer=recorder,
        events=recorder,
    )
    for number in range(nodes):
        made.handle(NodeAdded(node(f"n{number}").build()))
    for each in pods:
        made.handle(PodAdded(each.build()))
    return made


def test_each_profile_has_plugins_of_its_own() -> None:
    made = scheduler_of(pod("p").scheduler("a"), pod("q").scheduler("strict"), nodes=3)
    first, second = intents_of(made.schedule(1)), intents_of(made.schedule(1))
    assert isinstance(first[0], Bind)
    assert note_of(second) == "0/3 nodes are available: 3 not here."
    instances = [made.profiles[name].instances["Score"] for name in ("a", "b")]
    assert instances[0] is not instances[1]


def test_events_are_reported_under_the_name_of_the_profile() -> None:
    made = scheduler_of(pod("q").scheduler("strict"), nodes=1)
    intents = intents_of(made.schedule(1))
    assert [intent.reporter for intent in intents if isinstance(intent, Emit)] == ["strict"]


def test_where_the_next_search_starts_is_shared() -> None:
    made = scheduler_of(*(pod(f"p{number}").scheduler("ab"[number % 2]) for number in range(4)))
    firsts = []
    for _ in range(4):
        (bind,) = intents_of(made.schedule(1))
        assert isinstance(bind, Bind)
        firsts.append(int(bind.decision.feasible[0]))
    assert firsts == [0, 150, 0, 150]


def test_a_pod_of_no_profile_is_nobodys_business() -> None:
    made = scheduler_of(pod("p"), pod("q").scheduler("c"))
    assert made.schedule(1) is None
    assert list(made.queue.entries()) == []

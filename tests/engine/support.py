"""
What the engine's tests share: plugins that say what they are told, and a scheduler at a virtual time.

A plugin's answer is set on its class (``named(SaysFilter, "A", answer=…)``) or later on its instance
(``world.plugin("A").answer = …``).  An answer that is an exception is raised, one that is a function is called.
"""

from __future__ import annotations

from collections.abc import Coroutine, Iterable, Sequence
from typing import Any, TypeVar

from bayplan.clock import VirtualClock
from bayplan.engine.cache import ClusterCache
from bayplan.engine.evaluation import Evaluator, Settings
from bayplan.engine.events import Event, NodeAdded, ObjectAdded, PodAdded
from bayplan.engine.intents import Bind, Emit, Evict, Intent, Outcome, PatchStatus
from bayplan.engine.node_filters import NodeFilters
from bayplan.engine.scheduler import MakeHandle, Scheduler
from bayplan.framework import plugin as contract
from bayplan.framework.config.model import SchedulerConfig
from bayplan.framework.decision import Decision
from bayplan.framework.handle import NominatedPods
from bayplan.framework.plugin import Plugin
from bayplan.framework.ports import Extender
from bayplan.framework.profile import DefaultPlugin, Profile, build_profiles
from bayplan.framework.registry import Registry
from bayplan.objects.meta import ApiObject
from bayplan.objects.node import Node
from bayplan.objects.pod import Pod
from bayplan.plugins.default_binder import DefaultBinder
from bayplan.plugins.priority_sort import PrioritySort
from bayplan.simulator import clock_loop
from bayplan.testing import NodeBuilder, PodBuilder, Recorder, cluster
from bayplan.testing.harness import NobodyNominated

START = 1_000_000.0
T = TypeVar("T")


class Scripted(Plugin):
    """Says what it is told, and remembers how often and about what it was asked."""

    answer: Any = None

    def __init__(self, args: Any = None, handle: Any = None) -> None:
        super().__init__(args, handle)
        self.asked: list[tuple[Any, ...]] = []

    def say(self, *about: Any) -> Any:
        self.asked.append(about)
        if isinstance(self.answer, BaseException):
            raise self.answer
        return self.answer(*about) if callable(self.answer) else self.answer


class SaysPreEnqueue(Scripted, contract.PreEnqueuePlugin):
    def pre_enqueue(self, pod: Pod) -> Any:
        return self.say(pod)


class SaysPreFilter(Scripted, contract.PreFilterPlugin):
    def pre_filter(self, state: Any, pod: Pod, nodes: Any) -> Any:
        return self.say(state, pod, nodes)


class SaysFilter(Scripted, contract.FilterPlugin):
    """In the one-node form."""

    def filter_node(self, state: Any, pod: Pod, node: Any) -> Any:
        return self.say(state, pod, node)


class SaysFilterTable(Scripted, contract.FilterPlugin):
    """In the all-nodes form."""

    def filter(self, state: Any, pod: Pod, nodes: Any) -> Any:
        return self.say(state, pod, nodes)


class SaysPostFilter(Scripted, contract.PostFilterPlugin):
    def post_filter(self, state: Any, pod: Pod, diagnosis: Any) -> Any:
        return self.say(state, pod, diagnosis)


class SaysPreScore(Scripted, contract.PreScorePlugin):
    def pre_score(self, state: Any, pod: Pod, nodes: Any, feasible: Any) -> Any:
        return self.say(state, pod, nodes, feasible)


class SaysScore(Scripted, contract.ScorePlugin):
    """In the all-nodes form; ``normal`` says what normalising gives."""

    normal: Any = None

    def score(self, state: Any, pod: Pod, nodes: Any) -> Any:
        return self.say(state, pod, nodes)

    def normalize(self, state: Any, pod: Pod, scores: Any, feasible: Any) -> Any:
        return self.normal(scores) if callable(self.normal) else scores


class SaysScoreNode(Scripted, contract.ScorePlugin):
    """In the one-node form."""

    def score_node(self, state: Any, pod: Pod, node: Any) -> Any:
        return self.say(state, pod, node)


class SaysReserve(Scripted, contract.ReservePlugin):
    undone: Any = None

    def reserve(self, state: Any, pod: Pod, node_name: str) -> Any:
        return self.say("reserve", pod, node_name)

    def unreserve(self, state: Any, pod: Pod, node_name: str) -> None:
        self.asked.append(("unreserve", pod, node_name))
        if callable(self.undone):
            self.undone(self)


class SaysPermit(Scripted, contract.PermitPlugin):
    def permit(self, state: Any, pod: Pod, node_name: str) -> Any:
        return self.say(pod, node_name)


class SaysPreBind(Scripted, contract.PreBindPlugin):
    flight: Any = None

    def pre_bind_pre_flight(self, state: Any, pod: Pod, node_name: str) -> Any:
        if isinstance(self.flight, BaseException):
            raise self.flight
        return self.flight

    def pre_bind(self, state: Any, pod: Pod, node_name: str) -> Any:
        return self.say(pod, node_name)


class SaysBind(Scripted, contract.BindPlugin):
    def bind(self, state: Any, pod: Pod, node_name: str) -> Any:
        return self.say(pod, node_name)


class SaysPostBind(Scripted, contract.PostBindPlugin):
    def post_bind(self, state: Any, pod: Pod, node_name: str) -> Any:
        return self.say(pod, node_name)


def named(says: type[Plugin], name: str, *more: type[Plugin], **attributes: Any) -> type[Plugin]:
    """A plugin class of its own under a name; with ``more`` it takes part in their points too."""
    if callable(attributes.get("answer")):
        attributes["answer"] = staticmethod(attributes["answer"])
    return type(name, (says, *more), {"name": name, **attributes})


def make_profile(
    plugins: Iterable[type[Plugin]],
    handle: MakeHandle | None = None,
    percentage: int | None = None,
    **weights: int,
) -> Profile:
    """A profile of these plugins in this order, with a queue sort and a binder where none is given."""
    classes = list(plugins)
    if not any(issubclass(cls, contract.QueueSortPlugin) for cls in classes):
        classes.append(PrioritySort)
    if not any(issubclass(cls, contract.BindPlugin) for cls in classes):
        classes.append(DefaultBinder)
    defaults = [DefaultPlugin(cls.name, weights.get(cls.name, 1)) for cls in classes]
    profiles, _ = build_profiles(
        SchedulerConfig(percentage_of_nodes_to_score=percentage), Registry(classes), defaults, handle
    )
    return profiles["default-scheduler"]


class Cycle:
    """One scheduling cycle without a scheduler around it."""

    def __init__(
        self,
        plugins: Iterable[type[Plugin]],
        nodes: Iterable[Node | NodeBuilder],
        pods: Iterable[Pod | PodBuilder] = (),
        nominated: NominatedPods | None = None,
        **weights: int,
    ) -> None:
        self.cache: ClusterCache = cluster(nodes, pods)
        self.profile = make_profile(plugins, None, None, **weights)
        self.filters = NodeFilters(self.profile, nominated or NobodyNominated(), self.cache.objects)
        self.settings = Settings(order=self.cache.node_order)

    def decide(self, pod: PodBuilder | Pod) -> Decision:
        made = pod.build() if isinstance(pod, PodBuilder) else pod
        return Evaluator(self.filters, self.cache).decide(made, self.settings)

    def plugin(self, name: str) -> Any:
        return self.profile.instances[name]


class Nominated:
    """Pods nominated to nodes, as a fixed list."""

    def __init__(self, **pods_by_node: list[PodBuilder]) -> None:
        self._pods = {node: [made.build() for made in pods] for node, pods in pods_by_node.items()}

    def nominated(self, node_name: str) -> list[Pod]:
        return self._pods.get(node_name, [])

    def nominated_nodes(self) -> list[str]:
        return list(self._pods)

    def nominations_since(self, position: int) -> tuple[int, None]:
        return 0, None


class World:
    """A scheduler with one profile, told what happens and asked what it wants done."""

    def __init__(
        self,
        *plugins: type[Plugin],
        seed: int = 0,
        percentage: int | None = None,
        remember: bool = True,
        extenders: Sequence[Extender] = (),
        **weights: int,
    ) -> None:
        self.clock = VirtualClock(START)
        self.writer = Recorder()
        self.scheduler = Scheduler(
            lambda handle: {"default-scheduler": make_profile(plugins, handle, percentage, **weights)},
            clock=self.clock,
            writer=self.writer,
            events=self.writer,
            extenders=extenders,
            seed=seed,
            remember_classes=remember,
        )
        self.cache = self.scheduler.cache
        self.queue = self.scheduler.queue
        self.profile = self.scheduler.profiles["default-scheduler"]

    def plugin(self, name: str) -> Any:
        return self.profile.instances[name]

    def add(self, *things: NodeBuilder | PodBuilder | ApiObject) -> None:
        for thing in things:
            made = thing.build() if isinstance(thing, (NodeBuilder, PodBuilder)) else thing
            event: Event
            if isinstance(made, Node):
                event = NodeAdded(made)
            elif isinstance(made, Pod):
                event = PodAdded(made)
            else:
                event = ObjectAdded(type(made).__name__, made)
            self.scheduler.handle(event)

    def schedule(self) -> list[Intent]:
        """Schedule the next pod; there must be one."""
        return intents_of(self.scheduler.schedule(1))

    def bind(self) -> Bind:
        """Schedule the next pod, which must find a node."""
        (intent,) = self.schedule()
        assert isinstance(intent, Bind), intent
        return intent

    def where(self, pod: PodBuilder) -> str | None:
        return self.queue.where(pod.build().uid)

    def finish(self, bind: Bind) -> list[Intent]:
        """Run the binding cycle to its end and hand its event back."""
        return self.scheduler.handle(self.run(self.scheduler.binding_cycle(bind).run()))

    def run(self, main: Coroutine[Any, Any, T]) -> T:
        """Run a coroutine in virtual time."""
        return clock_loop.run(main, self.clock)


def intents_of(outcomes: Iterable[Outcome] | None) -> list[Intent]:
    """What is to be done about pods that were scheduled; there must be some."""
    assert outcomes is not None, "nobody to schedule"
    return [intent for outcome in outcomes for intent in outcome.intents]


def note_of(intents: Iterable[Intent]) -> str:
    """The text of the one event among the intents."""
    (note,) = [intent.note for intent in intents if isinstance(intent, Emit)]
    return note


def patch_of(intents: Iterable[Intent]) -> PatchStatus:
    (patch,) = [intent for intent in intents if isinstance(intent, PatchStatus)]
    return patch


def evict_of(intents: Iterable[Intent]) -> Evict:
    (evict,) = [intent for intent in intents if isinstance(intent, Evict)]
    return evict

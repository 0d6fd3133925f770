"""DefaultPreemption: who may preempt, which nodes are tried, which is chosen, and what is said when nothing helps."""

from __future__ import annotations

from typing import Any

import pytest

from bayplan.errors import InvalidArgsError
from bayplan.framework.results import Nomination
from bayplan.framework.status import Code, unresolvable, unschedulable
from bayplan.objects.meta import LabelSelector, ObjectMeta
from bayplan.objects.policy import PodDisruptionBudget, PodDisruptionBudgetSpec, PodDisruptionBudgetStatus
from bayplan.plugins import IN_TREE
from bayplan.plugins.default_preemption import DefaultPreemption, hash_of
from bayplan.plugins.defaults import DEFAULT_PLUGINS
from bayplan.plugins.node_resources_fit import NodeResourcesFit
from bayplan.plugins.taint_toleration import TaintToleration
from bayplan.testing import NodeBuilder, PodBuilder, make, node, pod
from tests.engine.support import SaysFilter, SaysPreFilter, World, evict_of, named, note_of, patch_of

BOSS = pod("boss").priority(100).cpu(2)


def world(*things: Any, plugins: tuple[Any, ...] = ()) -> World:
    made = World(*plugins, TaintToleration, NodeResourcesFit, DefaultPreemption)
    made.add(*things)
    return made


def default_world(*things: Any) -> World:
    """With the default profile, whose texts these are."""
    classes = {cls.name: cls for cls in IN_TREE}
    made = World(*(classes[each.name] for each in DEFAULT_PLUGINS))
    made.add(*things)
    return made


def full(name: str, *, priority: int = 0, cpu: int = 4) -> tuple[NodeBuilder, PodBuilder]:
    """A node and the pod that fills it."""
    return node(name).cpu(cpu), pod(f"on-{name}").on(name).cpu(cpu).priority(priority)


def budget(allowed: int, **labels: str) -> PodDisruptionBudget:
    return PodDisruptionBudget(
        metadata=ObjectMeta(name="budget", namespace="default", uid="budget"),
        spec=PodDisruptionBudgetSpec(selector=LabelSelector(match_labels=labels)),
        status=PodDisruptionBudgetStatus(disruptions_allowed=allowed),
    )


def leaving(made: PodBuilder, reason: str = "PreemptionByScheduler", status: str = "True") -> PodBuilder:
    """Terminating, with a word on why."""
    condition = {"type": "DisruptionTarget", "status": status, "reason": reason}
    return type(made)(made.terminating().manifest() | {"status": {"conditions": [condition]}})


# -- settings --


@pytest.mark.parametrize(
    ("hopeful", "args", "enough"),
    [
        (50, {}, 50),
        (500, {}, 100),
        (5000, {}, 500),
        (1, {}, 1),
        (0, {}, 0),
        (50, {"minCandidateNodesPercentage": 10, "minCandidateNodesAbsolute": 0}, 5),
        (50, {"minCandidateNodesPercentage": 0, "minCandidateNodesAbsolute": 7}, 7),
        (50, {"minCandidateNodesPercentage": 100, "minCandidateNodesAbsolute": 0}, 50),
    ],
)
def test_how_many_candidates_are_enough(hopeful: int, args: dict[str, Any], enough: int) -> None:
    assert make(DefaultPreemption, **args).how_many(hopeful) == enough


@pytest.mark.parametrize(
    "args",
    [
        {"minCandidateNodesPercentage": 0, "minCandidateNodesAbsolute": 0},
        {"minCandidateNodesPercentage": 101},
        {"minCandidateNodesPercentage": -1},
        {"minCandidateNodesAbsolute": -1},
        {"minCandidateNodes": 3},
    ],
)
def test_settings_that_make_no_sense_are_refused(args: dict[str, Any]) -> None:
    with pytest.raises(InvalidArgsError, match="minCandidateNodes"):
        make(DefaultPreemption, **args)


def test_a_deleted_pod_is_a_reason_to_look_at_held_preemptors_and_at_nobody_else() -> None:
    (on,) = make(DefaultPreemption).requeue_on()
    assert on.kind == "Pod"
    assert on.hint is not None
    assert on.hint(BOSS.build(), pod("gone").build(), None) is False


# -- who may preempt --


NEVER = "preemption: not eligible due to preemptionPolicy=Never."
TERMINATING = "preemption: not eligible due to a terminating pod on the nominated node."
VICTIM = pod("on-a").on("a").cpu(4).priority(5)


@pytest.mark.parametrize(
    ("boss", "on_a", "refusal"),
    [
        (BOSS.preemption_policy("Never"), VICTIM, NEVER),
        (BOSS.preemption_policy("Never").nominated("a"), VICTIM, NEVER),
        (BOSS.nominated("a"), leaving(VICTIM), TERMINATING),
        (BOSS.nominated("a"), VICTIM.terminating(), ""),
        (BOSS.nominated("a"), leaving(VICTIM, "EvictionByEvictionAPI"), ""),
        (BOSS.nominated("a"), leaving(VICTIM, status="False"), ""),
        (BOSS.nominated("b"), leaving(VICTIM), ""),
        (BOSS.nominated("gone"), leaving(VICTIM), ""),
        (BOSS, leaving(VICTIM), ""),
        (BOSS.preemption_policy("PreemptLowerPriority"), VICTIM, ""),
    ],
)
def test_who_may_preempt(boss: PodBuilder, on_a: PodBuilder, refusal: str) -> None:
    made = world(node("a").cpu(4), on_a, *full("b", priority=50), boss)
    intents = made.schedule()
    note = "0/2 nodes are available: 2 Insufficient cpu."
    assert note_of(intents) == (f"{note} {refusal}" if refusal else note)
    assert patch_of(intents).nominated_node == (None if refusal else "a")


def test_a_terminating_pod_that_is_not_lower_is_not_waited_for() -> None:
    made = world(node("a").cpu(4), leaving(VICTIM.priority(100)), *full("b"), BOSS.nominated("a"))
    assert patch_of(made.schedule()).nominated_node == "b"


def test_a_nominated_node_that_cannot_be_helped_any_more_is_no_reason_to_wait() -> None:
    made = world(node("a").cpu(4).taint("gone-bad"), leaving(VICTIM), *full("b"), BOSS.nominated("a"))
    assert patch_of(made.schedule()).nominated_node == "b"


# -- which node --


def test_the_node_where_it_hurts_least_is_chosen_and_the_event_says_nothing_of_it() -> None:
    made = world(*full("a", priority=7), *full("b", priority=3), *full("c", priority=5), BOSS)
    intents = made.schedule()
    assert note_of(intents) == "0/3 nodes are available: 3 Insufficient cpu."
    assert patch_of(intents).nominated_node == "b"
    evict = evict_of(intents)
    assert (evict.node_name, [each.name for each in evict.victims]) == ("b", ["on-b"])
    assert [each.name for each in made.queue.nominations.nominated("b")] == ["boss"]


def test_a_broken_budget_weighs_more_than_any_priority() -> None:
    a, on_a = full("a", priority=1)
    made = world(a, on_a.label(app="db"), *full("b", priority=99), budget(0, app="db"), BOSS)
    assert patch_of(made.schedule()).nominated_node == "b"


def test_when_every_node_breaks_a_budget_one_is_chosen_all_the_same() -> None:
    a, on_a = full("a", priority=1)
    made = world(a, on_a.label(app="db"), budget(0, app="db"), BOSS)
    assert patch_of(made.schedule()).nominated_node == "a"


def test_only_nodes_that_evictions_can_help_are_tried() -> None:
    never = named(
        SaysFilter, "Never", answer=lambda state, pod, node: unresolvable("wrong") if node.name == "a" else None
    )
    made = world(*full("a", priority=1), *full("b", priority=9), BOSS, plugins=(never,))
    assert patch_of(made.schedule()).nominated_node == "b"


def test_a_pod_rejected_by_pre_filter_may_preempt_anywhere() -> None:
    """An unschedulable no before the nodes were looked at counts for every node."""
    crowded = named(SaysPreFilter, "Crowded", answer=unschedulable("too crowded"))
    made = world(*full("a", priority=7), *full("b", priority=3), BOSS, plugins=(crowded,))
    intents = made.schedule()
    assert note_of(intents) == "0/2 nodes are available: too crowded."
    assert patch_of(intents).nominated_node == "b"


def test_room_that_is_kept_for_others_is_not_preempted_for() -> None:
    """A higher pod is nominated to the better node and will take what evictions free there."""
    made = world(*full("a", priority=1), *full("b", priority=50), BOSS)
    made.queue.nominations.nominate(pod("higher").priority(200).cpu(3).build(), "a")
    assert patch_of(made.schedule()).nominated_node == "b"


@pytest.mark.parametrize(("absolute", "tried"), [(2, 2), (3, 3), (100, 5)])
def test_the_search_ends_when_there_is_enough_to_choose_from(absolute: int, tried: int) -> None:
    made = world(*(each for number in range(5) for each in full(f"n{number}")), BOSS)
    plugin = made.plugin("DefaultPreemption")
    plugin.args = plugin.args.model_copy(update={"min_candidate_nodes_absolute": absolute})
    assert len(candidates(made)) == tried


def test_the_search_goes_on_while_all_candidates_break_a_budget() -> None:
    nodes = [full(f"n{number}", priority=number) for number in range(5)]
    things = [
        each for number, (where, on) in enumerate(nodes) for each in (where, on if number == 3 else on.label(app="db"))
    ]
    made = world(*things, budget(0, app="db"), BOSS)
    plugin = made.plugin("DefaultPreemption")
    plugin.args = plugin.args.model_copy(update={"min_candidate_nodes_absolute": 1})
    first, *_ = candidates(made)
    assert first.node_name == "n3"


def candidates(made: World) -> Any:
    """What the preemptor may choose from."""
    decision = made.scheduler.decide(BOSS.build())
    assert decision.diagnosis is not None
    result = made.plugin("DefaultPreemption").post_filter(decision.state, BOSS.build(), decision.diagnosis)
    return result.candidates


def test_preemptors_start_at_different_nodes_and_always_at_the_same() -> None:
    assert len({hash_of(f"a-uid-that-ends-in-{number}") % 7 for number in range(20)}) > 3
    assert hash_of("3f2b") == hash_of("3f2b")
    assert hash_of("") == 0


# -- when nothing helps --

HOPELESS = "preemption: 0/{} nodes are available: {}."


@pytest.mark.parametrize(
    ("things", "text"),
    [
        (
            [node("a").cpu(1), node("b").taint("x"), node("c").taint("x")],
            "3 Preemption is not helpful for scheduling",
        ),
        (
            [*full("a", priority=100), node("b").taint("x"), node("c").taint("x")],
            "1 No preemption victims found for incoming pod, 2 Preemption is not helpful for scheduling",
        ),
        (
            [*full("a", cpu=2), pod("stays").on("a").cpu(1).priority(100), node("b").taint("x"), node("c").taint("x")],
            "1 Insufficient cpu, 2 Preemption is not helpful for scheduling",
        ),
    ],
    ids=["too small or tainted", "nobody lower", "even all leaving is not enough"],
)
def test_what_is_said_when_nothing_helps(things: list[Any], text: str) -> None:
    made = world(*things, BOSS.nominated("a"))
    intents = made.schedule()
    assert note_of(intents).endswith(f". {HOPELESS.format(3, text)}")
    assert patch_of(intents).nominated_node == "", "an earlier nomination is taken back"


def test_a_filter_that_breaks_in_the_dry_run_is_told_and_the_nomination_stays() -> None:
    def breaks(state: Any, pod: Any, node: Any) -> Any:
        if not list(node.pods):
            raise ValueError("no pods to count")
        return unschedulable("crowded")

    made = world(*full("a"), BOSS.nominated("x"), plugins=(named(SaysFilter, "Odd", answer=breaks),))
    intents = made.schedule()
    assert note_of(intents).startswith(
        "0/1 nodes are available: 1 crowded. preemption: "
        "plugin Odd failed in Filter for pod default/boss: ValueError: no pods to count (tests/plugins/test_default_pre"
    )
    assert patch_of(intents).nominated_node is None


def test_a_filter_that_breaks_on_one_node_leaves_the_others() -> None:
    def breaks(state: Any, pod: Any, node: Any) -> Any:
        if node.name == "a" and not list(node.pods):
            raise ValueError("no pods to count")
        return None

    odd = named(SaysFilter, "Odd", answer=breaks)
    made = world(*full("a", priority=1), *full("b", priority=9), BOSS, plugins=(odd,))
    assert patch_of(made.schedule()).nominated_node == "b"


def test_a_dry_run_changes_neither_cluster_nor_state() -> None:
    made = world(*full("a"), BOSS)
    before = made.cache.generation
    first = made.scheduler.decide(BOSS.build())
    second = made.scheduler.decide(BOSS.build())
    assert made.cache.generation == before
    assert first.nomination == second.nomination == Nomination("a")


# -- the default profile's words --

CLAIMS = "no new claims to deallocate, "


@pytest.mark.parametrize(
    ("things", "text"),
    [
        (
            [*full("a", priority=100), node("b").taint("x"), node("c").taint("x"), BOSS],
            "0/3 nodes are available: 1 Insufficient cpu, 2 node(s) had untolerated taint(s). "
            f"{CLAIMS}{HOPELESS}".format(
                3, "1 No preemption victims found for incoming pod, 2 Preemption is not helpful for scheduling"
            ),
        ),
        ([*full("a"), *full("b"), *full("c"), BOSS], "0/3 nodes are available: 3 Insufficient cpu."),
        (
            [node("a"), pod("on-a").on("a").memory("32Gi"), BOSS.memory("1Gi").preemption_policy("Never")],
            f"0/1 nodes are available: 1 Insufficient memory. {CLAIMS}{NEVER}",
        ),
        (
            [node("a"), node("b"), BOSS.claim("x")],
            '0/2 nodes are available: persistentvolumeclaim "x" not found. not found',
        ),
        (
            [node("a"), node("b"), node("c"), BOSS.requires_node_term(fields=[("metadata.name", "In", "gone")])],
            f"0/3 nodes are available: 3 node(s) didn't satisfy plugin(s) [NodeAffinity]. {CLAIMS}{HOPELESS}".format(
                3, "3 Preemption is not helpful for scheduling"
            ),
        ),
        ([BOSS], "no nodes available to schedule pods"),
    ],
    ids=["mixed", "victims were picked", "Never", "a missing claim", "its node is gone", "no nodes"],
)
def test_the_texts_of_the_default_profile(things: list[Any], text: str) -> None:
    assert note_of(default_world(*things).schedule()) == text


def test_the_gate_of_a_preemptor_names_what_it_waits_for() -> None:
    made = world(*full("a"), BOSS)
    made.schedule()
    verdict = made.plugin("DefaultPreemption").pre_enqueue(BOSS.build())
    assert (verdict.code, verdict.text) == (
        Code.UNRESOLVABLE,
        "waiting for the preemption for this pod to be finished",
    )
    assert made.plugin("DefaultPreemption").pre_enqueue(pod("other").build()) is None

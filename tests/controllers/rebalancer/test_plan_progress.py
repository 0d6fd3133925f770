"""What people and programs are told of a plan that is carried out."""

from __future__ import annotations

from bayplan.controllers.rebalancer.move_plan import plan_of
from bayplan.controllers.rebalancer.plan_progress import GONE, MOVED, Progress, as_text
from tests.controllers.rebalancer.plan_desk import shrinking_plan


def test_a_node_that_is_given_up_takes_its_steps_with_it() -> None:
    progress = Progress(plan_of(shrinking_plan()))
    first, second = progress.steps
    line = progress.give_up(first.move.source, "no room", first)
    assert line == f"step 1: {first.move.key}: no room"
    assert (first.state, first.why, second.state) == ("NotMade", "no room", "Planned")
    assert not progress.is_fine
    assert f"{first.move.source} is given up: {line}" in as_text(progress.document())


def test_the_text_counts_what_was_made_and_what_was_gone() -> None:
    progress = Progress(plan_of(shrinking_plan()))
    progress.steps[0].state, progress.steps[1].state = GONE, MOVED
    progress.steps[1].landed = "n3"
    document = progress.document()
    assert document["summary"] == {"moves": 2, "moved": 1, "gone": 1, "notMade": 0, "left": 0}
    assert as_text(document).splitlines()[-1] == "2 moves: 1 made, 1 gone already; nodes: 2 to be done"

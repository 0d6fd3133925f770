"""
How far a plan of moves has come: a state for each step and each node, the document ``kind: PlanRun``, and its text.

``plan_run`` and ``plan_checking`` write it; ``bayplan rebalancer --plan`` shows it.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any

from bayplan.controllers.rebalancer.move_plan import MovePlan, PlannedMove
from bayplan.text_layout import table

PLANNED, MOVING, MOVED, GONE, NOT_MADE = "Planned", "Moving", "Moved", "Gone", "NotMade"
"""Of steps.  Gone: the pod was not there any more, as after a run that was cut short."""
EMPTY, OPENED, GIVEN_UP = "Empty", "Opened", "GivenUp"
"""Of nodes, beside Planned and Gone."""


@dataclass(slots=True)
class Step:
    """One move, and what became of it."""

    move: PlannedMove
    state: str = PLANNED
    expected: str = ""
    """The node that the engine named when it was asked last."""
    landed: str = ""
    """The node that the replacement runs on."""
    why: str = ""
    held_since: float | None = None
    """Since when something that may pass is in its way."""
    refused_until: float = 0.0
    is_settled: bool = False
    """Of pods that were gone: whether their controller has made up for them."""


@dataclass(slots=True)
class NodeState:
    """One node of the plan."""

    name: str
    state: str = PLANNED
    why: str = ""
    was_closed: bool = False
    """Whether it has been seen closed since this run began."""
    asked_at: float | None = None
    """When it was told to close."""


class Progress:
    """The state of a whole plan."""

    def __init__(self, plan: MovePlan) -> None:
        self.plan = plan
        self.steps = [Step(move) for move in plan.moves]
        self.nodes = {name: NodeState(name) for name in plan.nodes}

    def on(self, node: str) -> Iterator[Step]:
        return (step for step in self.steps if step.move.source == node)

    def in_state(self, state: str) -> list[Step]:
        return [step for step in self.steps if step.state == state]

    def give_up(self, node: str, why: str, at: Step | None = None) -> str:
        """No more moves off this node; the line that says why."""
        self.nodes[node].state = GIVEN_UP
        line = why if at is None else f"step {at.move.step}: {at.move.key}: {why}"
        self.nodes[node].why = line
        if at is not None:
            at.state, at.why = NOT_MADE, why
        for step in self.on(node):
            if step.state == PLANNED:
                step.state = NOT_MADE
                step.why = f"{node} was given up" + (f" at step {at.move.step}" if at is not None else f": {why}")
        return line

    @property
    def is_fine(self) -> bool:
        """Nothing was impossible so far."""
        return not self.in_state(NOT_MADE) and all(node.state != GIVEN_UP for node in self.nodes.values())

    def document(self) -> dict[str, Any]:
        counts = Counter(step.state for step in self.steps)
        return {
            "apiVersion": "bayplan.io/v1alpha1",
            "kind": "PlanRun",
            "summary": {
                "moves": len(self.steps),
                "moved": counts[MOVED],
                "gone": counts[GONE],
                "notMade": counts[NOT_MADE],
                "left": counts[PLANNED] + counts[MOVING],
            },
            "nodes": [{"name": node.name, "state": node.state, "why": node.why} for node in self.nodes.values()],
            "moves": [
                {
                    "step": step.move.step,
                    "namespace": step.move.namespace,
                    "name": step.move.name,
                    "from": step.move.source,
                    "to": step.move.target,
                    "expected": step.expected,
                    "landed": step.landed,
                    "state": step.state,
                    "why": step.why,
                }
                for step in self.steps
            ],
        }


def as_text(document: dict[str, Any]) -> str:
    """For people: the steps, what was not possible and why, and a line that sums up."""
    rows = [
        [str(each["step"]), f"{each['namespace']}/{each['name']}", each["from"],
         each["landed"] or each["expected"] or each["to"], each["state"]]
        for each in document["moves"]
    ]  # fmt: skip
    parts = [table(["STEP", "POD", "FROM", "TO", "STATE"], rows) if rows else ""]
    told = [f"{each['name']} is given up: {each['why']}" for each in document["nodes"] if each["state"] == GIVEN_UP]
    told += [f"{each['name']} is gone" for each in document["nodes"] if each["state"] == GONE]
    parts.append("\n".join(told))
    summary = document["summary"]
    counts = [f"{summary[key]} {word}" for key, word in _WORDS.items() if summary[key]]
    nodes = Counter(each["state"] for each in document["nodes"])
    ended = [f"{nodes[state]} {word}" for state, word in _NODE_WORDS.items() if nodes[state]]
    moves = "1 move" if summary["moves"] == 1 else f"{summary['moves']} moves"
    parts.append("; ".join([f"{moves}: {', '.join(counts)}" if counts else "no moves", *_nodes(ended)]))
    return "\n\n".join(part for part in parts if part)


_WORDS = {"moved": "made", "gone": "gone already", "notMade": "not possible", "left": "to make"}
_NODE_WORDS = {
    EMPTY: "empty and closed",
    OPENED: "opened again",
    GONE: "gone",
    GIVEN_UP: "given up",
    PLANNED: "to be done",
}


def _nodes(ended: list[str]) -> list[str]:
    return [f"nodes: {', '.join(ended)}"] if ended else []

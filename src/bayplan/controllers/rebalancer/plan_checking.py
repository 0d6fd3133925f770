"""
Does a plan of moves still hold?  The cluster as it is now is asked, and the engine about each replacement.

``plan_run`` asks before it closes a node and again before each move; ``simulator.rebalance_plan`` asks for a dry run.
"""

from __future__ import annotations

from collections.abc import Iterable

from bayplan.controllers.rebalancer.flights import Flight
from bayplan.controllers.rebalancer.imagined_moves import close, leave, place, replacement_of
from bayplan.controllers.rebalancer.move_plan import PlannedMove
from bayplan.controllers.rebalancer.observed import Observed, controller_of, is_ready
from bayplan.controllers.rebalancer.plan_progress import GIVEN_UP, GONE, PLANNED, Progress, Step
from bayplan.controllers.rebalancer.protection import belongs_to_its_node, lasting_reasons, passing_reasons
from bayplan.engine.what_if import WhatIf
from bayplan.errors import InputError
from bayplan.objects.admission.own_keys import CLOSED_FOR_ROOM
from bayplan.objects.node import Node
from bayplan.objects.pod import Pod


class PlanChecker:
    """Asks about one plan."""

    def __init__(self, observed: Observed, progress: Progress) -> None:
        self._observed = observed
        self._progress = progress
        self._told: list[str] = []

    def look_through(self) -> list[str]:
        """Everything at once, before anything is done: nodes that cannot be emptied any more are given up."""
        progress = self._progress
        told = self._told = self._look_at_nodes()
        imagined = self._closed()
        for node in progress.nodes.values():
            fork = imagined.fork()
            line = self._try_all(fork, [step for step in progress.on(node.name) if step.state == PLANNED])
            if line:
                told.append(line)
            else:
                imagined = fork
        return told

    def _look_at_nodes(self) -> list[str]:
        told = []
        for name, state in self._progress.nodes.items():
            node = self._observed.node(name)
            if node is None:
                state.state = GONE
                told.append(f"{name} is gone")
            elif self._progress.plan.opens and node.unschedulable and not is_marked(node):
                told.append(self._progress.give_up(name, f"{name} was closed by somebody else"))
        if self._progress.nodes and all(each.state == GONE for each in self._progress.nodes.values()):
            fix = "make the plan of the cluster that it is for"
            raise InputError("none of its nodes is in this cluster", field="--plan", fix=fix)
        return told

    def _try_all(self, imagined: WhatIf, steps: Iterable[Step]) -> str:
        """The moves off one node, in imagination; the line that says why not."""
        for step in steps:
            pod = self.pod(step.move)
            if pod is None or pod.is_terminating:
                other = self._namesake(step.move)
                if other is None:
                    step.state = GONE
                    self._told.append(f"step {step.move.step}: {step.move.key} is gone already")
                    continue
                why = f"it is another pod by now, with the uid {other.uid}"
            else:
                why = self.lasting(pod) or self._decided(imagined, step, pod)
            if why:
                return self._progress.give_up(step.move.source, why, step)
        return ""

    # -- one step --

    def pod(self, move: PlannedMove) -> Pod | None:
        """The pod that the plan means, if it is there."""
        pod = self._observed.pod(move.namespace, move.uid)
        return pod if pod is not None and pod.node_name == move.source else None

    def _namesake(self, move: PlannedMove) -> Pod | None:
        """Another pod of that name on the node that it was to leave."""
        others = (pod for pod in self._observed.pods(move.namespace) if pod.uid != move.uid)
        return next((pod for pod in others if pod.name == move.name and pod.node_name == move.source), None)

    def lasting(self, pod: Pod) -> str:
        """Why it may not be moved, now or later."""
        reason = next(filter(None, lasting_reasons(self._observed, pod)), "")
        if not reason and controller_of(pod) not in self._observed.sizes(pod.namespace):
            return f"its controller {controller_of(pod)} is not there, so nobody would make another one"
        return reason

    def passing(self, pod: Pod) -> str:
        """Why it may not be moved yet."""
        pods = [each for each in self._observed.pods(pod.namespace) if not each.is_terminating]
        reason = next(filter(None, passing_reasons(self._observed, pod, pods)), "")
        return reason or self.missing(pod.namespace, controller_of(pod))

    def missing(self, namespace: str, controller: str) -> str:
        """How many pods a controller lacks; "" if it has what it wants, or is gone."""
        wanted = self._observed.sizes(namespace).get(controller, 0)
        ready = sum(is_ready(pod) for pod in self._observed.pods(namespace) if controller_of(pod) == controller)
        return "" if ready >= wanted else f"{ready} of {wanted} pods of {controller} are ready"

    def decide(self, step: Step, pod: Pod, flights: Iterable[Flight]) -> str:
        """Where its replacement would go now is written down in the step; "", or why nowhere."""
        imagined = self._closed()
        for flight in flights:  # replacements that have no node yet will take theirs
            if flight.replacement is None or not flight.replacement.node_name:
                going = imagined.cache.pod(flight.move.pod.uid)
                if going is not None:
                    leave(imagined, going)
                place(imagined, replacement_of(flight.move.pod), flight.move.node)
        return self._decided(imagined, step, pod)

    def _decided(self, imagined: WhatIf, step: Step, pod: Pod) -> str:
        leave(imagined, pod)
        again = replacement_of(pod)
        decision = imagined.decide(again)
        if decision.node is None:
            return f"its replacement would find no node: {decision.message}"
        place(imagined, again, decision.node)
        step.expected = decision.node
        return ""

    def _closed(self) -> WhatIf:
        """The cluster as it is now, with the nodes of the plan closed."""
        imagined = self._observed.scheduler.what_if()
        for name, state in self._progress.nodes.items():
            node = self._observed.node(name)
            if node is not None and state.state != GIVEN_UP:
                close(imagined, node)
        return imagined

    # -- nodes --

    def left_on(self, name: str) -> list[Pod]:
        """Pods on a node that do not belong to it."""
        nodes = self._observed.scheduler.cache.nodes
        row = nodes.row_of(name)
        return [] if row is None else [pod for pod in nodes.pods_at(row) if not belongs_to_its_node(pod)]


def is_marked(node: Node) -> bool:
    """Closed by a run that is to open it again."""
    return node.annotations.get(CLOSED_FOR_ROOM) == "true"

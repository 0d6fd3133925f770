"""
Which nodes can serve the claims of one pod, and what they would give: Filter, Score and Reserve of one cycle.

Claims that have devices are a mask over nodes.  For the others nodes differ in the devices they have, and in which
extended resources they lack themselves; the allocator answers for each group of nodes.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from functools import partial

import numpy as np

from bayplan.framework import (
    MAX_SCORE,
    Mask,
    NodeTable,
    NodeView,
    Scores,
    Status,
    Verdict,
    Verdicts,
    failed,
    unresolvable,
)
from bayplan.objects.devices.resource_claim import DeviceRequestAllocationResult, ResourceClaim
from bayplan.objects.node import Node
from bayplan.objects.pod import Pod
from bayplan.plugins.dynamic_resources import binding_conditions, explaining
from bayplan.plugins.dynamic_resources.allocator import Allocator, KeptShape, Outcome
from bayplan.plugins.dynamic_resources.binding import Taken
from bayplan.plugins.dynamic_resources.device_score.merit import Merit
from bayplan.plugins.dynamic_resources.explaining import Missing
from bayplan.plugins.dynamic_resources.extended_resources import (
    NEVER_SCHEDULED_AGAIN,
    NOT_THERE,
    ExtendedClaim,
    extended_claim,
)
from bayplan.plugins.dynamic_resources.imagining import Imagined
from bayplan.plugins.dynamic_resources.inventory import Inventory
from bayplan.plugins.dynamic_resources.pod_claims import PodClaims
from bayplan.plugins.dynamic_resources.results import allocations
from bayplan.plugins.dynamic_resources.search import Answer, SearchTimeoutError
from bayplan.plugins.dynamic_resources.shape import AllocationError
from bayplan.plugins.dynamic_resources.usage import Usage
from bayplan.plugins.dynamic_resources.would_fit import Remedies, WouldFit
from bayplan.plugins.extended_resource_classes import ExtendedResourceClasses, may_be_devices

NOT_AVAILABLE = unresolvable("resourceclaim not available on the node")
MOST_ALTERNATIVES = 8


class Group:
    """What is asked of nodes that lack the same extended resources."""

    __slots__ = ("claims", "extended", "kept", "error", "scores", "is_scored")

    def __init__(self, claims: list[ResourceClaim], extended: ExtendedClaim | None, allocator: Allocator) -> None:
        self.extended = extended
        self.claims = claims if extended is None else [*claims, extended.claim]
        self.kept: KeptShape | None = None
        self.error: Status | None = None
        self.scores: dict[int, int] = {}
        self.is_scored = allocator.has_score
        if self.claims:
            try:
                self.kept = allocator.shape([claim.spec.devices for claim in self.claims])
            except AllocationError as error:
                self.error = self.told(error, "")

    def told(self, outcome: Outcome, node_name: str) -> Status | None:
        """What a node is told; ``None`` if it can serve the claims."""
        if isinstance(outcome, AllocationError):
            return failed(outcome.told([claim.key for claim in self.claims]))
        if isinstance(outcome, SearchTimeoutError):
            return failed(f"node {node_name}: timed out trying to allocate devices")
        return unresolvable(outcome.failure) if outcome.failure else None

    def score(self, number: int) -> int:
        """
        The earlier the alternatives that were chosen, the better.

        With DeviceScore its 0 to 100 come below that: no better device makes up for a later alternative.
        """
        known = self.scores.get(number)
        if known is None:
            assert self.kept is not None
            outcome, shape = self.kept.outcomes[number], self.kept.shape
            chosen = (
                {choice.wanted for each in outcome.claims for choice in each} if isinstance(outcome, Answer) else ()
            )
            ranks = (shape.wanted[wanted] for wanted in chosen)
            known = sum(MOST_ALTERNATIVES - each.rank for each in ranks if each.alternative)
            if self.is_scored:
                merit = outcome.merit if isinstance(outcome, Answer) else None
                known = known * MAX_SCORE + (0 if merit is None else merit.score)
            self.scores[number] = known
        return known


class Filtering:
    """One pod's question to the nodes."""

    def __init__(
        self,
        pod: Pod,
        claims: PodClaims,
        allocator: Allocator,
        classes: ExtendedResourceClasses,
        now: float,
        binding_timeout_s: float,
    ) -> None:
        self.pod = pod
        self.claims = claims
        self._allocator = allocator
        self._classes = classes
        self._open = claims.open
        self._groups: dict[frozenset[str], Group] = {}
        self._broken = {
            claim.uid for claim in claims.allocated if binding_conditions.has_failed(claim, now, binding_timeout_s)
        }
        earlier = sum(_rank_of(claim, claim.results) for claim in claims.allocated)
        self._earlier = earlier * MAX_SCORE if allocator.has_score else earlier
        self._needs_search = bool(self._open) or bool(claims.resources)

    # -- one node --

    def on_node(self, node: NodeView) -> Verdict:
        lacking = self._lacking(node)
        if isinstance(lacking, Status):
            return lacking
        group = self._group(lacking)
        if not group.claims and not self.claims.claims:
            return None
        if group.error is not None:
            return group.error
        if group.kept is not None:
            no = group.told(self._allocator.on_node(group.kept, node.object), node.name)
            if no is not None:
                return no
        return NOT_AVAILABLE if self.unavailable(node.object) else None

    def score_node(self, node: NodeView) -> int:
        lacking = self._lacking(node)
        group = None if isinstance(lacking, Status) else self._group(lacking)
        if group is None or group.kept is None:
            return 0
        return self._earlier + group.score(self._allocator.number_on(group.kept, node.object))

    def unavailable(self, node: Node) -> list[ResourceClaim]:
        """Claims whose devices the node cannot use, or that must get other devices."""
        return [claim for claim in self.claims.allocated if claim.uid in self._broken or not _reaches(claim, node)]

    def taken(self, node: NodeView, inventory: Inventory) -> list[Taken] | Status:
        """What the pod takes on the node: its claims, and the devices of those that have none yet."""
        lacking = self._lacking(node)
        if isinstance(lacking, Status):
            return lacking
        group = self._group(lacking)
        given = {claim.uid: Taken(claim) for claim in self.claims.allocated}
        if group.kept is not None:
            outcome = self._allocator.on_node(group.kept, node.object)
            if not isinstance(outcome, Answer) or outcome.failure:
                return failed("claim allocation not found for node")
            devices = inventory.devices_of(node.object)
            results = allocations(group.kept.shape, outcome, group.claims, devices, node.name)
            for claim, allocation in zip(group.claims, results, strict=True):
                given[claim.uid] = Taken(claim, allocation)
        if group.extended is not None:
            given[group.extended.claim.uid].extended = group.extended
        return [given[claim.uid] for claim in (*self.claims.claims, *group.claims[len(self._open) :])]

    def merit(self, node: NodeView) -> Merit | None:
        """What DeviceScore says of the devices that the node would give."""
        lacking = self._lacking(node)
        group = None if isinstance(lacking, Status) else self._group(lacking)
        outcome = None if group is None or group.kept is None else self._allocator.on_node(group.kept, node.object)
        return outcome.merit if isinstance(outcome, Answer) else None

    def missing(self, node: NodeView, inventory: Inventory, usage: Usage) -> Missing:
        """What keeps devices of the node from the claims that have none yet."""
        lacking = self._lacking(node)
        group = None if isinstance(lacking, Status) else self._group(lacking)
        if group is None or group.kept is None:
            return []
        shape, devices = group.kept.shape, inventory.devices_of(node.object)
        return explaining.missing(shape, group.claims, devices, inventory.columns, usage, self._allocator.selectors)

    def would_fit_if(self, node: NodeView, inventory: Inventory) -> Remedies:
        """What alone would let the node serve the claims that have no devices yet."""
        lacking = self._lacking(node)
        group = None if isinstance(lacking, Status) else self._group(lacking)
        if group is None or group.kept is None or self.unavailable(node.object):
            return Remedies([], 0)
        if isinstance(self._allocator.on_node(group.kept, node.object), SearchTimeoutError):
            return Remedies([], 0)  # it may fit as it is
        real = Imagined(group.kept.shape, inventory.devices_of(node.object), inventory.columns)
        return WouldFit(real, group.claims, len(self._open), self._allocator.selectors).remedies()

    # -- all nodes --

    def on_all(self, nodes: NodeTable) -> Verdicts:
        codes = np.zeros(len(nodes), np.uint16)
        statuses: dict[Status, int] = {}
        for rows, group in self._grouped(nodes, codes, statuses):
            if not group.claims and not self.claims.claims:
                continue
            if group.error is not None:
                codes[rows] = _code(statuses, group.error)
            elif group.kept is not None:
                self._search(nodes, rows, group, codes, statuses)
        away = self._away(nodes)
        if away is not None:
            codes[away & (codes == 0)] = _code(statuses, NOT_AVAILABLE)
        return Verdicts(codes, tuple(statuses))

    def score_all(self, nodes: NodeTable) -> Scores:
        scores = np.zeros(len(nodes), np.int64)
        for rows, group in self._grouped(nodes, np.zeros(len(nodes), np.uint16), {}):
            if group.kept is None:
                continue
            numbers = self._allocator.on_all(group.kept, nodes)
            met, which = np.unique(numbers, return_inverse=True)
            known = np.array([self._earlier + group.score(int(number)) for number in met], np.int64)
            scores[rows] = known[which][rows]
        return scores

    def _search(
        self, nodes: NodeTable, rows: Mask, group: Group, codes: np.ndarray, statuses: dict[Status, int]
    ) -> None:
        assert group.kept is not None
        numbers = self._allocator.on_all(group.kept, nodes)
        for number in np.unique(numbers[rows]).tolist():
            outcome = group.kept.outcomes[number]
            if isinstance(outcome, Answer) and not outcome.failure:
                continue
            where = rows & (numbers == number)
            no = group.told(outcome, nodes.names[int(np.flatnonzero(where)[0])])
            assert no is not None
            codes[where] = _code(statuses, no)

    def _away(self, nodes: NodeTable) -> Mask | None:
        """Nodes that cannot use what allocated claims have."""
        away: Mask | None = None
        for claim in self.claims.allocated:
            if claim.uid in self._broken:
                return np.ones(len(nodes), np.bool_)
            if claim.node_requirement is not None:
                missing = ~nodes.matching(claim.node_requirement)
                away = missing if away is None else away | missing
        return away

    # -- extended resources --

    def _grouped(
        self, nodes: NodeTable, codes: np.ndarray, statuses: dict[Status, int]
    ) -> Iterable[tuple[Mask, Group]]:
        """Nodes that are asked the same; those that cannot have the pod's resources get their code."""
        everywhere = np.ones(len(nodes), np.bool_)
        if self.claims.leftover is not None:
            codes[:] = _code(statuses, unresolvable(NEVER_SCHEDULED_AGAIN))
            return
        if not self.claims.resources:
            yield everywhere, self._group(frozenset())
            return
        for resource in self._others():
            column = nodes.derive(f"DynamicResources.has.{resource}", partial(_has, resource), np.bool_)
            codes[~column] = _code(statuses, unresolvable(NOT_THERE))
        masks = [nodes.scalar_alloc(resource) == 0 for resource in self.claims.resources]
        packed = sum(mask.astype(np.int64) << place for place, mask in enumerate(masks))
        for bits in np.unique(packed).tolist():
            lacking = frozenset(resource for place, resource in enumerate(self.claims.resources) if bits & (1 << place))
            yield (packed == bits) & (codes == 0), self._group(lacking)

    def _lacking(self, node: NodeView) -> frozenset[str] | Status:
        """The extended resources that must come from devices on this node."""
        if self.claims.leftover is not None:
            return unresolvable(NEVER_SCHEDULED_AGAIN)
        if not self.claims.resources:
            return frozenset()
        if any(not _has(resource, node.object) for resource in self._others()):
            return unresolvable(NOT_THERE)
        return frozenset(each for each in self.claims.resources if node.scalar_alloc(each) == 0)

    def _others(self) -> list[str]:
        """Extended resources of the pod that no class stands behind."""
        asked = self.pod.requests.scalars
        return [
            name for name, amount in asked.items() if amount and may_be_devices(name) and self._classes.of(name) is None
        ]

    def _group(self, lacking: frozenset[str]) -> Group:
        known = self._groups.get(lacking)
        if known is None:
            extended = extended_claim(self.pod, lacking, self._class_name) if lacking else None
            known = self._groups[lacking] = Group(self._open, extended, self._allocator)
        return known

    def _class_name(self, resource: str) -> str:
        found = self._classes.of(resource)
        assert found is not None
        return found.name


def _code(statuses: dict[Status, int], status: Status) -> int:
    return statuses.setdefault(status, len(statuses) + 1)


def _has(resource: str, node: Node) -> bool:
    return resource in node.allocatable.scalars


def _reaches(claim: ResourceClaim, node: Node) -> bool:
    wanted = claim.node_requirement
    return wanted is None or wanted.matches(node.name, node.labels)


def _rank_of(claim: ResourceClaim, results: Sequence[DeviceRequestAllocationResult]) -> int:
    """The score of a claim that has its devices."""
    chosen = {result.request for result in results}
    return sum(
        MOST_ALTERNATIVES - rank
        for request in claim.requests
        for rank, each in enumerate(request.first_available or ())
        if f"{request.name}/{each.name}" in chosen
    )

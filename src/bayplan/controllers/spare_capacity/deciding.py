"""
What is to be done about spare capacity now: ledgers to write, spare pods to evict, and what people should be told.

``decide`` is the whole controller as one pure function.  The annotator's process calls it with what its informers know
and does what it says; the simulator does the same in virtual time.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field

from bayplan.controllers.spare_capacity.ledgers import Load, ledger_of, load_of
from bayplan.controllers.spare_capacity.settings import SpareSettings
from bayplan.objects import spare
from bayplan.objects.load_estimate import NOTHING, Use
from bayplan.objects.node import Node
from bayplan.objects.pod import Pod
from bayplan.objects.spare import LEDGER, Ledger


@dataclass(frozen=True, slots=True)
class Busy:
    """How often in a row a node was found above a watermark."""

    samples: int
    last_at: float


@dataclass(frozen=True, slots=True)
class Memory:
    """What one decision leaves for the next.  Losing it costs nothing but a little time."""

    busy: Mapping[str, Busy] = field(default_factory=dict)
    evicted_at: Mapping[str, float] = field(default_factory=dict)
    """By node."""
    owners_evicted_at: Mapping[str, float] = field(default_factory=dict)
    closed: frozenset[str] = frozenset()


@dataclass(frozen=True, slots=True)
class Eviction:
    """A spare pod that must go."""

    pod: Pod
    because: str


@dataclass(frozen=True, slots=True)
class Plan:
    """What to do, in this order; and what to remember."""

    ledgers: Mapping[str, Ledger]
    """By node, those that differ from what the node carries."""
    evictions: Sequence[Eviction]
    closed: Sequence[str]
    """Nodes whose ledger has just been closed for want of a load: people should be told."""
    opened: Sequence[str]
    """Nodes whose ledger is open again."""
    memory: Memory


def decide(
    nodes: Iterable[tuple[Node, Sequence[Pod]]],
    now: float,
    settings: SpareSettings,
    memory: Memory,
    measured: Mapping[str, Use] | None = None,
) -> Plan:
    """
    Look at every node with the pods on it.

    Args:
        measured: what spare pods really use, by uid, where that is known.
    """
    known = measured or {}
    ledgers: dict[str, Ledger] = {}
    evictions: list[Eviction] = []
    busy: dict[str, Busy] = {}
    closed: set[str] = set()
    evicted_at, owners = dict(memory.evicted_at), dict(memory.owners_evicted_at)
    there: set[str] = set()
    for node, pods in nodes:
        there.add(node.name)
        load = load_of(node, settings, now)
        spares = [pod for pod in pods if spare.is_spare(pod)]
        ledger = ledger_of(node, pods, load, now, settings, _sum(known.get(pod.uid, NOTHING) for pod in spares))
        if _is_news(node, ledger):
            ledgers[node.name] = ledger
        if load is None or now >= load.at + settings.close_after_s:
            closed.add(node.name)
            continue
        above = _above(memory.busy.get(node.name), load, settings)
        if above is not None:
            busy[node.name] = above
            is_quiet = now - evicted_at.get(node.name, float("-inf")) >= settings.node_cooldown_s
            if above.samples >= settings.samples_above and is_quiet:
                chosen = list(_victims(node, spares, load, now, settings, owners, known))
                if chosen:
                    evictions += chosen
                    evicted_at[node.name] = now
                    owners.update((_owner(each.pod), now) for each in chosen)
    kept = {name: at for name, at in evicted_at.items() if name in there}
    recent = {owner: at for owner, at in owners.items() if now - at < settings.owner_cooldown_s}
    return Plan(
        ledgers=ledgers,
        evictions=evictions,
        closed=sorted(closed - memory.closed),
        opened=sorted((memory.closed - closed) & there),
        memory=Memory(busy, kept, recent, frozenset(closed)),
    )


def _is_news(node: Node, ledger: Ledger) -> bool:
    """A new sample is always written: the ledger's age is that of its load."""
    before = spare.read_ledger(node.annotations.get(LEDGER))
    if before is None:
        return True
    same_amounts = before[:2] == ledger[:2]
    return not same_amounts or int(before.sampled_at) != int(ledger.sampled_at)


def _above(before: Busy | None, load: Load, settings: SpareSettings) -> Busy | None:
    """Count samples above a watermark; the same sample seen twice is one."""
    if load.cpu <= settings.cpu_watermark and load.memory <= settings.memory_watermark:
        return None
    if before is None:
        return Busy(1, load.at)
    return before if load.at <= before.last_at else Busy(before.samples + 1, load.at)


def _victims(
    node: Node,
    spares: Sequence[Pod],
    load: Load,
    now: float,
    settings: SpareSettings,
    owners: Mapping[str, float],
    measured: Mapping[str, Use],
) -> Iterator[Eviction]:
    """Spare pods until the node would be below its shares: lowest priority, most above its declaration, youngest."""
    cpu = (load.cpu - settings.cpu_share) * node.allocatable.cpu_milli
    memory = (load.memory - settings.memory_share) * node.allocatable.memory_bytes
    is_cpu = load.cpu > settings.cpu_watermark
    what, value = ("cpu", load.cpu) if is_cpu else ("memory", load.memory)
    mark = settings.cpu_watermark if is_cpu else settings.memory_watermark
    because = f"{what} of node {node.name} is in use at {value:.0%}, above {mark:.0%}"

    def rank(pod: Pod) -> tuple[bool, int, float, float]:
        is_tired = now - owners.get(_owner(pod), float("-inf")) < settings.owner_cooldown_s
        return is_tired, pod.priority, -_excess(pod, measured), -(pod.start_time or now)

    for pod in sorted((pod for pod in spares if not pod.is_terminating), key=rank):
        if cpu <= 0 and memory <= 0:
            return
        use = _use(pod, measured)
        cpu -= use.cpu_milli
        memory -= use.memory_bytes
        yield Eviction(pod, because)


def _use(pod: Pod, measured: Mapping[str, Use]) -> Use:
    """As measured, else as declared."""
    known, declared = measured.get(pod.uid), spare.declared(pod)
    if known is not None or declared is None:
        return known or NOTHING
    return Use(declared.cpu_milli, declared.memory_bytes)


def _excess(pod: Pod, measured: Mapping[str, Use]) -> float:
    """How many times over its declaration the pod is, in the resource where it is furthest over."""
    known, declared = measured.get(pod.uid), spare.declared(pod)
    if known is None or declared is None:
        return 0.0
    return max(known.cpu_milli / max(1, declared.cpu_milli), known.memory_bytes / max(1, declared.memory_bytes))


def _owner(pod: Pod) -> str:
    owner = pod.controller
    return f"{pod.namespace}/{owner.kind}/{owner.name}" if owner is not None else f"{pod.namespace}/Pod/{pod.name}"


def _sum(uses: Iterable[Use]) -> Use:
    total = NOTHING
    for use in uses:
        total = total.plus(use)
    return total

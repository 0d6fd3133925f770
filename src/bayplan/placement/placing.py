"""Placements decided from a pile of objects, without a hub: what `bayplan place` shows.

An outage can be tried out: the placements are decided first as things are, then without the clusters that are lost.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence

from bayplan.errors import InputError
from bayplan.objects.meta import ApiObject
from bayplan.objects.selector import Selector
from bayplan.objects.third_party import placement as api
from bayplan.placement import explaining, own_plugins
from bayplan.placement.events import Deleted
from bayplan.placement.explaining import Document
from bayplan.placement.own_plugins import OwnPlugins
from bayplan.placement.state import PlacementState

EVERYWHERE = "default"


def place(
    objects: Iterable[ApiObject],
    *,
    now: float,
    only: str | None = None,
    without: Selector | None = None,
    told: str = "",
    plugins: OwnPlugins = own_plugins.NONE,
) -> tuple[list[Document], PlacementState]:
    """A document for every placement, or for the one that is named, and the state they come from.

    `without` are clusters that are lost, `told` how the user said it.
    """
    things = list(objects)
    documents: dict[str, Document] = {}

    def write_down(key: str) -> None:
        # Now, while the counts are those that the decision was made with.
        evaluation = state.evaluation(key)
        documents[key] = explaining.explain(evaluation, now, state.others(evaluation.plan))

    state = PlacementState(now, write_down, plugins)
    state.load(things)
    keys = _wanted(state, only)
    if without is None:
        return [documents[key] for key in keys], state
    before = {key: state.clusters(key) for key in keys}
    lost = [each for each in things if _is_lost(each, without)]
    if not lost:
        raise InputError(f"no cluster has {told}", field="--without", fix="name a label or a claim of some cluster")
    state.handle_all(Deleted(each) for each in lost)
    return [documents[key] | _moves(told, lost, before[key], state.clusters(key)) for key in keys], state


def _wanted(state: PlacementState, only: str | None) -> list[str]:
    keys = state.placements()
    if not keys:
        raise InputError("there is no Placement in the files", fix="add one")
    if only is None:
        return keys
    key = only if "/" in only else f"{EVERYWHERE}/{only}"
    if key not in keys:
        raise InputError(f"there is no placement {key}", field="--placement", fix=f"there are {', '.join(keys)}")
    return [key]


def _is_lost(thing: ApiObject, without: Selector) -> bool:
    """Whether a cluster goes with what is lost; where a label and a claim have one name, either may be meant."""
    if not isinstance(thing, api.ManagedCluster):
        return False
    return without.matches({**thing.claims, **thing.labels}) or without.matches({**thing.labels, **thing.claims})


def _moves(told: str, lost: Sequence[ApiObject], before: Sequence[str], after: Sequence[str]) -> Document:
    return {
        "without": {"selector": told, "clusters": sorted(each.name for each in lost)},
        "moves": {
            "removed": sorted(set(before) - set(after)),
            "added": sorted(set(after) - set(before)),
        },
    }

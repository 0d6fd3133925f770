"""What to tell people about a placement that was written: events on it, with the published reasons.

The hub controller records them after the writes went through. A decision's event says who came and who went; a
placement that gets fewer clusters than it wants, or that is misconfigured, gets a warning with the condition's text.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass

from bayplan.objects.third_party import placement as api
from bayplan.placement.conditions import MISCONFIGURED, SATISFIED
from bayplan.placement.decision_writes import Create, Delete, PatchStatus, Update, Write
from bayplan.text_layout import listed

LONGEST = 1000
"""An API server takes 1,024 bytes."""
NORMAL, WARNING = "Normal", "Warning"
_FOLDED = 20


@dataclass(frozen=True, slots=True)
class Announcement:
    """One event about a placement."""

    type: str
    reason: str
    note: str


def announcements(
    placement: api.Placement, existing: Sequence[api.PlacementDecision], names: Iterable[str], writes: Sequence[Write]
) -> list[Announcement]:
    """What to tell; `placement` and `existing` are as they were before the writes, `names` what is chosen now."""
    before, after = {name for page in existing for name in page.clusters}, set(names)
    changes = "; ".join(
        f"{_count(found)} {verb}: {listed(found, _FOLDED)}"
        for found, verb in ((sorted(after - before), "joined"), (sorted(before - after), "left"))
        if found
    )
    told = []
    pages = {
        "DecisionCreate": [each.manifest["metadata"]["name"] for each in writes if isinstance(each, Create)],
        "DecisionUpdate": sorted({each.name for each in writes if isinstance(each, Update)}),
        "DecisionDelete": [each.name for each in writes if isinstance(each, Delete)],
    }
    for reason, written in pages.items():
        if written:
            note = f"{listed(written, _FOLDED)}: {changes or 'the same clusters as before'}"
            told.append(Announcement(NORMAL, reason, _cut(note)))
    for each in writes:
        if isinstance(each, PatchStatus):
            told += _verdicts(placement, each)
    return told


def _verdicts(placement: api.Placement, write: PatchStatus) -> list[Announcement]:
    """Conditions that are different from before."""
    held = {each.type: each for each in placement.status.conditions or ()}
    found = []
    for new in write.status.get("conditions", ()):
        kind, status, reason, message = new["type"], new["status"], new["reason"], new["message"]
        old = held.get(kind)
        if old is not None and (old.status, old.reason, old.message) == (status, reason, message):
            continue
        if (kind == SATISFIED and status == "False") or (kind == MISCONFIGURED and status == "True"):
            found.append(Announcement(WARNING, reason, _cut(message)))
        elif kind == SATISFIED and old is not None and old.status == "False":
            found.append(Announcement(NORMAL, reason, _cut(message)))
    return found


def _count(names: Sequence[str]) -> str:
    return f"{len(names)} cluster{'s' if len(names) > 1 else ''}"


def _cut(text: str) -> str:
    data = text.encode()
    return text if len(data) <= LONGEST else data[: LONGEST - 3].decode(errors="ignore") + "..."

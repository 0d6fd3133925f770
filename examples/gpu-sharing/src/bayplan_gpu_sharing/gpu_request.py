"""
What a pod asks for of GPUs, and what it takes of them once it is placed.

``gpu_columns`` adds it up by node, the policies go by it.
"""

from __future__ import annotations

from functools import cache
from typing import NamedTuple

from bayplan.objects.pod import Pod

RESOURCE = "gpu-sharing.example.com/milli"
"""What nodes have and pods request: thousandths of GPUs.  Below 1000 it is a share of one, else whole ones."""
MODEL = "gpu-sharing.example.com/model"
"""A label of nodes."""
MODELS = "gpu-sharing.example.com/models"
"""An annotation of pods: the models that will do, such as ``A10|T4``; any without it."""
INDEX = "gpu-sharing.example.com/index"
"""An annotation of pods that run: the GPUs they are on, such as ``0`` or ``2-3``."""
WHOLE = 1000


class GpuRequest(NamedTuple):
    """So many GPUs, and so much of each."""

    cpu_milli: int
    milli: int
    """Of each GPU; 0 for a pod that wants none."""
    count: int
    models: str = ""

    @property
    def is_shared(self) -> bool:
        return 0 < self.milli < WHOLE

    @property
    def total(self) -> int:
        return self.milli * self.count

    def takes(self, model: str) -> bool:
        """Will this model of GPU do?"""
        wanted = models_of(self.models)
        return not wanted or model in wanted


@cache
def models_of(text: str) -> frozenset[str]:
    return frozenset(filter(None, text.split("|")))


def request_of(pod: Pod) -> GpuRequest:
    """What a pod asks for; ValueError if that is neither a share of one GPU nor some whole ones."""
    amounts = pod.requests
    total = amounts.scalars.get(RESOURCE, 0)
    models = pod.annotations.get(MODELS, "") if total else ""
    if total > WHOLE and total % WHOLE:
        raise ValueError(f"asks for {total} of {RESOURCE}: write up to {WHOLE}, or a multiple of it")
    return GpuRequest(amounts.cpu_milli, min(total, WHOLE), -(-total // WHOLE), models)


def indexes_of(pod: Pod) -> tuple[int, ...] | None:
    """The GPUs that a pod's annotation says it is on; None if it says nothing that can be read."""
    parts = pod.annotations.get(INDEX, "").split("-")
    return tuple(map(int, parts)) if all(part.isascii() and part.isdigit() for part in parts) else None

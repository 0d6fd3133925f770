"""What is exchanged with an extender, without the wire around it.

An extender is a web service that has a say in scheduling (`framework.ports.Extender`). The engine asks and reads
these values; `kube.extender` turns them into JSON and back.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import NamedTuple

from bayplan.objects.pod import Pod


class Filtered(NamedTuple):
    """What an extender leaves of the nodes it was asked about, and why the others may not have the pod."""

    passed: tuple[str, ...]
    failed: Mapping[str, str]
    """By node name. Evicting pods there may help."""
    unresolvable: Mapping[str, str]
    """By node name. Evicting pods there would not help; a node that is in both maps counts as one of these."""


class Victims(NamedTuple):
    """The pods that would have to leave one node."""

    pods: tuple[Pod, ...]
    pdb_violations: int


class VictimIds(NamedTuple):
    """An extender's answer for one node: it names pods by their UID alone."""

    uids: tuple[str, ...]
    pdb_violations: int

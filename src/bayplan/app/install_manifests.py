"""
Install manifests: what ``bayplan manifests`` prints, ready for ``kubectl apply -f -``.

The files are in ``app/manifests/``, and nowhere else: one folder for each part, whose ``kustomization.yaml`` names its
files in the order in which they should be applied.  The folders in ``deploy/`` refer to them, for ``kubectl apply -k``,
and so do the Helm charts there.
"""

from __future__ import annotations

import re
from importlib.resources import files
from importlib.resources.abc import Traversable
from textwrap import indent

import yaml

ALL = "all"
PARTS = ("crds", "scheduler", "rebalancer", "annotator", "sticky-vm", "placement")
"""A folder each.  Kinds come before the services that read them.  ``shadow``, ``ui`` and ``network-policies`` are
folders, too, for those who ask for them."""

APART: dict[str, tuple[str, str]] = {
    "prometheus-rules": ("prometheus", "rules.yaml"),
    "prometheus-operator-rules": ("prometheus", "prometheus-rule.yaml"),
    "placement-crds": ("crds", "placement.yaml"),
    "rebalancer-plan": ("rebalancer", "plan-rbac.yaml"),
}
"""Files that are printed only when asked for: not every cluster knows their kinds, they are no objects at all, or give
rights that few need."""

_IMAGE = re.compile(r"^(\s+image: ).+$", re.MULTILINE)
_GROUPS = re.compile(r"^groups:$.*", re.MULTILINE | re.DOTALL)


def manifests(part: str = ALL, image: str | None = None) -> str:
    """The manifests of one part or of all, as one YAML stream; ``image`` replaces the one that is written there."""
    folder = files("bayplan.app") / "manifests"
    if part in APART:
        text = folder.joinpath(*APART[part]).read_text("utf-8")
        return text + _rule_groups(folder) if part == "prometheus-operator-rules" else text
    texts = [file.read_text("utf-8") for name in (PARTS if part == ALL else (part,)) for file in _files(folder / name)]
    stream = "---\n".join(texts)
    return stream if image is None else _IMAGE.sub(lambda found: found[1] + image, stream)


def _files(part: Traversable) -> list[Traversable]:
    listed = yaml.safe_load((part / "kustomization.yaml").read_text("utf-8"))
    return [part / name for name in listed["resources"]]


def _rule_groups(folder: Traversable) -> str:
    """The recording rules as they stand under ``spec`` of a PrometheusRule."""
    found = _GROUPS.search(folder.joinpath(*APART["prometheus-rules"]).read_text("utf-8"))
    assert found is not None
    return indent(found[0], "  ")

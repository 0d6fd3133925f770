"""
Install manifests: what ``bayplan manifests`` prints, ready for ``kubectl apply -f -``.

The files are in ``app/manifests/``, one folder for each service and one for the kinds; ``deploy/base`` holds the
scheduler's files for kustomize.
"""

from __future__ import annotations

import re
from importlib.resources import files

ALL = "all"
PARTS: dict[str, tuple[str, ...]] = {
    "crds": (
        "workloadpolicies.yaml",
        "distributionpolicies.yaml",
        "clusterdistributionpolicies.yaml",
        "admission.yaml",
        "reading.yaml",
    ),
    "scheduler": ("rbac.yaml", "config.yaml", "deployment.yaml", "metrics.yaml"),
    "rebalancer": ("rbac.yaml", "deployment.yaml"),
    "annotator": ("rbac.yaml", "config.yaml", "deployment.yaml", "metrics.yaml"),
    "sticky-vm": ("rbac.yaml",),
    "placement": ("rbac.yaml", "deployment.yaml"),
}
"""The files of each part, in the order in which they should be applied; kinds come before who reads them."""

APART: dict[str, tuple[str, str]] = {
    "prometheus-rules": ("prometheus", "rules.yaml"),
    "prometheus-operator-rules": ("prometheus", "prometheus-rule.yaml"),
    "placement-crds": ("crds", "placement.yaml"),
}
"""Files that are printed only when asked for: not every cluster knows their kinds, or they are no objects at all."""

_IMAGE = re.compile(r"^(\s+image: ).+$", re.MULTILINE)


def manifests(part: str = ALL, image: str | None = None) -> str:
    """The manifests of one part or of all, as one YAML stream; ``image`` replaces the one that is written there."""
    folder = files("bayplan.app") / "manifests"
    if part in APART:
        return folder.joinpath(*APART[part]).read_text("utf-8")
    names = PARTS if part == ALL else {part: PARTS[part]}
    texts = [(folder / name / file).read_text("utf-8") for name, parts in names.items() for file in parts]
    stream = "---\n".join(texts)
    return stream if image is None else _IMAGE.sub(lambda found: found[1] + image, stream)

"""What to write instead of fields that people know from elsewhere: from older versions, or from pods.

`api_fields` looks here first. A key is the kind and the path without indices; VALUE stands for what was written.
"""

from __future__ import annotations

_CONSTRAINT = "Placement.spec.spreadPolicy.spreadConstraints"
_CONFIGURATION = "Placement.spec.prioritizerPolicy.configurations"
_CONSTRAINTS = "write spec.spreadPolicy.spreadConstraints, with topologyKey, topologyKeyType and maxSkew"
_PREDICATES = "write spec.predicates, with labels under requiredClusterSelector.labelSelector"
_TAINTS = "taints are always taken into account: write spec.tolerations for those that do not matter"

_OF_CONSTRAINTS = {
    "labelSelector": (
        "clusters are counted here, not pods: choose among clusters in spec.predicates, "
        "and count what other placements have with spreadPolicy.groupSelector"
    ),
    "matchLabelKeys": "clusters are counted here, not pods: remove it",
    "nodeAffinityPolicy": "spec.predicates are always taken into account: remove it",
    "nodeTaintsPolicy": _TAINTS,
}
INSTEAD = {
    f"{_CONFIGURATION}.name": "write scoreCoordinate: {type: BuiltIn, builtIn: VALUE}",
    f"{_CONFIGURATION}.builtIn": "write scoreCoordinate: {type: BuiltIn, builtIn: VALUE}",
    "Placement.spec.topologySpreadConstraints": _CONSTRAINTS,
    "Placement.spec.spreadPolicy.topologySpreadConstraints": "write spreadConstraints",
    "Placement.spec.clusterReplicas": "write numberOfClusters: VALUE",
    "Placement.spec.clusterSelector": _PREDICATES,
    "Placement.spec.labelSelector": _PREDICATES,
    "Placement.spec.affinity": _PREDICATES,
    "Placement.spec.clusterConditions": "clusters that are not available have a taint and are left out: remove it",
    "Placement.spec.predicates.requiredClusterSelector.matchLabels": "write it under labelSelector",
    "Placement.spec.predicates.requiredClusterSelector.matchExpressions": "write it under labelSelector",
    **{f"{_CONSTRAINT}.{name}": advice for name, advice in _OF_CONSTRAINTS.items()},
}

"""What a hub refuses because of the definitions we ship is what `bayplan place` refuses; the rest is in a condition."""

from __future__ import annotations

import copy
import random
from typing import Any

import pytest
import yaml

from bayplan.errors import InputError
from bayplan.objects.files import loading, manifests
from bayplan.objects.third_party import placement as placement_objects
from bayplan.placement.plan import compile_placement
from bayplan.placement.registry import SCORERS
from tests.app.placement.hub import GROUP, NAMESPACE, add_placement, condition, deciding, eventually, spread
from tests.support.api import Api, ApiError, Object, path_of
from tests.support.control_plane import ControlPlane

pytestmark = pytest.mark.kube

PLACEMENT = yaml.safe_load(f"""
apiVersion: {GROUP}/v1beta1
kind: Placement
metadata: {{name: web, namespace: {NAMESPACE}}}
spec:
  clusterSets: [all]
  numberOfClusters: 3
  predicates:
  - requiredClusterSelector:
      labelSelector: {{matchLabels: {{a: b}}, matchExpressions: [{{key: a, operator: Exists}}]}}
      claimSelector: {{matchExpressions: [{{key: a, operator: In, values: [x]}}]}}
  prioritizerPolicy:
    mode: Exact
    configurations:
    - {{scoreCoordinate: {{type: BuiltIn, builtIn: Steady}}, weight: 2}}
    - {{scoreCoordinate: {{type: AddOn, addOn: {{resourceName: a, scoreName: b}}}}}}
  spreadPolicy:
    scope: Flat
    maxMoves: 1
    groupSelector: {{matchLabels: {{a: b}}}}
    spreadConstraints:
    - {{topologyKey: region, topologyKeyType: Label, maxSkew: 2, whenUnsatisfiable: DoNotSchedule, minDomains: 2}}
    - {{topologyKey: zone, topologyKeyType: Claim, weights: {{x: 2}}}}
  tolerations: [{{key: a, operator: Exists, effect: NoSelect, tolerationSeconds: 5}}]
  decisionStrategy:
    groupStrategy:
      clustersPerDecisionGroup: 50%
      decisionGroups: [{{groupName: canary, groupClusterSelector: {{labelSelector: {{matchLabels: {{a: b}}}}}}}}]
  sortBy: Score
  scoreRateLimit: 5m
""")
CLUSTER = yaml.safe_load(f"""
apiVersion: {GROUP}/v1
kind: ManagedCluster
metadata: {{name: web}}
spec:
  hubAcceptsClient: true
  leaseDurationSeconds: 30
  managedClusterClientConfigs: [{{url: https://a}}]
  taints: [{{key: a, value: b, effect: NoSelect}}]
""")
SET = yaml.safe_load(f"""
apiVersion: {GROUP}/v1beta2
kind: ManagedClusterSet
metadata: {{name: web}}
spec: {{clusterSelector: {{selectorType: LabelSelector, labelSelector: {{matchLabels: {{a: b}}}}}}}}
""")
VALUES: list[Any] = [-1, 0, 2**31, "", "zzz", "a b", True, [], {}, 3.5, [1], {"zzz": 1}]


def is_refused_here(raw: Object) -> str:
    """What `bayplan place` would say; "" if nothing."""
    try:
        (thing,) = loading.load([manifests.Document("a.yaml", 1, raw)], with_namespaces=False).objects
    except InputError as error:
        return str(error)
    if isinstance(thing, placement_objects.Placement):
        return compile_placement(thing, SCORERS).misconfiguration
    return ""


def is_refused_there(api: Api, raw: Object) -> str:
    namespace = raw["metadata"].get("namespace")
    try:
        api.call("POST", path_of(raw["kind"], namespace), raw, dryRun="All", fieldValidation="Strict")
    except ApiError as error:
        return str(error)
    return ""


def places(value: Any, above: tuple[Any, ...] = ()) -> list[tuple[Any, ...]]:
    """The paths of all fields below the spec."""
    pairs = value.items() if isinstance(value, dict) else enumerate(value) if isinstance(value, list) else ()
    return [path for key, each in pairs for path in ((*above, key), *places(each, (*above, key)))]


def changed(raw: Object, pick: random.Random) -> Object:
    """The object with a field misspelt, left out, or with another value."""
    made = copy.deepcopy(raw)
    path = pick.choice(places(made["spec"], ("spec",)))
    holder: Any = made
    for step in path[:-1]:
        holder = holder[step]
    what = pick.random()
    if what < 0.4 and isinstance(holder, dict):
        name = str(path[-1])
        at = pick.randrange(len(name))
        holder[name[:at] + pick.choice("xyz") + name[at + 1 :]] = holder.pop(path[-1])
    elif what < 0.6:
        del holder[path[-1]]
    else:
        holder[path[-1]] = pick.choice(VALUES)
    return made


@pytest.mark.parametrize("raw", [PLACEMENT, CLUSTER, SET], ids=lambda raw: raw["kind"])
def test_what_a_hub_refuses_is_refused_here(api: Api, raw: Object) -> None:
    assert is_refused_here(raw) == ""
    assert is_refused_there(api, raw) == ""
    pick = random.Random(raw["kind"])
    refused, slipped = 0, []
    for _ in range(300):
        made = changed(raw, pick)
        there, here = is_refused_there(api, made), is_refused_here(made)
        refused += bool(there)
        if there and not here:
            slipped.append(there)
    assert slipped == []
    assert refused > 100


async def test_what_a_definition_cannot_refuse_is_a_condition(api: Api, control_plane: ControlPlane) -> None:
    add_placement(api, **spread(2))
    api.patch("Placement", "web", {"metadata": {"annotations": {"placement.bayplan.io/spred": "{}"}}}, NAMESPACE)
    async with deciding(control_plane):
        told = "placement.bayplan.io/spread"
        await eventually(
            lambda: told in condition(api, "PlacementMisconfigured").get("message", ""), "the misspelt annotation told"
        )
        assert condition(api, "PlacementMisconfigured")["status"] == "True"
        notes = {"placement.bayplan.io/spred": None, "placement.bayplan.io/spread": "spreadConstraints: [{maxSkw: 1}]"}
        api.patch("Placement", "web", {"metadata": {"annotations": notes}}, NAMESPACE)
        await eventually(
            lambda: 'did you mean "maxSkew"?' in condition(api, "PlacementMisconfigured").get("message", ""),
            "the misspelt field told",
        )

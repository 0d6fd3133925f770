"""Custom resources get what built-in kinds get: a field that is not there is told, with the one that was meant."""

from __future__ import annotations

from typing import Any

import msgspec
import pytest
import yaml

from bayplan.errors import InputError
from bayplan.objects import kinds
from bayplan.objects.admission import api_fields
from bayplan.objects.files import loading, manifests
from bayplan.objects.meta import ApiObject
from bayplan.placement.options import ReplicaOptions, WeightedClusters
from tests.objects import crd_fields

OCM = "cluster.open-cluster-management.io"
CONSTRAINT = "{topologyKey: region, topologyKeyType: Label, maxSkew: 1}"


def placement(spec: str, version: str = "v1beta1") -> str:
    return f"{{apiVersion: {OCM}/{version}, kind: Placement, metadata: {{name: web}}, spec: {spec}}}"


def spread(constraint: str, more: str = "") -> str:
    return placement(f"{{spreadPolicy: {{spreadConstraints: [{constraint}]{more}}}}}")


def cluster(rest: str) -> str:
    return f"{{apiVersion: {OCM}/v1, kind: ManagedCluster, metadata: {{name: web}}, {rest}}}"


def policy(rest: str) -> str:
    return f"{{apiVersion: kosmos.io/v1alpha1, kind: WorkloadPolicy, metadata: {{name: web}}, spec: {rest}}}"


DOMAINS = "topologyKey: zone, labelSelector: {matchLabels: {a: b}}, allocationPolicy: [{name: a, replicas: 1}]"
CONSTRAINTS = "write spec.spreadPolicy.spreadConstraints, with topologyKey, topologyKeyType and maxSkew"

WRONG = [
    (placement("{numberOfCluster: 3}"), 'spec.numberOfCluster: unknown field; did you mean "numberOfClusters"?'),
    (
        spread(CONSTRAINT.replace("maxSkew: 1", "whenUnsatisfied: DoNotSchedule")),
        'spec.spreadPolicy.spreadConstraints[0].whenUnsatisfied: unknown field; did you mean "whenUnsatisfiable"?',
    ),
    (
        spread(CONSTRAINT.replace("maxSkew", "maxSkw")),
        'spec.spreadPolicy.spreadConstraints[0].maxSkw: unknown field; did you mean "maxSkew"?',
    ),
    (spread(CONSTRAINT, ", maxMove: 1"), 'spec.spreadPolicy.maxMove: unknown field; did you mean "maxMoves"?'),
    (
        placement(f"{{spreadConstraints: [{CONSTRAINT}]}}"),
        "spec.spreadConstraints: unknown field; write it under spread",
    ),
    (placement("{topologySpreadConstraints: []}"), f"spec.topologySpreadConstraints: unknown field; {CONSTRAINTS}"),
    (
        placement("{prioritizerPolicy: {configurations: [{name: Steady, weight: 2}]}}", "v1alpha1"),
        "configurations[0].name: unknown field; write scoreCoordinate: {type: BuiltIn, builtIn: Steady}",
    ),
    (
        spread(CONSTRAINT.replace("maxSkew: 1", "labelSelector: {matchLabels: {a: b}}")),
        "labelSelector: unknown field; clusters are counted here, not pods: choose among clusters in spec.predicates",
    ),
    (
        placement("{predicates: [{labelSelector: {matchLabels: {a: b}}}]}"),
        "spec.predicates[0].labelSelector: unknown field; write it under requiredClusterSelector",
    ),
    (
        placement("{decisionStrategy: {clustersPerDecisionGroup: 3}}"),
        "spec.decisionStrategy.clustersPerDecisionGroup: unknown field; write it under groupStrategy",
    ),
    (cluster("spec: {taint: []}"), 'spec.taint: unknown field; did you mean "taints"?'),
    (cluster("status: {allocatabel: {cpu: 3}}"), 'status.allocatabel: unknown field; did you mean "allocatable"?'),
    (
        cluster("status: {clusterClaims: [{name: a, nam: a}]}"),
        "status.clusterClaims[0].nam: unknown field; did you mean",
    ),
    (cluster("spec: {taints: [{key: a, effect: NoSchedule}]}"), 'taints[0].effect: "NoSchedule" is not possible here'),
    (cluster("spec: {taints: [{key: a b, effect: NoSelect}]}"), 'taints[0].key: "a b" is not a label key'),
    (
        f"{{apiVersion: {OCM}/v1alpha1, kind: AddOnPlacementScore, metadata: {{name: web}},"
        " status: {scores: [{name: a, value: 101}]}}",
        "status.scores[0].value: 101 is out of range; write a number from -100 to 100",
    ),
    (
        f"{{apiVersion: {OCM}/v1beta2, kind: ManagedClusterSet, metadata: {{name: web}},"
        " spec: {clusterSelector: {labelSelector: {}}}}",
        "spec.clusterSelector.labelSelector: is read with selectorType LabelSelector only; write selectorType: Label",
    ),
    (policy(f"{{{DOMAINS}, alocationType: Required}}"), 'spec.alocationType: unknown field; did you mean "allocationT'),
    (policy(f"{{{DOMAINS}, rebalance: {{modus: Auto}}}}"), 'rebalance.modus: unknown field; did you mean "mode"?'),
    (
        "{apiVersion: kosmos.io/v1alpha1, kind: DistributionPolicy, metadata: {name: web}, spec: {resourceSelectors:"
        " [{policyName: a, name: b}], policyTerms: [{name: a, nodeTyp: leaf}]}}",
        'spec.policyTerms[0].nodeTyp: unknown field; did you mean "nodeType"?',
    ),
    (
        "{apiVersion: kubevirt.io/v1, kind: VirtualMachineInstance, metadata: {name: web}, status: {nodeNam: n1}}",
        'status.nodeNam: unknown field; did you mean "nodeName"?',
    ),
    (
        "{apiVersion: kubevirt.io/v1, kind: VirtualMachine, metadata: {name: web, anotations: {}}}",
        'metadata.anotations: unknown field; did you mean "annotations"?',
    ),
]


def load(text: str) -> loading.Loaded:
    return loading.load([manifests.Document("a.yaml", 1, yaml.safe_load(text))])


@pytest.mark.parametrize(("text", "told"), WRONG, ids=[told[:50] for _, told in WRONG])
def test_a_mistake_is_one_line_with_file_object_and_field(text: str, told: str) -> None:
    with pytest.raises(InputError) as caught:
        load(text)
    (line,) = str(caught.value).splitlines()
    assert line.startswith("a.yaml:1: ")
    assert told in line


GOOD = [
    placement("{numberOfClusters: 3, sortBy: ClusterName, clusterSets: [a]}"),
    spread(CONSTRAINT.replace("maxSkew: 1", "weights: {eu: 2}")),
    cluster("spec: {managedClusterClientConfigs: [{url: a, caBundle: b}]}, status: {conditions: [{type: a}]}"),
    policy(f"{{{DOMAINS}}}"),
    "{apiVersion: kubevirt.io/v1, kind: VirtualMachine, metadata: {name: web}, spec: {anything: {}}}",
    "{apiVersion: kubevirt.io/v1, kind: VirtualMachineInstance, metadata: {name: web}, spec: {quantumLink: {}}}",
]


@pytest.mark.parametrize("text", GOOD)
def test_fields_that_are_there_are_fine_also_those_that_nobody_reads(text: str) -> None:
    assert load(text).warnings == []


def test_fields_without_effect_are_said() -> None:
    assert load(placement("{sortBy: Score}")).warnings == [
        "a.yaml:1: Placement web: spec.sortBy: Score has no effect: decisions are listed by the names of their clusters, "
        "and scores are in -o json"
    ]


def test_what_a_server_stored_gets_a_warning() -> None:
    text = placement("{numberOfCluster: 3}").replace("name: web", "name: web, uid: u1")
    (warning,) = load(text).warnings
    assert 'spec.numberOfCluster: unknown field, not taken into account; did you mean "numberOfClusters"?' in warning


def test_the_kind_of_another_group_is_not_ours() -> None:
    class Other(ApiObject, frozen=True, kw_only=True):
        pass

    kind = kinds.Kind("example.com", "v1", "Placement", "placements", Other)
    assert not api_fields.knows(kind)


def test_the_table_is_what_the_definitions_say() -> None:
    written = [line for line in crd_fields.PATH.read_text().splitlines() if not line.startswith("#")]
    assert written == crd_fields.lines(), "write it anew: python -m tests.objects.crd_fields"


@pytest.mark.parametrize("struct", [ReplicaOptions, WeightedClusters])
def test_the_fields_of_annotations_are_those_of_their_classes(struct: type[msgspec.Struct]) -> None:
    names: dict[str, Any] = {each.encode_name: None for each in msgspec.structs.fields(struct)}
    assert api_fields.check_fields(struct.__name__, names) == []
    assert [each.field for each in api_fields.check_fields(struct.__name__, {"wait": 1})] == ["wait"]


def test_every_field_that_is_read_is_in_the_table() -> None:
    for kind in kinds.all_kinds():
        if api_fields.knows(kind) and not kinds.is_built_in(kind):
            unknown = [each.field for each in api_fields.check_fields(kind.name, _every_field(kind.struct))]
            # Decision groups have no expressions, and share the class with predicates, which have.
            assert [each for each in unknown if "groupClusterSelector.celSelector" not in each] == [], kind.name


def _every_field(struct: Any) -> dict[str, Any]:
    """A value for each field of a class; classes within it are gone into."""
    found: dict[str, Any] = {}
    for each in msgspec.inspect.type_info(struct).fields:  # type: ignore[attr-defined]
        inner = each.type
        for one in getattr(inner, "types", (inner,)):
            item = getattr(one, "item_type", one)
            if isinstance(item, msgspec.inspect.StructType):
                found[each.encode_name] = _every_field(item.cls)
        found.setdefault(each.encode_name, None)
    return found

"""The kinds of group kosmos.io on the real API server: what it takes, what it warns of, what it refuses and how."""

from __future__ import annotations

import copy
from collections.abc import Callable, Iterator
from typing import Any

import pytest

from bayplan.controllers.rebalancer.terms import terms_of
from bayplan.objects import kinds
from bayplan.objects.third_party.kosmos import DistributionPolicy, WorkloadPolicy
from bayplan.objects.third_party.kosmos_validating import check_distribution_policy, check_workload_policy
from tests.support.api import Api, ApiError, Object, path_of
from tests.support.control_plane import ControlPlane
from tests.support.kosmos import example, installed

pytestmark = pytest.mark.kube

NAMESPACE = "workload-test"


@pytest.fixture(scope="module")
def api(control_plane: ControlPlane) -> Iterator[Api]:
    found = control_plane.api()
    with installed(found):
        if found.find("Namespace", NAMESPACE) is None:
            found.create({"apiVersion": "v1", "kind": "Namespace", "metadata": {"name": NAMESPACE}})
        yield found


@pytest.fixture(autouse=True)
def clean(api: Api) -> Iterator[None]:
    yield
    for one in api.list("WorkloadPolicy", NAMESPACE):
        api.delete("WorkloadPolicy", one["metadata"]["name"], NAMESPACE)


def created(api: Api, document: Object, **options: str) -> tuple[Object, list[str]]:
    """The stored object, and what the server warned of."""
    path = path_of(document["kind"], document["metadata"].get("namespace"))
    answer = api._session.post(
        api.server + path, json=document, params={"fieldValidation": "Strict", **options}, timeout=30
    )
    if answer.status_code >= 400:
        raise ApiError("POST", path, answer.status_code, answer.json()["message"])
    warned = [part.split('"')[1] for part in answer.headers.get("Warning", "").split(", 299") if '"' in part]
    return answer.json(), warned


@pytest.mark.parametrize("name", ["workloadpolicy-example-1.yaml", "workloadpolicy-example-2.yaml"])
def test_the_published_policies_apply_as_printed(api: Api, name: str) -> None:
    stored, warned = created(api, example(name))
    assert warned == []
    assert stored["spec"] == {"allocationType": "Preferred", "allocationMethod": "Balance", **example(name)["spec"]}


def test_other_names_and_spellings_are_kept_and_warned_of(api: Api) -> None:
    document = example("workloadpolicy-design.yaml")
    document["spec"] |= {"allocationType": "require", "unlistedDomains": "allow", "rebalance": {"mode": "AUTO"}}
    said = "is read without regard to its spelling"

    def stored_with_warnings() -> tuple[Object, list[str]] | None:
        """The warnings come from an admission policy, which takes effect a moment after it is made."""
        found = created(api, document)
        if found[1]:
            return found
        api.delete("WorkloadPolicy", document["metadata"]["name"], NAMESPACE)
        return None

    stored, warned = api.wait_for(stored_with_warnings, 10, "warnings")
    assert stored["spec"]["scheduleStrategy"] == "Fill"
    policy = kinds.decode(stored)
    assert isinstance(policy, WorkloadPolicy)
    assert (policy.fills, policy.is_required, policy.allows_unlisted) == (True, True, True)
    text = " ".join(warned)
    assert "spec.scheduleStrategy is read as allocationMethod, and goes before it; write that" in text
    assert f"spec.allocationType {said}; write Preferred or Required" in text
    assert f"spec.unlistedDomains {said}; write Deny or Allow" in text
    assert f"spec.rebalance.mode {said}; write Off (in quotes), DryRun or Auto" in text


@pytest.mark.parametrize("spell", [str.upper, str.lower, str.title, str.swapcase])
def test_upper_and_lower_case_mean_the_same_in_every_word_of_a_policy(api: Api, spell: Callable[[str], str]) -> None:
    document = example("workloadpolicy-example-1.yaml")
    document["spec"] |= {"allocationType": spell("Required"), "allocationMethod": spell("Fill"),
                         "unlistedDomains": spell("Allow"), "rebalance": {"mode": spell("DryRun")}}  # fmt: skip
    stored, _ = created(api, document)
    policy = kinds.decode(stored)
    assert isinstance(policy, WorkloadPolicy)
    assert (policy.is_required, policy.fills, policy.allows_unlisted) == (True, True, True)
    assert terms_of(policy, 1).mode == "DryRun"
    assert list(check_workload_policy(policy)) == []
    term = {"name": "t", "nodeType": spell("leaf")}
    stored, _ = created(api, distribution({"policyName": "t", "name": "a"}, term))
    api.delete("DistributionPolicy", "dist", NAMESPACE)
    distributed = kinds.decode(stored)
    assert isinstance(distributed, DistributionPolicy)
    assert list(check_distribution_policy(distributed)) == []
    assert [each.kind_of_nodes for each in distributed.spec.policy_terms or ()] == ["leaf"]


def rows(api: Api) -> list[list[Any]]:
    """What kubectl get shows."""
    table = api._session.get(
        api.server + path_of("WorkloadPolicy", NAMESPACE),
        headers={"Accept": "application/json;as=Table;v=v1;g=meta.k8s.io"},
        timeout=30,
    ).json()
    columns = [column["name"] for column in table["columnDefinitions"] if not column["priority"]]
    assert columns == ["Name", "Key", "Type", "Method", "Desired", "Current", "Satisfied", "Age"]
    return [row["cells"] for row in table["rows"]]


@pytest.mark.parametrize(
    ("written", "shown"),
    [({}, "Balance"), ({"allocationMethod": "Fill"}, "Fill"), ({"scheduleStrategy": "Fill"}, "Fill")],
)
def test_the_method_is_shown_that_holds_whoever_wrote_it(api: Api, written: Object, shown: str) -> None:
    document = example("workloadpolicy-example-1.yaml")
    document["spec"] |= written
    stored, _ = created(api, document)
    assert rows(api)[0][:4] == ["workload-policy-test", "workload-test", "Preferred", shown]
    policy = kinds.decode(stored)
    assert isinstance(policy, WorkloadPolicy)
    assert policy.fills is (shown == "Fill")
    assert list(check_workload_policy(policy)) == [], "what the server gives back can be read as a file"


@pytest.mark.parametrize("label", ["workload-policy/kosmos.io", "workload-policy.kosmos.io"])
@pytest.mark.parametrize("kind", ["Deployment", "StatefulSet", "ReplicaSet", "ReplicationController", "Job"])
def test_whoever_labels_a_workload_and_not_its_pods_is_warned(api: Api, kind: str, label: str) -> None:
    labels = {"app": "labelled"}
    template = {"metadata": {"labels": labels}, "spec": {"containers": [{"name": "c", "image": "i"}]}}
    document: Object = {
        "apiVersion": {"ReplicationController": "v1", "Job": "batch/v1"}.get(kind, "apps/v1"),
        "kind": kind,
        "metadata": {"name": "labelled", "namespace": NAMESPACE, "labels": {label: "p"}},
        "spec": {"replicas": 0, "selector": {"matchLabels": labels}, "template": template},
    }
    if kind == "ReplicationController":
        document["spec"]["selector"] = labels
    if kind == "Job":
        template["spec"]["restartPolicy"] = "Never"  # type: ignore[index]
        document["spec"] = {"template": template, "suspend": True}

    def warnings() -> str | None:
        return " ".join(created(api, document, dryRun="All")[1]) or None

    assert "only labels of pods are read" in str(api.wait_for(warnings, 10, "a warning"))
    template["metadata"] = {"labels": {**labels, "workload-policy/kosmos.io": "p"}}
    assert "labels" not in str(warnings())


def test_every_optional_field_is_kept(api: Api) -> None:
    document = example("workloadpolicy-example-2.yaml")
    document["spec"] |= {
        "allocationPolicy": [
            {"name": "a", "replicas": 2},
            {"name": "b", "replicas": "40%"},
            {"name": "c", "remainder": True},
            {"name": "", "replicas": 0},
        ],
        "matchLabelKeys": ["pod-template-hash"],
        "unlistedDomains": "Allow",
        "rebalance": {"mode": "Auto", "maxUnavailable": "25%", "intervalSeconds": 30, "stabilizationSeconds": 10,
                      "progressDeadlineSeconds": 600, "minPodAgeSeconds": 60, "allowSingleReplica": True},
    }  # fmt: skip
    stored, _ = created(api, document)
    assert stored["spec"] == document["spec"]


def test_status_is_a_subresource_with_conditions(api: Api) -> None:
    created(api, example("workloadpolicy-example-1.yaml"))
    status = {
        "observedGeneration": 1, "desired": 4, "current": 3, "ready": 2, "pending": 1,
        "domains": [{"name": "host", "desired": 3, "current": 2, "ready": 2, "pending": 1}],
        "conditions": [{"type": "Valid", "status": "True", "reason": "Valid", "message": "", "observedGeneration": 1,
                        "lastTransitionTime": "2026-01-31T10:00:00Z"}],
    }  # fmt: skip
    stored = api.patch("WorkloadPolicy", "workload-policy-test", {"status": status}, NAMESPACE, "status")
    assert stored["status"] == status
    assert stored["metadata"]["generation"] == 1
    assert rows(api)[0][4:6] == [4, 3]


def domains(*entries: Any) -> dict[str, Any]:
    return {"allocationPolicy": list(entries)}


@pytest.mark.parametrize(
    ("changes", "message"),
    [
        ({"topologyKey": ""}, "spec.topologyKey in body should be at least 1 chars long"),
        ({"topologyKey": "a b"}, "spec.topologyKey in body should match"),
        ({"topologyKey": None}, "spec.topologyKey: Required value"),
        ({"labelSelector": None}, "spec.labelSelector: Required value"),
        ({"labelSelector": {}}, "an empty selector would match every pod of the namespace"),
        ({"labelSelector": {"matchLabels": {}}}, "an empty selector would match every pod of the namespace"),
        (
            {"labelSelector": {"matchExpressions": [{"key": "a", "operator": "in", "values": ["b"]}]}},
            'Unsupported value: "in"',
        ),
        ({"labelSelector": {"matchExpressions": [{"key": "a", "operator": "In"}]}}, "In and NotIn need values"),
        ({"allocationPolicy": None}, "spec.allocationPolicy: Required value"),
        (domains(), "spec.allocationPolicy in body should have at least 1 items"),
        (domains({"name": "a", "replicas": 1}, {"name": "a", "replicas": 2}), "Duplicate value"),
        (domains({"replicas": 1}), "name: Required value"),
        (domains({"name": "a b", "replicas": 1}), "name in body should match"),
        (domains({"name": "a", "replicas": -1}), "should be greater than or equal to 0"),
        (domains({"name": "a", "replicas": "5"}), "replicas in body should match"),
        (domains({"name": "a", "replicas": "101%"}), "replicas in body should match"),
        (domains({"name": "a", "replicas": True}), "replicas"),
        (domains({"name": "a"}), "write exactly one of replicas, weight and remainder: true"),
        (domains({"name": "a", "replicas": 1, "weight": 1}), "write exactly one of replicas, weight"),
        (domains({"name": "a", "weight": 0}), "should be greater than or equal to 1"),
        (
            domains({"name": "a", "remainder": True}, {"name": "b", "remainder": True}),
            "only one domain can take the remainder",
        ),
        (domains({"name": "a", "remainder": True}, {"name": "b", "weight": 1}), "weights leave nothing"),
        ({"allocationType": "Sometimes"}, "write Preferred or Required"),
        ({"allocationMethod": "Pour"}, "write Balance or Fill"),
        ({"allocationMethod": "Fill", "scheduleStrategy": "Balance"}, "scheduleStrategy contradicts allocationMethod"),
        ({"unlistedDomains": "Maybe"}, "write Deny or Allow"),
        ({"rebalance": {"mode": "Now"}}, "write Off (in quotes), DryRun or Auto"),
        ({"rebalance": {"mode": False}}, "spec.rebalance.mode"),
        ({"rebalance": {"maxUnavailable": -1}}, "should be greater than or equal to 0"),
        ({"alocationType": "Required"}, 'unknown field "spec.alocationType"'),
    ],
)
def test_bad_policies_are_refused_with_a_message(api: Api, changes: dict[str, Any], message: str) -> None:
    document = copy.deepcopy(example("workloadpolicy-example-1.yaml"))
    document["spec"] |= changes
    document["spec"] = {key: value for key, value in document["spec"].items() if value is not None}
    with pytest.raises(ApiError) as caught:
        created(api, document)
    assert caught.value.code in (400, 422)
    assert message in str(caught.value)


def test_percentages_of_more_than_all_are_refused(api: Api) -> None:
    document = example("workloadpolicy-example-1.yaml")
    document["spec"] |= domains({"name": "a", "replicas": "60%"}, {"name": "b", "replicas": "41%"})

    def refusal() -> str | None:
        """The rule is an admission policy, which takes effect a moment after it is made."""
        try:
            created(api, document)
        except ApiError as error:
            return str(error)
        api.delete("WorkloadPolicy", document["metadata"]["name"], NAMESPACE)
        return None

    assert "the percentages are more than 100% together" in api.wait_for(refusal, 10, "a refusal")


def test_a_name_that_no_label_can_hold_and_a_missing_spec_are_refused(api: Api) -> None:
    document = example("workloadpolicy-example-1.yaml")
    document["metadata"]["name"] = "p" * 64
    with pytest.raises(ApiError, match="at most 63 characters"):
        created(api, document)
    with pytest.raises(ApiError, match="spec: Required value"):
        created(api, {key: value for key, value in document.items() if key != "spec"})


def distribution(selector: Object, term: Object, kind: str = "DistributionPolicy") -> Object:
    namespace = {"namespace": NAMESPACE} if kind == "DistributionPolicy" else {}
    return {
        "apiVersion": "kosmos.io/v1alpha1",
        "kind": kind,
        "metadata": {"name": "dist", **namespace},
        "spec": {"resourceSelectors": [selector], "policyTerms": [term]},
    }


@pytest.mark.parametrize("kind", ["DistributionPolicy", "ClusterDistributionPolicy"])
def test_distribution_policies_are_taken_and_get_their_default(api: Api, kind: str) -> None:
    stored, _ = created(api, distribution({"policyName": "t", "namePrefix": "web"}, {"name": "t"}, kind))
    api.delete(kind, "dist", stored["metadata"].get("namespace"))
    assert stored["spec"]["policyTerms"] == [{"name": "t", "nodeType": "mix"}]


@pytest.mark.parametrize(
    ("selector", "term", "message"),
    [
        ({"policyName": "u", "name": "a"}, {"name": "t"}, "every policyName must be the name of one of policyTerms"),
        ({"policyName": "t"}, {"name": "t"}, "it selects no pods"),
        ({"policyName": "t", "labelSelector": {}}, {"name": "t"}, "it selects no pods"),
        ({"policyName": "t", "name": "a"}, {"name": "t", "nodeType": "both"}, "write host, leaf, mix or adv"),
        ({"policyName": "t", "name": "a"}, {"name": "t", "nodeType": "adv"}, "nodeType adv needs an advancedTerm"),
    ],
)
def test_bad_distribution_policies_are_refused(api: Api, selector: Object, term: Object, message: str) -> None:
    with pytest.raises(ApiError) as caught:
        created(api, distribution(selector, term))
    assert message in str(caught.value)

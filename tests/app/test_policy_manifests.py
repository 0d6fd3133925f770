"""The kinds of group kosmos.io as manifests: they and the structs that read them say the same, and can be read."""

from __future__ import annotations

import re
from typing import Any

import msgspec
import pytest
import yaml

from bayplan.app.install_manifests import PARTS, manifests
from bayplan.objects import kinds
from bayplan.objects.meta import StatusCondition
from bayplan.objects.third_party import kosmos
from bayplan.plugins import IN_TREE

DOCUMENTS = list(yaml.safe_load_all(manifests("crds")))
DEFINITIONS = {each["spec"]["names"]["kind"]: each for each in DOCUMENTS if each["kind"] == "CustomResourceDefinition"}


def schema(kind: str, *path: str) -> dict[str, Any]:
    """The properties at a path, through lists."""
    found = DEFINITIONS[kind]["spec"]["versions"][0]["schema"]["openAPIV3Schema"]
    for step in path:
        found = found["properties"][step]
        found = found.get("items", found)
    properties: dict[str, Any] = found["properties"]
    return properties


def test_every_kind_that_is_registered_has_a_definition() -> None:
    registered = [each for each in kinds.all_kinds() if each.group == kosmos.GROUP]
    assert {each.name for each in registered} == set(DEFINITIONS)
    for kind in registered:
        spec = DEFINITIONS[kind.name]["spec"]
        assert (spec["group"], spec["names"]["plural"]) == (kind.group, kind.plural)
        assert (spec["scope"] == "Namespaced") is kind.namespaced
        assert [each["name"] for each in spec["versions"]] == [kind.version]


@pytest.mark.parametrize(
    ("kind", "path", "struct"),
    [
        ("WorkloadPolicy", ("spec",), kosmos.WorkloadPolicySpec),
        ("WorkloadPolicy", ("spec", "allocationPolicy"), kosmos.DomainAllocation),
        ("WorkloadPolicy", ("spec", "rebalance"), kosmos.Rebalance),
        ("WorkloadPolicy", ("status",), kosmos.WorkloadPolicyStatus),
        ("WorkloadPolicy", ("status", "domains"), kosmos.DomainStatus),
        ("WorkloadPolicy", ("status", "conditions"), StatusCondition),
        ("DistributionPolicy", ("spec",), kosmos.DistributionPolicySpec),
        ("DistributionPolicy", ("spec", "resourceSelectors"), kosmos.ResourceSelector),
        ("DistributionPolicy", ("spec", "policyTerms"), kosmos.PolicyTerm),
        ("DistributionPolicy", ("spec", "policyTerms", "advancedTerm"), kosmos.AdvancedTerm),
    ],
)
def test_schema_and_struct_have_the_same_fields(kind: str, path: tuple[str, ...], struct: type[msgspec.Struct]) -> None:
    assert set(schema(kind, *path)) == {each.encode_name for each in msgspec.structs.fields(struct)}


def test_the_two_distribution_kinds_have_one_schema() -> None:
    one, other = (DEFINITIONS[kind]["spec"]["versions"] for kind in ("DistributionPolicy", "ClusterDistributionPolicy"))
    assert one == other


@pytest.mark.parametrize(
    ("field", "spellings"),
    [
        ("allocationType", kosmos.ALLOCATION_TYPES),
        ("allocationMethod", kosmos.ALLOCATION_METHODS),
        ("scheduleStrategy", kosmos.ALLOCATION_METHODS),
        ("unlistedDomains", kosmos.UNLISTED),
        ("rebalance.mode", kosmos.REBALANCE_MODES),
        ("policyTerms.nodeType", kosmos.NODE_TYPES),
    ],
)
def test_the_schema_takes_every_spelling_that_is_understood(field: str, spellings: dict[str, str]) -> None:
    *path, name = field.split(".")
    kind = "DistributionPolicy" if name == "nodeType" else "WorkloadPolicy"
    (check,) = schema(kind, "spec", *path)[name]["x-kubernetes-validations"]
    words = ", ".join(f"'{each}'" for each in spellings)
    assert check["rule"] == f"self.lowerAscii() in [{words}]"
    assert all(each in check["message"] for each in spellings.values())


@pytest.mark.parametrize(
    ("field", "default"), [("allocationType", kosmos.PREFERRED), ("allocationMethod", kosmos.BALANCE)]
)
def test_what_the_schema_fills_in_is_what_a_policy_without_it_means(field: str, default: str) -> None:
    assert schema("WorkloadPolicy", "spec")[field]["default"] == default
    policy = kosmos.WorkloadPolicy()
    assert (policy.is_required, policy.fills) == (default == kosmos.REQUIRED, default == kosmos.FILL)


def test_nothing_is_kept_that_no_field_declares() -> None:
    assert "x-kubernetes-preserve-unknown-fields" not in manifests("crds")


def test_the_scheduler_may_read_what_its_plugins_read_of_the_group() -> None:
    read = {name for cls in IN_TREE for name in cls.kinds_read()}
    (binding,) = (each for each in DOCUMENTS if each["kind"] == "ClusterRoleBinding")
    (role,) = (
        each
        for each in DOCUMENTS
        if each["kind"] == "ClusterRole" and each["metadata"]["name"] == binding["roleRef"]["name"]
    )
    wanted = {each.plural for each in kinds.all_kinds() if each.group == kosmos.GROUP and each.name in read}
    assert {resource for rule in role["rules"] for resource in rule["resources"]} == wanted
    accounts = [each for each in yaml.safe_load_all(manifests("scheduler")) if each["kind"] == "ServiceAccount"]
    assert {each["name"] for each in binding["subjects"]} == {each["metadata"]["name"] for each in accounts}


def test_who_may_view_or_edit_a_namespace_may_do_so_with_its_policies() -> None:
    added = {
        verb: {
            label for label in each["metadata"]["labels"] if label.startswith("rbac.authorization.k8s.io/aggregate-to-")
        }
        for each in DOCUMENTS
        if each["kind"] == "ClusterRole" and each["metadata"]["name"] != "bayplan-policy-reader"
        for rule in each["rules"]
        for verb in rule["verbs"]
    }
    edit, view = ("rbac.authorization.k8s.io/aggregate-to-" + role for role in ("edit", "view"))
    assert view in added["list"]
    assert edit in added["list"]
    assert edit in added["delete"]
    assert view not in added["delete"]


def test_kinds_are_printed_before_those_who_read_them() -> None:
    assert PARTS[0] == "crds"


def test_a_listing_of_policies_shows_how_they_stand() -> None:
    columns = DEFINITIONS["WorkloadPolicy"]["spec"]["versions"][0]["additionalPrinterColumns"]
    always = [each["name"] for each in columns if not each.get("priority")]
    assert always == ["Key", "Type", "Method", "Desired", "Current", "Satisfied", "Age"], "as the guide shows it"
    for each in columns:
        part, _, field = each["jsonPath"].removeprefix(".").partition(".")
        names = re.findall(r"\w+", part) if "'" in part else [part, field.partition("[")[0]]
        assert part == "metadata" or set(names[1:]) <= set(schema("WorkloadPolicy", names[0])), each["jsonPath"]

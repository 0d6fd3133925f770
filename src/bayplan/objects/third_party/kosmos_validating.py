"""What can be wrong with the policies of group kosmos.io, and what is accepted but spelt in another way.

`validating` calls the checks for what comes from files; the LeafNode plugins call them for what comes from the API
server, which may hold policies that were stored before its own rules were there.
"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterator, Mapping

from bayplan.objects.admission.affinity_validating import label_selector, tolerations
from bayplan.objects.meta import LabelSelector
from bayplan.objects.mistakes import Mistakes, count, labels, mistake, one_of, tried
from bayplan.objects.requirement import check_key, check_value
from bayplan.objects.third_party import kosmos
from bayplan.objects.third_party.kosmos import (
    ClusterDistributionPolicy,
    DistributionPolicy,
    DomainAllocation,
    Rebalance,
    WorkloadPolicy,
)

MAX_WEIGHT = 10_000
MAX_NAME = 63
_PERCENT = re.compile(r"(100|[1-9]?[0-9])%")
_SELECTOR = "write the labels of the pods under matchLabels"


def check_workload_policy(policy: WorkloadPolicy) -> Mistakes:
    """Every mistake in a WorkloadPolicy."""
    spec = policy.spec
    if len(policy.name) > MAX_NAME:
        text = f"{len(policy.name)} characters are too many: pods name the policy in a label"
        yield mistake("metadata.name", text, f"write at most {MAX_NAME}")
    if not spec.topology_key:
        text = "write a node label such as topology.kubernetes.io/region"
        yield mistake("spec.topologyKey", "there is none", text)
    else:
        yield from tried("spec.topologyKey", check_key, spec.topology_key)
    yield from _pod_selector("spec.labelSelector", spec.label_selector)
    yield from _domains(policy.domains)
    yield from _spelt("spec.allocationType", spec.allocation_type, kosmos.ALLOCATION_TYPES)
    yield from _spelt("spec.allocationMethod", spec.allocation_method, kosmos.ALLOCATION_METHODS)
    yield from _spelt("spec.scheduleStrategy", spec.schedule_strategy, kosmos.ALLOCATION_METHODS)
    yield from _spelt("spec.unlistedDomains", spec.unlisted_domains, kosmos.UNLISTED)
    method, alias = spec.allocation_method, spec.schedule_strategy
    # Balance is what the API server fills in, so it contradicts nothing.
    if alias and method not in ("", kosmos.BALANCE) and method.lower() != alias.lower():
        text = f"{alias} contradicts allocationMethod {method}"
        yield mistake("spec.scheduleStrategy", text, "remove it: allocationMethod is its name now")
    for index, key in enumerate(spec.match_label_keys or ()):
        yield from tried(f"spec.matchLabelKeys[{index}]", check_key, key)
    if spec.rebalance is not None:
        yield from _rebalance("spec.rebalance", spec.rebalance)


def _pod_selector(field: str, written: LabelSelector | None) -> Mistakes:
    if written is None:
        yield mistake(field, "there is none", _SELECTOR)
    elif not written.match_labels and not written.match_expressions:
        yield mistake(field, "it is empty and would match every pod of the namespace", _SELECTOR)
    else:
        yield from label_selector(field, written)


def _domains(domains: tuple[DomainAllocation, ...]) -> Mistakes:
    field = "spec.allocationPolicy"
    if not domains:
        yield mistake(field, "there is none", "write at least one domain with its name and replicas")
    repeated = [name for name, count in Counter(each.name for each in domains).items() if count > 1]
    for index, each in enumerate(domains):
        yield from _domain(f"{field}[{index}]", each)
    for name in repeated:
        yield mistake(field, f'"{name}" is there more than once', "keep one of them")
    remainders = sum(each.remainder for each in domains)
    if remainders > 1:
        yield mistake(field, f"{remainders} domains take the remainder", "keep remainder: true in one of them")
    if remainders and any(each.weight is not None for each in domains):
        yield mistake(field, "weights leave nothing for the remainder", "write weights or remainder: true, not both")
    percents = [each.percent for each in domains if _is_percent(each.replicas)]
    if sum(each for each in percents if each is not None) > 100:
        yield mistake(field, "the percentages are more than 100% together", "write smaller ones")


def _domain(field: str, domain: DomainAllocation) -> Mistakes:
    if domain.name is None:
        yield mistake(f"{field}.name", "there is none", "write a value of the node label")
    else:
        yield from tried(f"{field}.name", check_value, domain.name)
    given = [
        name
        for name, is_given in (
            ("replicas", domain.replicas is not None),
            ("weight", domain.weight is not None),
            ("remainder", domain.remainder),
        )
        if is_given
    ]
    if not given:
        yield mistake(field, "does not say how many pods", "write replicas, weight or remainder: true")
    elif len(given) > 1:
        yield mistake(field, f"says {' and '.join(given)}", "keep one of them")
    yield from _amount(f"{field}.replicas", domain.replicas)
    if domain.weight is not None and not 1 <= domain.weight <= MAX_WEIGHT:
        yield mistake(f"{field}.weight", f"{domain.weight} is no weight", f"write 1 to {MAX_WEIGHT}")


def _is_percent(amount: int | str | None) -> bool:
    return isinstance(amount, str) and _PERCENT.fullmatch(amount) is not None


def _amount(field: str, amount: int | str | None) -> Mistakes:
    """A number of pods, or a percentage."""
    if isinstance(amount, str) and not _is_percent(amount):
        fix = "write a number without quotes" if amount.strip().isdigit() else 'write a number, or one like "40%"'
        yield mistake(field, f'"{amount}" is no number of pods', fix)
    elif isinstance(amount, int):
        yield from count(field, amount)


def _spelt(field: str, written: str, spellings: Mapping[str, str]) -> Mistakes:
    if written and written.lower() not in spellings:
        allowed = " or ".join(dict.fromkeys(spellings.values()))
        yield mistake(field, f'"{written}" is not possible here', f"write {allowed} instead")


def _rebalance(field: str, written: Rebalance) -> Mistakes:
    if isinstance(written.mode, bool):
        yield mistake(f"{field}.mode", "YAML reads Off without quotes as false", 'write "Off", with quotes')
    else:
        yield from _spelt(f"{field}.mode", written.mode, kosmos.REBALANCE_MODES)
    yield from _amount(f"{field}.maxUnavailable", written.max_unavailable)
    for name, seconds in (
        ("intervalSeconds", written.interval_seconds),
        ("stabilizationSeconds", written.stabilization_seconds),
        ("progressDeadlineSeconds", written.progress_deadline_seconds),
        ("minPodAgeSeconds", written.min_pod_age_seconds),
    ):
        yield from count(f"{field}.{name}", seconds)


def unusual_spellings(policy: WorkloadPolicy) -> Iterator[str]:
    """What is accepted and means something, but has another name or spelling; one line each."""
    spec = policy.spec
    for field, written, spellings in (
        ("allocationType", spec.allocation_type, kosmos.ALLOCATION_TYPES),
        ("allocationMethod", spec.allocation_method, kosmos.ALLOCATION_METHODS),
        ("unlistedDomains", spec.unlisted_domains, kosmos.UNLISTED),
        ("rebalance.mode", _mode(spec.rebalance), kosmos.REBALANCE_MODES),
    ):
        yield from _respelt(f"spec.{field}", written, spellings)
    if spec.schedule_strategy:
        proper = kosmos.ALLOCATION_METHODS.get(spec.schedule_strategy.lower(), spec.schedule_strategy)
        yield f"spec.scheduleStrategy is read as allocationMethod: {proper}; write that"


def unusual_node_types(policy: DistributionPolicy | ClusterDistributionPolicy) -> Iterator[str]:
    """The same for the terms of a distribution policy."""
    for index, term in enumerate(policy.spec.policy_terms or ()):
        yield from _respelt(f"spec.policyTerms[{index}].nodeType", term.node_type, kosmos.NODE_TYPES)


def _respelt(field: str, written: str, spellings: Mapping[str, str]) -> Iterator[str]:
    proper = spellings.get(written.lower())
    if proper is not None and proper != written:
        yield f'{field}: "{written}" is read as {proper}; write {proper}'


def _mode(written: Rebalance | None) -> str:
    return written.mode if written is not None and isinstance(written.mode, str) else ""


# -- distribution policies --


def check_distribution_policy(policy: DistributionPolicy | ClusterDistributionPolicy) -> Mistakes:
    """Every mistake in a DistributionPolicy or ClusterDistributionPolicy."""
    terms = policy.spec.policy_terms or ()
    names = [each.name for each in terms]
    if not terms:
        yield mistake("spec.policyTerms", "there is none", "write at least one, with name and nodeType")
    for index, term in enumerate(terms):
        field = f"spec.policyTerms[{index}]"
        if not term.name:
            yield mistake(f"{field}.name", "there is none", "write the name that policyName refers to")
        elif names.index(term.name) < index:
            yield mistake(f"{field}.name", f'"{term.name}" is there already', "give it another name")
        if term.node_type.lower() not in kosmos.NODE_TYPES:
            yield from one_of(f"{field}.nodeType", term.node_type, tuple(kosmos.NODE_TYPES))
        chosen = term.advanced_term
        if chosen is not None:
            yield from labels(f"{field}.advancedTerm.nodeSelector", chosen.node_selector)
            yield from tolerations(f"{field}.advancedTerm.tolerations", chosen.tolerations)
        if term.kind_of_nodes == kosmos.ADVANCED and (
            chosen is None or not (chosen.node_name or chosen.node_selector or chosen.tolerations)
        ):
            fix = "write nodeName, nodeSelector or tolerations there"
            yield mistake(f"{field}.advancedTerm", "nodeType adv needs one", fix)
    if not policy.spec.resource_selectors:
        yield mistake("spec.resourceSelectors", "there is none", "write at least one, with policyName and pods")
    for index, each in enumerate(policy.spec.resource_selectors or ()):
        field = f"spec.resourceSelectors[{index}]"
        if each.policy_name not in names:
            text = f'"{each.policy_name}" is no policy term' if each.policy_name else "there is none"
            yield mistake(f"{field}.policyName", text, "write the name of one of spec.policyTerms")
        if not each.name and not each.name_prefix:
            if each.label_selector is None:
                yield mistake(field, "selects no pods", "write name, namePrefix or labelSelector")
            else:
                yield from _pod_selector(f"{field}.labelSelector", each.label_selector)
        else:
            yield from label_selector(f"{field}.labelSelector", each.label_selector)

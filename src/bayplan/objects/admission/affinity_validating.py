"""Mistakes in node selectors, label selectors, affinity, spreading and tolerations.

`validating` calls these for pods, pod templates and volumes; `field` is where the part stands in the object.
"""

from __future__ import annotations

from collections.abc import Iterable

from bayplan.objects.affinity import (
    DO_NOT_SCHEDULE,
    HONOR,
    IGNORE,
    SCHEDULE_ANYWAY,
    Affinity,
    NodeAffinity,
    NodeSelectorTerm,
    PodAffinity,
    PodAffinityTerm,
    TopologySpreadConstraint,
)
from bayplan.objects.meta import LabelSelector
from bayplan.objects.mistakes import Mistakes, int32, labels, mistake, one_of, tried
from bayplan.objects.requirement import (
    IN,
    LABEL_OPERATORS,
    NODE_OPERATORS,
    NOT_IN,
    check_key,
    check_value,
    check_values,
)
from bayplan.objects.selector import NODE_NAME_FIELD
from bayplan.objects.toleration import EFFECTS, EXISTS, NO_EXECUTE, OPERATORS, Taint, Toleration

_REQUIRED = "requiredDuringSchedulingIgnoredDuringExecution"
_PREFERRED = "preferredDuringSchedulingIgnoredDuringExecution"


def label_selector(field: str, written: LabelSelector | None) -> Mistakes:
    if written is None:
        return
    yield from labels(f"{field}.matchLabels", written.match_labels)
    for index, each in enumerate(written.match_expressions or ()):
        at = f"{field}.matchExpressions[{index}]"
        yield from tried(f"{at}.key", check_key, each.key)
        yield from _values(at, each.operator, each.values, LABEL_OPERATORS)


def _values(field: str, operator: str, values: tuple[str, ...] | None, operators: tuple[str, ...]) -> Mistakes:
    part = "values" if operator in operators else "operator"
    yield from tried(f"{field}.{part}", check_values, operator, tuple(values or ()), operators)


def affinity(field: str, written: Affinity | None) -> Mistakes:
    if written is None:
        return
    yield from _node_affinity(f"{field}.nodeAffinity", written.node_affinity)
    yield from _pod_affinity(f"{field}.podAffinity", written.pod_affinity)
    yield from _pod_affinity(f"{field}.podAntiAffinity", written.pod_anti_affinity)


def _node_affinity(field: str, written: NodeAffinity | None) -> Mistakes:
    if written is None:
        return
    required = written.required_during_scheduling_ignored_during_execution
    if required is not None:
        yield from node_terms(f"{field}.{_REQUIRED}.nodeSelectorTerms", required.node_selector_terms)
    for index, each in enumerate(written.preferred_during_scheduling_ignored_during_execution or ()):
        at = f"{field}.{_PREFERRED}[{index}]"
        yield from _weight(at, each.weight)
        yield from _node_term(f"{at}.preference", each.preference)


def node_terms(field: str, terms: tuple[NodeSelectorTerm, ...] | None) -> Mistakes:
    if not terms:
        yield mistake(field, "a required node selector without terms", "add a term or remove the selector")
    for index, term in enumerate(terms or ()):
        yield from _node_term(f"{field}[{index}]", term)


def _node_term(field: str, term: NodeSelectorTerm) -> Mistakes:
    # An API server lets bad label values pass in preferred terms; kube-scheduler then fails on the pod for ever.
    for index, each in enumerate(term.match_expressions or ()):
        at = f"{field}.matchExpressions[{index}]"
        yield from tried(f"{at}.key", check_key, each.key)
        yield from _values(at, each.operator, each.values, NODE_OPERATORS)
    for index, each in enumerate(term.match_fields or ()):
        at = f"{field}.matchFields[{index}]"
        yield from one_of(f"{at}.key", each.key, (NODE_NAME_FIELD,))
        yield from one_of(f"{at}.operator", each.operator, (IN, NOT_IN))
        if len(each.values or ()) != 1:
            yield mistake(f"{at}.values", "a field is compared with exactly one value", "write one node name")


def _pod_affinity(field: str, written: PodAffinity | None) -> Mistakes:
    if written is None:
        return
    for index, term in enumerate(written.required_during_scheduling_ignored_during_execution or ()):
        yield from _pod_term(f"{field}.{_REQUIRED}[{index}]", term)
    for index, each in enumerate(written.preferred_during_scheduling_ignored_during_execution or ()):
        at = f"{field}.{_PREFERRED}[{index}]"
        yield from _weight(at, each.weight)
        yield from _pod_term(f"{at}.podAffinityTerm", each.pod_affinity_term)


def _pod_term(field: str, term: PodAffinityTerm) -> Mistakes:
    yield from _topology_key(field, term.topology_key)
    yield from label_selector(f"{field}.labelSelector", term.label_selector)
    yield from label_selector(f"{field}.namespaceSelector", term.namespace_selector)
    yield from _label_keys(field, term.match_label_keys, term.mismatch_label_keys, term.label_selector)


def _topology_key(field: str, key: str) -> Mistakes:
    if not key:
        yield mistake(f"{field}.topologyKey", "empty", "write a node label such as topology.kubernetes.io/zone")
    else:
        yield from tried(f"{field}.topologyKey", check_key, key)


def _weight(field: str, weight: int) -> Mistakes:
    if not 1 <= weight <= 100:
        yield mistake(f"{field}.weight", f"{weight} is no weight", "write a whole number from 1 to 100")


def _label_keys(
    field: str,
    match: tuple[str, ...] | None,
    mismatch: tuple[str, ...] | None,
    selector: LabelSelector | None,
) -> Mistakes:
    for name, keys in (("matchLabelKeys", match or ()), ("mismatchLabelKeys", mismatch or ())):
        if keys and selector is None:
            yield mistake(f"{field}.{name}", "there is no labelSelector to add it to", "write a labelSelector too")
        for index, key in enumerate(keys):
            yield from tried(f"{field}.{name}[{index}]", check_key, key)
    for key in sorted({*(match or ())} & {*(mismatch or ())}):
        yield mistake(f"{field}.matchLabelKeys", f'"{key}" is in mismatchLabelKeys too', "keep one of the two")


def spread(field: str, constraints: tuple[TopologySpreadConstraint, ...] | None) -> Mistakes:
    seen: set[tuple[str, str]] = set()
    for index, each in enumerate(constraints or ()):
        at = f"{field}[{index}]"
        if each.max_skew <= 0:
            yield mistake(f"{at}.maxSkew", f"{each.max_skew} is no skew", "write 1 or more")
        else:
            yield from int32(f"{at}.maxSkew", each.max_skew)
        yield from _topology_key(at, each.topology_key)
        yield from one_of(f"{at}.whenUnsatisfiable", each.when_unsatisfiable, (DO_NOT_SCHEDULE, SCHEDULE_ANYWAY))
        yield from _spread_options(at, each)
        yield from label_selector(f"{at}.labelSelector", each.label_selector)
        yield from _label_keys(at, each.match_label_keys, None, each.label_selector)
        pair = (each.topology_key, each.when_unsatisfiable)
        if pair in seen:
            yield mistake(at, f"{' with '.join(pair)} is there already", "keep one of the two constraints")
        seen.add(pair)


def _spread_options(field: str, each: TopologySpreadConstraint) -> Mistakes:
    if each.min_domains is not None and each.min_domains <= 0:
        yield mistake(f"{field}.minDomains", f"{each.min_domains} is no number of domains", "write 1 or more")
    yield from int32(f"{field}.minDomains", each.min_domains)
    if each.min_domains is not None and each.when_unsatisfiable == SCHEDULE_ANYWAY:
        yield mistake(
            f"{field}.minDomains",
            "goes with whenUnsatisfiable: DoNotSchedule only",
            "remove it or change whenUnsatisfiable",
        )
    for name, value in (
        ("nodeAffinityPolicy", each.node_affinity_policy),
        ("nodeTaintsPolicy", each.node_taints_policy),
    ):
        if value is not None:
            yield from one_of(f"{field}.{name}", value, (HONOR, IGNORE))


def tolerations(field: str, written: Iterable[Toleration] | None) -> Mistakes:
    for index, each in enumerate(written or ()):
        at = f"{field}[{index}]"
        if each.key:
            yield from tried(f"{at}.key", check_key, each.key)
        elif each.operator != EXISTS:
            yield mistake(f"{at}.operator", "without a key it must be Exists", "write operator: Exists or add a key")
        if each.operator and each.operator not in OPERATORS:
            yield from one_of(f"{at}.operator", each.operator, OPERATORS)
        elif each.operator == EXISTS and each.value:
            yield mistake(f"{at}.value", "operator Exists takes no value", "remove it or write operator: Equal")
        else:
            yield from tried(f"{at}.value", check_value, each.value)
        if each.effect:
            yield from one_of(f"{at}.effect", each.effect, EFFECTS)
        if each.toleration_seconds is not None and each.effect != NO_EXECUTE:
            yield mistake(f"{at}.tolerationSeconds", "goes with effect NoExecute only", "write effect: NoExecute")


def taints(field: str, written: Iterable[Taint] | None) -> Mistakes:
    seen: set[tuple[str, str]] = set()
    for index, each in enumerate(written or ()):
        at = f"{field}[{index}]"
        yield from tried(f"{at}.key", check_key, each.key)
        yield from one_of(f"{at}.effect", each.effect, EFFECTS)
        if (each.key, each.effect) in seen:
            yield mistake(at, f"{each.key} with {each.effect} is there already", "keep one of the two taints")
        seen.add((each.key, each.effect))

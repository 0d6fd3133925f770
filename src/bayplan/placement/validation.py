"""What can be wrong with a Placement: all of it, each with its field and what to write instead.

`plan` turns the mistakes into the text of the condition PlacementMisconfigured; `bayplan place` prints them with
the file they stand in. Expressions are checked where they are compiled.
"""

from __future__ import annotations

import re
from collections.abc import Iterable
from math import lcm

from bayplan.errors import InputError, InputErrors
from bayplan.objects.admission.affinity_validating import label_selector
from bayplan.objects.admission.own_keys import check_metadata
from bayplan.objects.mistakes import Mistakes, int32, mistake, one_of, quantities, tried
from bayplan.objects.requirement import LABEL_OPERATORS, check_key, check_values
from bayplan.objects.third_party import placement as api
from bayplan.objects.third_party.placement_validating import EFFECTS, short
from bayplan.objects.toleration import EXISTS, OPERATORS, Toleration
from bayplan.placement import options

MAX_CONSTRAINTS = 8
LONGEST_NAME = 63
FINEST = 10**6
"""Into so many parts a maxSkew may be cut, so that no number of clusters overflows."""
WEIGHTS = range(-10, 11)
_RATE = re.compile("[0-9]+[hms]")
_COUNT = re.compile("[1-9][0-9]{0,9}")
_POLICY = "spec.spreadPolicy"
_PER_GROUP = "spec.decisionStrategy.groupStrategy.clustersPerDecisionGroup"


MOST_CLUSTERS = 2**31 - 1
LONGEST_VALUE = 1024
_GROUP_NAME = re.compile("[a-zA-Z0-9][-A-Za-z0-9_.]{0,61}[a-zA-Z0-9]")


def mistakes_of(placement: api.Placement, built_in: Iterable[str]) -> list[InputError]:
    """Every mistake; `built_in` are the prioritizers there are."""
    spec = placement.spec
    meta = {"annotations": placement.annotations, "labels": placement.labels}
    found: list[InputError] = [*check_metadata("Placement", meta, "metadata")]
    if len(placement.name) > LONGEST_NAME:
        problem = f"{len(placement.name)} characters do not fit into the label of its decisions"
        found.append(mistake("metadata.name", problem, f"use at most {LONGEST_NAME}"))
    if spec.number_of_clusters is not None and spec.number_of_clusters < 0:
        number = spec.number_of_clusters
        found.append(mistake("spec.numberOfClusters", f"{number} is less than nothing", "write 0 or more"))
    elif spec.number_of_clusters is not None and spec.number_of_clusters > MOST_CLUSTERS:
        problem = f"{spec.number_of_clusters} is more than the field holds"
        found.append(mistake("spec.numberOfClusters", problem, f"write at most {MOST_CLUSTERS}"))
    for index, predicate in enumerate(spec.predicates or ()):
        found += _selector(f"spec.predicates[{index}].requiredClusterSelector", predicate.required_cluster_selector)
    if spec.sort_by:
        found += one_of("spec.sortBy", spec.sort_by, ("ClusterName", "Score"))
    if spec.score_rate_limit and not _RATE.fullmatch(spec.score_rate_limit):
        found.append(mistake("spec.scoreRateLimit", f'"{spec.score_rate_limit}" is no time', 'write one such as "1m"'))
    found += _prioritizers(spec.prioritizer_policy, tuple(built_in))
    found += _spread(placement)
    found += _tolerations(spec.tolerations or ())
    found += _groups(spec.decision_strategy.group_strategy)
    found += _replicas(placement)
    return found


def _selector(field: str, written: api.ClusterSelector) -> Mistakes:
    if written.label_selector is not None:
        yield from label_selector(f"{field}.labelSelector", written.label_selector)
    claims = written.claim_selector.match_expressions if written.claim_selector else None
    for index, each in enumerate(claims or ()):
        at = f"{field}.claimSelector.matchExpressions[{index}]"
        if not each.key:
            yield mistake(f"{at}.key", "there is none", "write the name of a claim")
        if each.operator not in LABEL_OPERATORS:
            yield from one_of(f"{at}.operator", each.operator, LABEL_OPERATORS)
        elif (each.operator in ("In", "NotIn")) != bool(each.values):
            # The values themselves may be anything: those of claims are not labels.
            yield from tried(f"{at}.values", check_values, each.operator, each.values or (), LABEL_OPERATORS)


def _prioritizers(policy: api.PrioritizerPolicy, built_in: tuple[str, ...]) -> Mistakes:
    field = "spec.prioritizerPolicy"
    if policy.mode:
        yield from one_of(f"{field}.mode", policy.mode, (api.ADDITIVE, api.EXACT))
    for index, each in enumerate(policy.configurations or ()):
        at, coordinate = f"{field}.configurations[{index}]", each.score_coordinate
        if coordinate is None:
            yield mistake(f"{at}.scoreCoordinate", "there is none", "name a score with builtIn or addOn")
            continue
        if each.weight not in WEIGHTS:
            yield mistake(f"{at}.weight", f"{each.weight} is out of range", "write a number from -10 to 10")
        if coordinate.type == api.BUILT_IN:
            yield from one_of(f"{at}.scoreCoordinate.builtIn", coordinate.built_in, built_in)
        elif coordinate.type != api.ADD_ON:
            yield from one_of(f"{at}.scoreCoordinate.type", coordinate.type, (api.BUILT_IN, api.ADD_ON))
        elif not coordinate.add_on or not coordinate.add_on.resource_name or not coordinate.add_on.score_name:
            yield mistake(f"{at}.scoreCoordinate.addOn", "is incomplete", "write resourceName and scoreName")


def _spread(placement: api.Placement) -> Mistakes:
    written = placement.spec.spread_policy
    try:
        policy = options.spread_policy(placement)
    except InputErrors as error:
        yield from error.errors
        return
    wrong = [*_policy(policy)]
    if policy is not written:
        # What is right without the annotation is wrong there.
        known = {str(each) for each in _policy(written)}
        wrong = [each if str(each) in known else _of_annotation(each, policy) for each in wrong]
    yield from wrong


def _of_annotation(error: InputError, policy: api.SpreadPolicy) -> InputError:
    """The mistake where people find it: constraints have other numbers there, so they go by their key."""
    constraints = policy.spread_constraints or ()
    below = error.field.removeprefix(f"{_POLICY}.")
    below = re.sub(r"(?<=^spreadConstraints\[)\d+", lambda found: constraints[int(found[0])].topology_key, below)
    return InputError(error.problem, field=options.annotation_field(api.SPREAD_ANNOTATION, below), fix=error.fix)


def _policy(policy: api.SpreadPolicy) -> Mistakes:
    field = _POLICY
    yield from one_of(f"{field}.scope", policy.scope, (api.NESTED, api.FLAT))
    if policy.max_moves < 0:
        yield mistake(f"{field}.maxMoves", f"{policy.max_moves} is less than nothing", "write 0 or more")
    yield from int32(f"{field}.maxMoves", policy.max_moves)
    if policy.group_selector is not None:
        yield from label_selector(f"{field}.groupSelector", policy.group_selector)
    constraints = policy.spread_constraints or ()
    if len(constraints) > MAX_CONSTRAINTS:
        problem = f"there are {len(constraints)} constraints"
        yield mistake(f"{field}.spreadConstraints", problem, f"write at most {MAX_CONSTRAINTS}")
    seen: set[tuple[str, str]] = set()
    for index, each in enumerate(constraints):
        at = f"{field}.spreadConstraints[{index}]"
        if (each.topology_key, each.topology_key_type) in seen:
            yield mistake(f"{at}.topologyKey", f'"{each.topology_key}" is there already', "remove one of the two")
        seen.add((each.topology_key, each.topology_key_type))
        yield from _constraint(at, each)


def _constraint(at: str, each: api.SpreadConstraint) -> Mistakes:
    if not each.topology_key_type:
        yield mistake(f"{at}.topologyKeyType", "there is none", f"write {api.LABEL} or {api.CLAIM}")
    else:
        yield from one_of(f"{at}.topologyKeyType", each.topology_key_type, (api.LABEL, api.CLAIM))
    if not each.topology_key:
        yield mistake(f"{at}.topologyKey", "there is none", "write a label key or the name of a claim")
    else:
        yield from tried(f"{at}.topologyKey", check_key, each.topology_key)
    yield from one_of(f"{at}.whenUnsatisfiable", each.when_unsatisfiable, (api.DO_NOT_SCHEDULE, api.SCHEDULE_ANYWAY))
    if each.max_skew < 1:
        yield mistake(f"{at}.maxSkew", f"{each.max_skew} is too small", "write 1 or more")
    yield from int32(f"{at}.maxSkew", each.max_skew)
    yield from int32(f"{at}.minDomains", each.min_domains)
    if each.min_domains is not None and each.min_domains < 1:
        yield mistake(f"{at}.minDomains", f"{each.min_domains} is too small", "write 1 or more")
    if each.min_domains is not None and not each.is_hard:
        yield mistake(f"{at}.minDomains", "is for hard constraints", "add whenUnsatisfiable: DoNotSchedule")
    for domain, weight in (each.weights or {}).items():
        if not 1 <= weight <= 100:
            yield mistake(f"{at}.weights.{domain}", f"{weight} is out of range", "write a number from 1 to 100")
            return
    if lcm(*(each.weights or {}).values()) > FINEST:
        yield mistake(f"{at}.weights", "the numbers have no common measure", "use rounder ones, such as 10, 20 and 50")


def _tolerations(tolerations: tuple[Toleration, ...]) -> Mistakes:
    for index, each in enumerate(tolerations):
        at = f"spec.tolerations[{index}]"
        if each.operator:
            yield from one_of(f"{at}.operator", each.operator, OPERATORS)
        if each.effect:
            yield from one_of(f"{at}.effect", each.effect, EFFECTS)
        if not each.key and each.operator != EXISTS:
            yield mistake(f"{at}.operator", "an empty key stands for all taints", "write operator: Exists, or a key")
        if each.operator == EXISTS and each.value:
            yield mistake(f"{at}.value", "operator Exists takes no value", "remove it")
        if each.key:
            yield from tried(f"{at}.key", check_key, each.key)
        yield from short(f"{at}.value", each.value, LONGEST_VALUE)


def _groups(strategy: api.GroupStrategy) -> Mistakes:
    for index, group in enumerate(strategy.decision_groups or ()):
        at = f"spec.decisionStrategy.groupStrategy.decisionGroups[{index}]"
        if not group.group_name:
            yield mistake(f"{at}.groupName", "there is none", "write one, such as canary")
        elif not _GROUP_NAME.fullmatch(group.group_name):
            advice = "write 2 to 63 letters, digits and inner dashes, dots or underscores"
            yield mistake(f"{at}.groupName", f'"{group.group_name}" is not the name of a group', advice)
        if group.group_cluster_selector is None:
            yield mistake(f"{at}.groupClusterSelector", "there is none", "write labels or claims of clusters")
        else:
            yield from _selector(f"{at}.groupClusterSelector", group.group_cluster_selector)
    yield from tried(_PER_GROUP, group_size, strategy.clusters_per_decision_group, 1)


def group_size(written: int | str, total: int) -> int:
    """How many clusters a group holds, of `total`; ValueError if it is neither a number nor a percentage."""
    advice = 'write a number from 1, or a percentage from "1%" to "100%"'
    if isinstance(written, int):
        if written < 1:
            raise ValueError(f"{written} is not a size; {advice}")
        return written
    if _COUNT.fullmatch(written):
        return min(int(written), MOST_CLUSTERS)
    digits = written.removesuffix("%")
    if not _COUNT.fullmatch(digits) or int(digits) > 100:
        raise ValueError(f'"{written}" is not a size; {advice}')
    return -(-int(digits) * total // 100)


def _replicas(placement: api.Placement) -> Mistakes:
    field = options.annotation_field(api.REPLICAS_ANNOTATION)
    try:
        written = options.replica_options(placement)
    except InputErrors as error:
        yield from error.errors
        return
    if written is None:
        return
    if written.replicas < 0:
        yield mistake(f"{field}.replicas", f"{written.replicas} is less than nothing", "write 0 or more")
    yield from one_of(f"{field}.strategy", written.strategy, options.STRATEGIES)
    yield from quantities(f"{field}.requests", written.requests)
    for index, each in enumerate(written.weights or ()):
        yield from label_selector(f"{field}.weights[{index}].selector", each.selector)
        if each.weight < 0:
            yield mistake(f"{field}.weights[{index}].weight", f"{each.weight} is less than nothing", "write 0 or more")
    if written.strategy == options.WEIGHTED and not written.weights:
        yield mistake(field, "Weighted needs to know how much clusters count", "add weights")
    if written.strategy in (options.CAPACITY, options.AGGREGATED) and not (written.requests or written.score):
        yield mistake(field, f"{written.strategy} needs to know what fits", "add requests or score")

"""Who may go where: full domains, nodes of no domain, policies that are missing or wrong, pods that ask for none."""

from __future__ import annotations

from typing import Any

import msgspec
import pytest

from bayplan.framework import SKIP, Code
from bayplan.objects.third_party.kosmos import POLICY_LABEL, POLICY_LABEL_ALIAS, WorkloadPolicy
from bayplan.objects.workload import ReplicaSet
from bayplan.plugins.leaf_node_workload_policy.allocating import STATE
from bayplan.testing import PodBuilder, node, pod
from tests.plugins.kosmos import APP, KEY, asking, domain, numbers, placed, policy, required
from tests.plugins.leaf_node_workload_policy.support import Bench

NODES = [domain("member"), domain("host"), domain("edge"), node("bare")]
LACKS = f"node(s) lacked label {KEY} of WorkloadPolicy pol"
UNLISTED = f"node(s) in {KEY}=edge were not listed by WorkloadPolicy pol"


def full(value: str, count: int, desired: int) -> str:
    return f"node(s) in {KEY}={value} had {count}/{desired} pods of WorkloadPolicy pol"


@pytest.mark.parametrize(
    ("made", "there", "said"),
    [
        (required(*numbers(member=1, host=3)), [], {"edge": [UNLISTED], "bare": [LACKS]}),
        (
            required(*numbers(member=1, host=3)),
            placed("member", 1),
            {"member": [full("member", 1, 1)], "edge": [UNLISTED], "bare": [LACKS]},
        ),
        (
            required(*numbers(member=1, host=3)),
            [*placed("member", 2), *placed("host", 2)],
            {"member": [full("member", 2, 1)], "edge": [UNLISTED], "bare": [LACKS]},
        ),
        (
            required(*numbers(member=0, host=3)),
            [],
            {"member": [full("member", 0, 0)], "edge": [UNLISTED], "bare": [LACKS]},
        ),
        (policy(*numbers(member=1, host=3)), placed("member", 5), {"edge": [UNLISTED], "bare": [LACKS]}),
        (policy(*numbers(member=1, host=3), unlistedDomains="Allow"), placed("member", 5), {}),
        (
            required(*numbers(member=1, host=3), unlistedDomains="Allow"),
            placed("member", 1),
            {"member": [full("member", 1, 1)]},
        ),
        (
            required({"name": "member", "replicas": 1}, {"name": "host", "remainder": True}),
            [*placed("member", 1), *placed("host", 30)],
            {"member": [full("member", 1, 1)], "edge": [UNLISTED], "bare": [LACKS]},
        ),
    ],
)
def test_domains_with_all_their_pods_are_closed_when_the_numbers_are_required(
    made: WorkloadPolicy, there: list[PodBuilder], said: dict[str, list[str]]
) -> None:
    assert Bench(NODES, there, [made]).reasons(asking()) == said


def test_only_a_full_domain_could_be_helped_by_evicting_pods() -> None:
    statuses = Bench(NODES, placed("member", 1), [required(*numbers(member=1, host=3))]).statuses(asking())
    codes = {name: status.code for name, status in statuses.items() if status is not None}
    assert codes == {"member": Code.UNSCHEDULABLE, "edge": Code.UNRESOLVABLE, "bare": Code.UNRESOLVABLE}


def test_unlabelled_and_unlisted_nodes_say_different_things() -> None:
    said = Bench(NODES, (), [required(*numbers(host=3))]).reasons(asking())
    assert (said["edge"], said["bare"]) == ([UNLISTED], [LACKS])


@pytest.mark.parametrize(
    ("there", "counts"),
    [
        (placed("host", 2), 2),
        ([each.namespace("other") for each in placed("host", 2)], 0),
        ([each.terminating() for each in placed("host", 2)], 0),
        ([pod("stranger").label(app="db").on("host")], 0),
        ([pod("of-no-policy").label(APP).on("host")], 1),
        ([pod("elsewhere").label(APP).on("bare")], 0),
    ],
)
def test_pods_of_the_namespace_that_the_selector_matches_and_that_stay_are_counted(
    there: list[PodBuilder], counts: int
) -> None:
    said = Bench(NODES, there, [required(*numbers(host=0))]).reasons(asking())
    assert said["host"] == [full("host", counts, 0)]


def test_all_nodes_of_a_domain_count_together() -> None:
    nodes = [domain("host", "h1"), domain("host", "h2"), domain("host", "h3")]
    said = Bench(nodes, [*placed("h1", 1), *placed("h2", 2)], [required(*numbers(host=3))]).reasons(asking())
    assert said == {name: [full("host", 3, 3)] for name in ("h1", "h2", "h3")}


def test_policies_of_very_many_domains_are_told_in_one_line() -> None:
    nodes = [domain(f"d{number}") for number in range(100)]
    said = Bench(nodes, placed("d1", 1), [required(*numbers(d1=1, d2=1))]).reasons(asking())
    assert {line for lines in said.values() for line in lines} == {
        f"node(s) in domains of {KEY} were not listed by WorkloadPolicy pol",
        f"node(s) in domains of {KEY} had all their pods of WorkloadPolicy pol",
    }


# -- which policy a pod has --


@pytest.mark.parametrize(
    "free",
    [
        pod("plain"),
        pod("same-labels").label(APP),
        asking("daemon").owned_by("DaemonSet", "agent"),
    ],
)
def test_pods_that_ask_for_no_policy_and_those_of_daemon_sets_are_left_alone(free: PodBuilder) -> None:
    bench = Bench(NODES, placed("host", 9), [required(*numbers(host=1))])
    assert bench.pre_filter(free) == SKIP
    promise = bench.plugin.promise(free.build().template)
    assert promise is not None
    assert promise.key == ()
    assert bench.reasons(free) == {}


@pytest.mark.parametrize(
    ("labels", "said"),
    [
        ({POLICY_LABEL: "pol"}, ""),
        ({POLICY_LABEL_ALIAS: "pol"}, ""),
        ({POLICY_LABEL: "pol", POLICY_LABEL_ALIAS: "pol"}, ""),
        (
            {POLICY_LABEL: "pol", POLICY_LABEL_ALIAS: "other"},
            f'labels {POLICY_LABEL} and {POLICY_LABEL_ALIAS} name two workload policies, "pol" and "other"',
        ),
        ({POLICY_LABEL: ""}, f"label {POLICY_LABEL} names no workload policy"),
        ({POLICY_LABEL: "gone"}, 'WorkloadPolicy "gone" not found in namespace "default"'),
        ({POLICY_LABEL: "theirs"}, 'WorkloadPolicy "theirs" not found in namespace "default"'),
        ({POLICY_LABEL: "broken"}, 'WorkloadPolicy "broken" is not valid: spec.topologyKey: there is none'),
    ],
)
def test_a_pod_names_its_policy_in_a_label(labels: dict[str, str], said: str) -> None:
    objects = [
        policy(*numbers(host=1)),
        policy(*numbers(host=1), name="theirs", namespace="other"),
        policy(*numbers(host=1), name="broken", topologyKey=""),
    ]
    status = Bench(NODES, (), objects).pre_filter(pod("a").label({**APP, **labels}))
    assert status.message == said
    assert status.code is (Code.UNRESOLVABLE if said else Code.SUCCESS)


def test_a_pod_that_its_policy_does_not_select_is_told_so() -> None:
    stranger = pod("a").label({"app": "db", POLICY_LABEL: "pol"})
    status = Bench(NODES, (), [policy(*numbers(host=1))]).pre_filter(stranger)
    assert status.code is Code.UNRESOLVABLE
    assert status.message == 'pod\'s labels do not match the labelSelector of WorkloadPolicy "pol"'


def test_a_broken_policy_stops_nobody_else() -> None:
    bench = Bench([domain("host")], (), [policy(*numbers(host=-1), name="broken"), required(*numbers(host=1))])
    assert bench.reasons(asking()) == {}
    assert bench.reasons(pod("plain")) == {}
    assert bench.pre_filter(asking("b", "broken")).is_rejected


# -- shares --


def replica_set(name: str, replicas: int, labels: dict[str, str], **more: Any) -> Any:
    meta = {"name": name, "namespace": "default", **more}
    spec = {"replicas": replicas, "template": {"metadata": {"labels": labels}}}
    return msgspec.convert({"metadata": meta, "spec": spec}, ReplicaSet)


SHARES = required(*numbers(member="25%", host="75%"))


@pytest.mark.parametrize(
    ("workloads", "member", "host"),
    [
        ([], 0, 1),
        ([replica_set("web-1", 8, APP)], 2, 6),
        ([replica_set("web-1", 8, APP), replica_set("db", 90, {"app": "db"})], 2, 6),
        ([replica_set("web-1", 8, APP), replica_set("web-2", 4, APP)], 3, 9),
        (
            [
                replica_set(
                    name,
                    size,
                    APP,
                    annotations={"deployment.kubernetes.io/desired-replicas": "8"},
                    ownerReferences=[{"kind": "Deployment", "name": "web", "controller": True}],
                )
                for name, size in (("web-old", 6), ("web-new", 4), ("web-oldest", 0))
            ],
            2,
            6,
        ),
    ],
)
def test_percentages_are_of_what_the_workloads_ask_for(workloads: list[Any], member: int, host: int) -> None:
    allocation = Bench(NODES, (), [SHARES, *workloads]).prepared(asking())
    state = allocation[STATE]
    found = {value: int(number) for value, number in zip(state.values, state.desired, strict=False)}
    assert (found["member"], found["host"]) == (member, host)


def test_shares_of_pods_that_nobody_counts_grow_with_them() -> None:
    made = required({"name": "member", "weight": 1}, {"name": "host", "weight": 3})
    bench = Bench(NODES, [*placed("member", 1), *placed("host", 6)], [made])
    assert bench.reasons(asking()) == {"host": [full("host", 6, 6)], "edge": [UNLISTED], "bare": [LACKS]}
    bench = Bench(NODES, [*placed("member", 2), *placed("host", 5)], [made])
    assert bench.reasons(asking())["member"] == [full("member", 2, 2)]

"""What changes play out to: who moves, who waits, who gets room, and the cluster before and after."""

from __future__ import annotations

import pytest

from bayplan.errors import InputError
from bayplan.simulator.loading import documents_of, load
from bayplan.simulator.what_if.changes import Add, Drain, Reconfigure, Remove, read_delete, read_scale
from tests.simulator.support import ZONE, node, pod, workload
from tests.simulator.what_if.asking import asked, keys, on

NODES = [node("n1", labels={ZONE: "a"}), node("n2", labels={ZONE: "b"})]
SET = workload("ReplicaSet", "web", cpu="1", replicas=4)
FULL = [*NODES, SET, *(on(f"web-{number}", f"n{number % 2 + 1}", "web") for number in range(4))]


def test_pods_of_a_lost_node_come_back_as_their_controller_makes_them() -> None:
    document = asked(FULL, Remove("n1"))
    assert [(each["name"], each["from"], each["to"]) for each in document["moved"]] == [
        ("web-0", "n1", "n2"), ("web-2", "n1", "n2"),
    ]  # fmt: skip
    assert all(each["replacement"] != each["name"] for each in document["moved"])
    assert (document["before"]["nodes"], document["after"]["nodes"]) == (2, 1)
    assert [each["zone"] for each in document["after"]["byZone"]] == ["b"]


def test_a_pod_without_a_controller_is_lost_with_its_node() -> None:
    document = asked([*NODES, pod("alone", nodeName="n1")], Remove("n1"))
    assert [(each["name"], each["message"]) for each in document["lost"]] == [
        ("alone", "its node n1 is gone, and nobody makes the pod again")
    ]
    assert document["worseOff"] == 1


def test_a_daemon_is_not_missed_with_its_node() -> None:
    document = asked([*NODES, workload("DaemonSet", "agent")], Remove("n1"))
    assert (document["pending"], document["lost"], document["worseOff"]) == ([], [], 0)


def test_a_daemon_that_waited_for_room_goes_with_its_node() -> None:
    full = pod("full", "4", nodeName="n1")
    document = asked([*NODES, full, workload("DaemonSet", "agent")], Remove("n1"))
    assert (document["before"]["pending"], document["after"]["pending"]) == (1, 0)
    assert (keys(document["lost"]), document["pending"], document["gone"]) == (["full"], [], [])


def test_pods_that_have_no_room_any_more_say_why() -> None:
    document = asked([*FULL, pod("big", "2", nodeName="n2")], Remove("n1"))
    assert keys(document["pending"]) == ["web-0", "web-2"]
    assert document["pending"][0]["message"].startswith("0/1 nodes are available: 1 Insufficient cpu.")
    assert (document["worseOff"], document["after"]["pending"]) == (2, 2)


def test_who_waited_before_is_not_worse_off() -> None:
    document = asked([*FULL, pod("huge", "9")], Remove("n1"))
    assert (document["before"]["pending"], document["pending"], document["worseOff"]) == (1, [], 0)


def test_a_new_node_gives_room_to_who_waits() -> None:
    document = asked([node("n1", "1"), pod("a", "1"), pod("b", "1")], Add(1, like="n1"))
    assert [(each["name"], each["to"]) for each in document["placed"]] == [("b", "n1-new-1")]
    assert document["changes"] == [{"add": 1, "like": "n1"}]


def test_pods_that_had_room_all_along_are_not_the_changes_doing() -> None:
    document = asked([*NODES, pod("a")], Add(1, like="n1"))
    assert (document["placed"], document["before"]["bound"]) == ([], 1)


def test_a_new_size_makes_pods_and_takes_them_away() -> None:
    more = asked(FULL, read_scale("rs/web=9", "--scale"))
    assert [each["new"] for each in more["placed"]] == [True] * 4
    assert [(each["new"], each["from"]) for each in more["pending"]] == [(True, None)]
    fewer = asked(FULL, read_scale("rs/web=1", "--scale"))
    assert (len(fewer["gone"]), fewer["worseOff"]) == (3, 0)


def test_what_is_deleted_makes_room_for_what_is_applied() -> None:
    large = workload("Deployment", "large", cpu="4", replicas=2)
    document = asked(FULL, read_delete("rs/web", "--delete"), applied=[large])
    assert (len(document["gone"]), len(document["placed"]), document["worseOff"]) == (4, 2, 0)


def test_what_an_api_server_refuses_to_change_is_refused() -> None:
    other = workload("ReplicaSet", "web", cpu="1", replicas=4, selector={"matchExpressions": []})
    with pytest.raises(InputError, match=r"spec.selector: of a ReplicaSet replicas, template, minReadySeconds can"):
        asked(FULL, applied=[other])


DEPLOYED = [*NODES, workload("Deployment", "web", cpu="1", replicas=4)]


def test_another_template_of_a_deployment_rolls_out() -> None:
    document = asked(DEPLOYED, applied=[workload("Deployment", "web", cpu="1500m", replicas=4)])
    (rollout,) = document["rollouts"]
    assert rollout == {
        "namespace": "default", "owner": "Deployment/web", "complete": True, "new": 4, "newBound": 4, "old": 0,
    }  # fmt: skip
    assert (len(document["placed"]), len(document["gone"]), document["worseOff"]) == (4, 4, 0)
    assert document["gone"][0]["message"] == "Deployment web rolls out"


def test_a_rollout_without_room_is_stuck_and_the_old_pods_run_on() -> None:
    document = asked(DEPLOYED, applied=[workload("Deployment", "web", cpu="5", replicas=4)])
    (rollout,) = document["rollouts"]
    assert (rollout["complete"], rollout["new"], rollout["newBound"], rollout["old"]) == (False, 2, 0, 3)
    assert [each["message"].split(".")[0] for each in document["pending"]] == [
        "0/2 nodes are available: 2 Insufficient cpu"
    ] * 2
    assert (document["after"]["bound"], document["worseOff"]) == (3, 2)


def test_a_file_that_says_no_size_leaves_it() -> None:
    document = asked(DEPLOYED, applied=[workload("Deployment", "web", cpu="500m")])
    assert (document["rollouts"][0]["new"], document["after"]["bound"]) == (4, 4)


def test_the_same_again_changes_nothing() -> None:
    agent = workload("DaemonSet", "agent")
    document = asked([*DEPLOYED, agent], applied=[DEPLOYED[-1], agent])
    assert (document["rollouts"], document["moved"], document["placed"], document["gone"]) == ([], [], [], [])


def test_a_stateful_set_brings_its_pods_back_in_order() -> None:
    objects = [*NODES, workload("StatefulSet", "db", cpu="3", replicas=2)]
    document = asked(objects, Drain("n1"))
    (pending,) = document["pending"]
    assert pending["name"].startswith("db-")
    assert document["moved"] == []


def test_pods_that_an_ordered_set_has_not_made_again_wait_too() -> None:
    objects = [node("n1"), workload("StatefulSet", "db", cpu="1", replicas=3)]
    document = asked(objects, Remove("n1"))
    assert keys(document["pending"]) == ["db-0", "db-1", "db-2"]
    assert "waits for the pods before it" in document["pending"][1]["message"]


def test_a_preempted_pod_is_worse_off() -> None:
    high = {"apiVersion": "scheduling.k8s.io/v1", "kind": "PriorityClass", "metadata": {"name": "high"}, "value": 9}
    important = pod("important", "4", priorityClassName="high")
    document = asked([node("n1"), high, SET, *(on(f"web-{n}", "n1", "web") for n in range(4))], applied=[important])
    assert keys(document["placed"]) == ["important"]
    assert len(document["pending"]) == 4


def test_another_configuration_takes_over_a_running_cluster() -> None:
    objects = [
        node("n1", labels={"disk": "hdd"}),
        pod("choosy", nodeSelector={"disk": "ssd"}),
        pod("here", nodeName="n1"),
    ]
    config = {
        "apiVersion": "kubescheduler.config.k8s.io/v1",
        "kind": "KubeSchedulerConfiguration",
        "profiles": [
            {
                "schedulerName": "default-scheduler",
                "plugins": {"multiPoint": {"disabled": [{"name": "NodeAffinity"}]}},
            }
        ],
    }
    successor = load(documents_of([*objects, config]))
    document = asked(objects, Reconfigure("other.yaml"), successor=successor)
    assert [(each["name"], each["to"]) for each in document["placed"]] == [("choosy", "n1")]
    assert document["before"]["bound"] == 1
    assert document["after"]["bound"] == 2


def test_the_same_question_has_the_same_answer() -> None:
    assert asked(FULL, Remove("n1"), Add(2, like="n2")) == asked(FULL, Remove("n1"), Add(2, like="n2"))

"""
The same extender in front of Bayplan and of the real kube-scheduler: both must ask the same and decide the same.

Each test creates twin pods, one for each scheduler, and compares what the extender was asked and what became of them.
"""

from __future__ import annotations

import asyncio
import time
from collections.abc import AsyncIterator, Callable, Iterable
from contextlib import asynccontextmanager
from functools import partial
from typing import Any

import pytest

from tests.support.api import Object
from tests.support.extending import ExtenderServer, Plain
from tests.support.live import Cluster, config_of, running, until

pytestmark = pytest.mark.kube

OURS, THEIRS = "bayplan", "default-scheduler"
GPU = "example.com/gpu"
NAMES = {OURS: "ours", THEIRS: "theirs"}
FULL_FILTER: dict[str, Any] = {"filterVerb": "filter"}
CACHED_FILTER = FULL_FILTER | {"nodeCacheCapable": True}


@asynccontextmanager
async def both(cluster: Cluster, *extenders: dict[str, Any], **profile: Any) -> AsyncIterator[None]:
    """Both schedulers, with these extenders and the same profile."""
    common = {"extenders": list(extenders), "podInitialBackoffSeconds": 1, "podMaxBackoffSeconds": 1}
    ours = common | {"profiles": [{"schedulerName": OURS, **profile}]}
    real = common | {"profiles": [{"schedulerName": THEIRS, **profile}]}
    theirs = await asyncio.to_thread(cluster.plane.start_kube_scheduler, real, verbosity=4)
    try:
        async with running(cluster.plane, config=config_of(**ours)):
            yield
    finally:
        await asyncio.to_thread(theirs.stop)


async def twins(cluster: Cluster, **spec: Any) -> None:
    """One pod for each scheduler, alike but for name and scheduler."""
    for scheduler, name in NAMES.items():
        await cluster.pod(name, schedulerName=scheduler, **spec)


async def outcomes(cluster: Cluster) -> dict[str, str]:
    """Where each twin is, or why it is nowhere."""

    async def outcome(name: str) -> str | None:
        pod = await cluster.get(name)
        if pod["spec"].get("nodeName"):
            return str(pod["spec"]["nodeName"])
        for condition in pod["status"].get("conditions", ()):
            if condition["type"] == "PodScheduled":
                return f"{condition['reason']}: {condition['message']}"
        return None

    return {
        scheduler: await until(partial(outcome, name), f"an outcome of {name}", 20.0)
        for scheduler, name in NAMES.items()
    }


async def agreed(cluster: Cluster) -> str:
    """The one outcome of both twins."""
    found = await outcomes(cluster)
    assert found[OURS] == found[THEIRS]
    return found[OURS]


OWN = {"name", "uid", "UID", "resourceVersion", "creationTimestamp", "schedulerName", "nodeName", "nodeSelector"}


def comparable(value: Any) -> Any:
    """A pod, or something with pods in it, without what differs between twins."""
    if isinstance(value, dict):
        return {key: comparable(one) for key, one in value.items() if key not in OWN}
    return [comparable(one) for one in value] if isinstance(value, list) else value


def names_in(request: Object) -> list[str]:
    """The nodes of a request.  kube-scheduler lists them in whatever order its threads found them."""
    if request["NodeNames"] is not None:
        return sorted(request["NodeNames"])
    return sorted(node["metadata"]["name"] for node in request["Nodes"]["items"])


def first(extender: ExtenderServer, verb: str) -> tuple[Object, Object]:
    """The first request of each scheduler."""
    return extender.requests(verb, OURS)[0], extender.requests(verb, THEIRS)[0]


def only(*passed: str) -> Callable[[Object], Object]:
    """Lets these nodes pass, in the form that was asked for."""

    def answer(request: Object) -> Object:
        if request["NodeNames"] is not None:
            return {"NodeNames": [name for name in request["NodeNames"] if name in passed]}
        return {"Nodes": {"items": [one for one in request["Nodes"]["items"] if one["metadata"]["name"] in passed]}}

    return answer


# -- filter --


@pytest.mark.parametrize("settings", [FULL_FILTER, CACHED_FILTER], ids=["whole nodes", "node names"])
async def test_both_ask_the_same_and_take_what_is_left(cluster: Cluster, settings: dict[str, Any]) -> None:
    await cluster.nodes(3)
    await cluster.node("tainted", taints=[{"key": "k", "effect": "NoSchedule"}])
    with ExtenderServer(filter=only("n2")) as extender:
        async with both(cluster, settings | {"urlPrefix": extender.url}):
            await twins(cluster, metadata={"annotations": {"team": "red"}}, volumes=[{"name": "v", "emptyDir": {}}])
            assert await agreed(cluster) == "n2"
    ours, theirs = first(extender, "filter")
    assert list(ours) == list(theirs)
    assert comparable(ours["Pod"]) == comparable(theirs["Pod"])
    assert ours["Pod"]["metadata"]["annotations"] == {"team": "red"}
    assert names_in(ours) == names_in(theirs) == ["n1", "n2", "n3"]
    if settings is FULL_FILTER:
        assert list(ours["Nodes"]) == list(theirs["Nodes"])
        assert sorted_nodes(ours) == sorted_nodes(theirs)
    assert header(extender, "Content-Type") == {"application/json"}


def sorted_nodes(request: Object) -> list[Object]:
    nodes = [without_managed_fields(one) for one in request["Nodes"]["items"]]
    return sorted(nodes, key=lambda one: str(one["metadata"]["name"]))


def without_managed_fields(one: Object) -> Object:
    metadata = {key: value for key, value in one["metadata"].items() if key != "managedFields"}
    return one | {"metadata": metadata}


def header(extender: ExtenderServer, name: str) -> set[str]:
    return {headers[name] for headers in extender.headers}


@pytest.mark.parametrize(
    ("title", "answer"),
    [
        ("reasons", {"NodeNames": [], "FailedNodes": {"n1": "hot"}, "FailedAndUnresolvableNodes": {"n2": "burnt"}}),
        ("no words", {"NodeNames": []}),
        ("both maps", {"NodeNames": [], "FailedNodes": {"n1": "hot"}, "FailedAndUnresolvableNodes": {"n1": "burnt"}}),
        ("another spelling", {"nodenames": [], "failednodes": {"n1": "hot", "n2": "hot"}}),
        ("an empty reason", {"NodeNames": [], "FailedNodes": {"n1": ""}}),
        ("an error", {"Error": "no license"}),
        ("a name that was not asked about", {"NodeNames": ["n9"]}),
        ("a status", Plain(503)),
    ],
)
async def test_both_say_the_same_when_an_extender_refuses(cluster: Cluster, title: str, answer: Any) -> None:
    await cluster.nodes(2)
    await cluster.node("tainted", taints=[{"key": "k", "effect": "NoSchedule"}])
    with ExtenderServer(filter=lambda request: answer) as extender:
        async with both(cluster, CACHED_FILTER | {"urlPrefix": extender.url}):
            await twins(cluster)
            said = await agreed(cluster)
    assert said.startswith(("Unschedulable: 0/3 nodes are available:", "SchedulerError: ")), title


async def test_both_try_again_after_any_event_when_an_extender_refused(cluster: Cluster) -> None:
    await cluster.nodes(2)
    is_open = False

    def answer(request: Object) -> Object:
        return only("n2" if is_open else "")(request)

    with ExtenderServer(filter=answer) as extender:
        async with both(cluster, CACHED_FILTER | {"urlPrefix": extender.url}):
            await twins(cluster)
            await agreed(cluster)
            is_open = True
            # An event that no plugin of these pods would care for.
            await asyncio.to_thread(cluster.api.patch, "Node", "n1", {"metadata": {"annotations": {"a": "b"}}})
            for name in NAMES.values():
                assert await cluster.bound(name) == "n2"


async def test_both_go_on_without_an_ignorable_extender_that_is_down(cluster: Cluster) -> None:
    await cluster.nodes(2)
    with ExtenderServer(filter=only("n2")) as up:
        down = CACHED_FILTER | {"urlPrefix": "http://127.0.0.1:1/", "ignorable": True}
        async with both(cluster, down, CACHED_FILTER | {"urlPrefix": up.url}):
            await twins(cluster)
            assert await agreed(cluster) == "n2"


async def test_both_fail_the_pod_when_an_extender_is_down(cluster: Cluster) -> None:
    await cluster.nodes(2)
    async with both(cluster, CACHED_FILTER | {"urlPrefix": "http://127.0.0.1:1"}):
        await twins(cluster)
        found = await outcomes(cluster)
    for said in found.values():
        assert said.startswith('SchedulerError: Post "http://127.0.0.1:1/filter": '), said


# -- prioritize --


PREFERS_N1 = {
    "weight": 1,
    "preference": {"matchExpressions": [{"key": "kubernetes.io/hostname", "operator": "In", "values": ["n1"]}]},
}


@pytest.mark.parametrize(
    ("score", "weight", "winner"),
    [(9, 1, "n1"), (9, 2, "n3"), (11, 1, "n3"), (-5, 3, "n1")],
    ids=["90 points", "180 points", "more than ten", "less than nothing"],
)
async def test_both_add_the_extenders_scores(cluster: Cluster, score: int, weight: int, winner: str) -> None:
    """The pod's own preference gives n1 exactly 100 points, and nothing else is scored."""
    await cluster.nodes(3)
    score_only = {"score": {"disabled": [{"name": "*"}], "enabled": [{"name": "NodeAffinity", "weight": 1}]}}
    affinity = {"nodeAffinity": {"preferredDuringSchedulingIgnoredDuringExecution": [PREFERS_N1]}}
    scores = [{"Host": "n1", "Score": 0}, {"Host": "n3", "Score": score}, {"Host": "n9", "Score": 10}]
    with ExtenderServer(prioritize=lambda request: scores) as extender:
        settings = {"prioritizeVerb": "prioritize", "weight": weight, "nodeCacheCapable": True}
        async with both(cluster, settings | {"urlPrefix": extender.url}, plugins=score_only):
            await twins(cluster, affinity=affinity)
            assert await agreed(cluster) == winner
    ours, theirs = first(extender, "prioritize")
    assert list(ours) == list(theirs)
    assert names_in(ours) == names_in(theirs) == ["n1", "n2", "n3"]


@pytest.mark.parametrize(("settings", "theirs"), [(FULL_FILTER, "large"), (CACHED_FILTER, "small")])
async def test_nodes_that_come_back_whole_are_scored_as_they_are_though_kube_scheduler_takes_them_for_empty(
    cluster: Cluster, settings: dict[str, Any], theirs: str
) -> None:
    """A deliberate difference: large is nearly full, yet better than small for whoever forgets the pods on it."""
    await cluster.node("large", cpu="16")
    await cluster.node("small", cpu="4")
    await cluster.pod("there", cpu="14", nodeName="large")
    score_only = {"score": {"disabled": [{"name": "*"}], "enabled": [{"name": "NodeResourcesFit"}]}}
    with ExtenderServer(filter=only("large", "small")) as extender:
        async with both(cluster, settings | {"urlPrefix": extender.url}, plugins=score_only):
            await twins(cluster, cpu="500m")
            assert await outcomes(cluster) == {OURS: "small", THEIRS: theirs}


# -- who is asked --


async def test_only_pods_with_a_managed_resource_are_asked_about_and_the_scheduler_ignores_it(cluster: Cluster) -> None:
    await cluster.nodes(2)
    managed = {"managedResources": [{"name": GPU, "ignoredByScheduler": True}]}
    container = {"name": "c", "image": "x", "resources": {"requests": {GPU: "1"}, "limits": {GPU: "1"}}}
    with ExtenderServer(filter=only("n2")) as extender:
        async with both(cluster, CACHED_FILTER | managed | {"urlPrefix": extender.url}):
            for scheduler in NAMES:
                await cluster.pod(f"plain-{NAMES[scheduler]}", schedulerName=scheduler)
                await cluster.bound(f"plain-{NAMES[scheduler]}")
            assert extender.asked == []
            await twins(cluster, containers=[container])
            assert await agreed(cluster) == "n2"


# -- preempt --


def keep(*nodes: str) -> Callable[[Object], Object]:
    """Lets pods be evicted on these nodes alone, and all that were proposed."""

    def answer(request: Object) -> Object:
        whole, by_uid = request["NodeNameToVictims"], request["NodeNameToMetaVictims"]
        kept = {
            name: {"Pods": [{"UID": uid} for uid in uids(one)], "NumPDBViolations": one["NumPDBViolations"]}
            for name, one in (whole or by_uid).items()
            if name in nodes
        }
        return {"NodeNameToMetaVictims": kept}

    return answer


def uids(victims: Object) -> Iterable[str]:
    return (pod.get("UID") or pod["metadata"]["uid"] for pod in victims["Pods"])


@pytest.mark.parametrize("knows", [False, True], ids=["whole pods", "uids"])
async def test_both_let_the_extender_choose_whom_to_evict(cluster: Cluster, knows: bool) -> None:
    """Each scheduler has two full nodes of its own; by itself it would evict the pod of lower priority, on a."""
    await priorities(cluster)
    for name in NAMES.values():
        for suffix, priority in (("a", "low"), ("b", "middle")):
            await cluster.create(labelled_node(f"{name}-{suffix}", name))
            node = f"{name}-{suffix}"
            await cluster.pod(f"there-{node}", cpu="3", nodeName=node, priorityClassName=priority, metadata=HELD)
    with ExtenderServer(preempt=keep("ours-b", "theirs-b")) as extender:
        settings = {"preemptVerb": "preempt", "nodeCacheCapable": knows, "urlPrefix": extender.url}
        async with both(cluster, settings):
            for scheduler, name in NAMES.items():
                more = {"priorityClassName": "high", "nodeSelector": {"for": name}}
                await cluster.pod(name, cpu="3", schedulerName=scheduler, **more)
            for name in NAMES.values():
                await until(partial(nominated, cluster, name), f"a nomination of {name}", 20.0)
                await until(partial(is_leaving, cluster, f"there-{name}-b"), f"a victim of {name}", 20.0)
    ours, theirs = first(extender, "preempt")
    assert list(ours) == list(theirs)
    pairs = ((ours, "ours"), (theirs, "theirs"))
    field = "NodeNameToMetaVictims" if knows else "NodeNameToVictims"
    for request, name in pairs:
        assert sorted(request[field]) == [f"{name}-a", f"{name}-b"]
        assert request["NodeNameToVictims" if knows else "NodeNameToMetaVictims"] is None
        assert await nominated(cluster, name) == f"{name}-b"
        assert not await is_leaving(cluster, f"there-{name}-a")
    victims = [comparable([request[field][f"{name}-{node}"] for node in "ab"]) for request, name in pairs]
    assert victims[0] == victims[1]


async def test_both_say_the_same_when_no_node_is_left_to_evict_on(cluster: Cluster) -> None:
    await priorities(cluster)
    await cluster.nodes(2)
    for index in (1, 2):
        await cluster.pod(f"there-{index}", cpu="3", nodeName=f"n{index}", priorityClassName="low")
    with ExtenderServer(preempt=keep()) as extender:
        async with both(cluster, {"preemptVerb": "preempt", "urlPrefix": extender.url}):
            await twins(cluster, cpu="3", priorityClassName="high")
            said = await agreed(cluster)
    assert said.endswith("no new claims to deallocate, preemption: no candidate node for preemption")


HELD = {"finalizers": ["example.com/held"]}


async def priorities(cluster: Cluster) -> None:
    for name, value in (("low", 10), ("middle", 100), ("high", 1000)):
        document = {"apiVersion": "scheduling.k8s.io/v1", "kind": "PriorityClass", "value": value}
        await cluster.create(document | {"metadata": {"name": name}})


def labelled_node(name: str, label: str) -> Object:
    sizes = {"cpu": "4", "memory": "8Gi", "pods": "110"}
    metadata = {"name": name, "labels": {"kubernetes.io/hostname": name, "for": label}}
    status = {"allocatable": sizes, "capacity": sizes}
    return {"apiVersion": "v1", "kind": "Node", "metadata": metadata, "status": status}


async def nominated(cluster: Cluster, name: str) -> str | None:
    found = (await cluster.get(name)).get("status", {}).get("nominatedNodeName")
    return str(found) if found else None


async def is_leaving(cluster: Cluster, name: str) -> bool:
    pod = await cluster.find(name)
    return pod is None or "deletionTimestamp" in pod["metadata"]


# -- bind --


async def test_both_leave_the_binding_to_the_extender(cluster: Cluster) -> None:
    await cluster.node("n1")
    loop = asyncio.get_running_loop()

    def bind(request: Object) -> Object:
        done = asyncio.run_coroutine_threadsafe(cluster.bind(request["PodName"], request["Node"]), loop)
        done.result(10)
        return {}

    with ExtenderServer(bind=bind) as extender:
        async with both(cluster, {"bindVerb": "bind", "urlPrefix": extender.url}):
            await twins(cluster)
            assert await agreed(cluster) == "n1"
            await cluster.event("ours", "Scheduled")
    requests = {request["PodName"]: request for _, request in extender.asked}
    assert list(requests["ours"]) == list(requests["theirs"])
    for name, request in requests.items():
        uid = (await cluster.get(name))["metadata"]["uid"]
        assert request == {"PodName": name, "PodNamespace": cluster.namespace, "PodUID": uid, "Node": "n1"}


async def test_a_bind_that_the_extender_refuses_is_told_by_both(cluster: Cluster) -> None:
    await cluster.node("n1")
    with ExtenderServer(bind=lambda request: {"Error": "no room"}) as extender:
        async with both(cluster, {"bindVerb": "bind", "urlPrefix": extender.url}):
            await twins(cluster)
            assert await agreed(cluster) == "SchedulerError: no room"


# -- ours alone --


async def test_a_slow_extender_holds_up_neither_watches_nor_pods_that_it_has_no_say_in_after_it(
    cluster: Cluster,
) -> None:
    await cluster.nodes(2)
    asked_at: list[float] = []

    def slow(request: Object) -> Object:
        asked_at.append(time.monotonic())
        time.sleep(1.0)
        return only("n2")(request)

    managed = {"managedResources": [{"name": GPU, "ignoredByScheduler": True}], "httpTimeout": "3s"}
    container = {"name": "c", "image": "x", "resources": {"requests": {GPU: "1"}, "limits": {GPU: "1"}}}
    with ExtenderServer(filter=slow) as extender:
        config = config_of(extenders=[CACHED_FILTER | managed | {"urlPrefix": extender.url}])
        async with running(cluster.plane, config=config) as run:
            await cluster.pod("asked", containers=[container])
            await until(lambda: bool(asked_at), "the extender to be asked")
            await cluster.pod("p1")
            await cluster.delete("n1", "Node")
            watched = time.monotonic()
            assert await cluster.bound("asked") == "n2"
            assert await cluster.bound("p1") == "n2", "the news of n1's end was heard before p1's turn"
            assert watched - asked_at[0] < 1.0
            assert run.live.engine.schedule(1) is None

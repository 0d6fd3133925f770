"""
Extenders over real HTTP: what is sent, what may come back, and how failures read.

Requests carry kube-scheduler's field names to the letter; answers may spell them in any case.
"""

from __future__ import annotations

import json
import time
from collections.abc import AsyncIterator, Callable
from contextlib import asynccontextmanager
from typing import Any

import pytest

from bayplan.errors import ExtenderError
from bayplan.kube.extender import ExtenderSettings, HttpExtender
from bayplan.kube.originals import Originals
from bayplan.kube.transport import Endpoint, HttpTransport
from bayplan.objects.extender import Filtered, VictimIds, Victims
from bayplan.testing import node, pod
from tests.support.extending import ExtenderServer, Plain

WEB = pod("web").namespace("shop").uid("u-web").cpu("1").build()
LOW = pod("low").namespace("shop").uid("u-low").on("n1").build()
RAW_WEB = {
    "metadata": {"name": "web", "namespace": "shop", "uid": "u-web", "annotations": {"x": "y"}},
    "spec": {"containers": [{"name": "main", "image": "web:1", "env": [{"name": "A", "value": "1"}]}]},
    "status": {},
}
VERBS = {"filter_verb": "filter", "prioritize_verb": "prioritize", "preempt_verb": "preempt", "bind_verb": "bind"}


def originals_of() -> Originals:
    kept = Originals(nodes=True)
    kept.keep(WEB, json.dumps(RAW_WEB | {"kind": "Pod", "apiVersion": "v1"}).encode())
    for name in ("n1", "n2"):
        kept.keep(node(name).build(), json.dumps({"metadata": {"name": name, "labels": {"a": name}}}).encode())
    return kept


@asynccontextmanager
async def extender_at(url: str, **settings: Any) -> AsyncIterator[HttpExtender]:
    made = ExtenderSettings(url, **{**VERBS, **settings})
    extender = HttpExtender(made, HttpTransport(Endpoint(url.rstrip("/"))), originals_of())
    try:
        yield extender
    finally:
        await extender.close()


async def ask(answer: Any, what: Callable[[HttpExtender], Any], **settings: Any) -> tuple[Any, ExtenderServer]:
    """Ask an extender whose verbs all give this answer."""

    def says(request: Any) -> Any:
        return answer

    with ExtenderServer(filter=says, prioritize=says, preempt=says, bind=says) as server:
        async with extender_at(server.url, **settings) as extender:
            return await what(extender), server


def filter_of(*names: str) -> Callable[[HttpExtender], Any]:
    return lambda extender: extender.filter(WEB, names)


# -- what is sent --


async def test_whole_pods_and_nodes_are_sent_as_the_api_server_wrote_them() -> None:
    _, server = await ask({"Nodes": {"items": []}}, filter_of("n1", "n2"))
    nodes = [{"metadata": {"name": name, "labels": {"a": name}}} for name in ("n1", "n2")]
    assert server.asked == [("filter", {"Pod": RAW_WEB, "Nodes": {"metadata": {}, "items": nodes}, "NodeNames": None})]
    assert server.headers[0]["Content-Type"] == "application/json"


async def test_an_extender_with_a_cache_gets_names_alone() -> None:
    for what in (filter_of("n1"), lambda extender: extender.prioritize(WEB, ["n1"])):
        _, server = await ask(None, what, node_cache_capable=True)
        assert server.asked[0][1] == {"Pod": RAW_WEB, "Nodes": None, "NodeNames": ["n1"]}


@pytest.mark.parametrize("knows", [False, True])
async def test_victims_are_sent_whole_or_by_uid(knows: bool) -> None:
    victims = {"n1": Victims((LOW,), 2)}
    _, server = await ask({}, lambda extender: extender.preempt(WEB, victims), node_cache_capable=knows)
    ((verb, request),) = server.asked
    whole, by_uid = request["NodeNameToVictims"], request["NodeNameToMetaVictims"]
    assert (verb, list(request)) == ("preempt", ["Pod", "NodeNameToVictims", "NodeNameToMetaVictims"])
    if knows:
        assert (whole, by_uid) == (None, {"n1": {"Pods": [{"UID": "u-low"}], "NumPDBViolations": 2}})
    else:
        assert by_uid is None
        assert whole["n1"]["NumPDBViolations"] == 2
        assert whole["n1"]["Pods"][0]["metadata"]["name"] == "low"


async def test_a_bind_names_pod_and_node() -> None:
    _, server = await ask({"Error": ""}, lambda extender: extender.bind(WEB, "n1"))
    assert server.asked == [("bind", {"PodName": "web", "PodNamespace": "shop", "PodUID": "u-web", "Node": "n1"})]


async def test_a_slash_at_the_end_of_the_prefix_is_not_doubled() -> None:
    with ExtenderServer(bind=lambda request: {}) as server:
        async with extender_at(f"{server.url}/") as extender:
            await extender.bind(WEB, "n1")
    assert [verb for verb, _ in server.asked] == ["bind"]


# -- what comes back --


@pytest.mark.parametrize(
    ("knows", "answer", "filtered"),
    [
        (True, {"NodeNames": ["n2"]}, Filtered(("n2",), {}, {})),
        (True, {"nodenames": ["n2"], "failedNodes": {"n1": "hot"}}, Filtered(("n2",), {"n1": "hot"}, {})),
        (
            True,
            {"NodeNames": [], "FailedNodes": None, "FailedAndUnresolvableNodes": {"n1": "burnt"}, "Error": ""},
            Filtered((), {}, {"n1": "burnt"}),
        ),
        (True, {"Nodes": {"items": [{"metadata": {"name": "n1"}}]}}, Filtered(("n1",), {}, {})),
        (True, {"NodeNames": None}, Filtered((), {}, {})),
        (False, {"Nodes": {"Items": [{"metadata": {"name": "n2", "labels": {}}}]}}, Filtered(("n2",), {}, {})),
        (False, {"NodeNames": ["n1"]}, Filtered((), {}, {})),
        (False, {"Nodes": {"items": None}}, Filtered((), {}, {})),
        (False, None, Filtered((), {}, {})),
    ],
)
async def test_filter_answers_are_read_as_kube_scheduler_does(knows: bool, answer: Any, filtered: Filtered) -> None:
    said, _ = await ask(answer, filter_of("n1", "n2"), node_cache_capable=knows)
    assert said == filtered


async def test_scores_and_victims_are_read_in_any_spelling() -> None:
    scores, _ = await ask(
        [{"Host": "n1", "Score": 3}, {"host": "n2", "score": -1}, {}],
        lambda extender: extender.prioritize(WEB, ["n1", "n2"]),
    )
    assert scores == [("n1", 3), ("n2", -1), ("", 0)]
    named = {"pods": [{"uid": "a"}, {"UID": "b"}], "numPDBViolations": 1}
    answer = {"nodeNameToMetaVictims": {"N1": named, "n2": None}}
    victims, _ = await ask(answer, lambda extender: extender.preempt(WEB, {}))
    assert victims == {"N1": VictimIds(("a", "b"), 1), "n2": VictimIds((), 0)}


# -- failures --


@pytest.mark.parametrize(
    ("answer", "text"),
    [
        ({"Error": "no license"}, "no license"),
        (Plain(503), "failed filter with extender at URL {url}/filter, code 503"),
        (Plain(201, b"{}"), "failed filter with extender at URL {url}/filter, code 201"),
        (
            {"NodeNames": ["n9"]},
            'extender "{url}" claims a filtered node "n9" which is not found in the input node list',
        ),
        (Plain(200, b"<html>"), "the extender's answer makes no sense: the answer: JSON is malformed"),
        ({"FailedNodes": ["n1"]}, "the extender's answer makes no sense: FailedNodes: Expected `object | null`"),
        (Plain(200), "the extender's answer makes no sense: the answer: Input data was truncated"),
    ],
)
async def test_failures_say_what_went_wrong(answer: Any, text: str) -> None:
    with ExtenderServer(filter=lambda request: answer) as server:
        async with extender_at(server.url, node_cache_capable=True) as extender:
            with pytest.raises(ExtenderError) as raised:
                await extender.filter(WEB, ["n1", "n2"])
    assert str(raised.value).startswith(text.format(url=server.url))


async def test_a_bind_that_was_refused_carries_the_extenders_words() -> None:
    with pytest.raises(ExtenderError, match=r"^no room$"):
        await ask({"error": "no room"}, lambda extender: extender.bind(WEB, "n1"))


async def test_an_extender_that_is_not_there() -> None:
    with ExtenderServer() as server:
        url = server.url
    async with extender_at(url) as extender:
        with pytest.raises(ExtenderError, match=f'^Post "{url}/bind": .*[Cc]onnect') as raised:
            await extender.bind(WEB, "n1")
    assert "POST /bind" not in str(raised.value)


async def test_an_extender_that_does_not_answer_in_time() -> None:
    with ExtenderServer(bind=lambda request: time.sleep(0.5)) as server:
        async with extender_at(server.url, timeout_s=0.1) as extender:
            with pytest.raises(ExtenderError, match=r'bind": no answer within 0.1 s$'):
                await extender.bind(WEB, "n1")


# -- who is asked --


@pytest.mark.parametrize(
    ("managed", "made", "is_interested"),
    [
        ((), pod("a"), True),
        (("example.com/gpu",), pod("a").cpu(1), False),
        (("example.com/gpu", "example.com/fpga"), pod("a").scalar("example.com/fpga", 1), True),
        (("example.com/gpu",), pod("a").init("", **{"example.com/gpu": 1}), True),
    ],
)
def test_interest_follows_managed_resources(managed: tuple[str, ...], made: Any, is_interested: bool) -> None:
    settings = ExtenderSettings("http://x", managed_resources=frozenset(managed))
    extender = HttpExtender(settings, HttpTransport(Endpoint("http://x")), Originals())
    assert extender.is_interested(made.build()) is is_interested


def test_a_limit_is_enough_for_interest() -> None:
    manifest = pod("a").manifest()
    manifest["spec"]["containers"][0]["resources"] = {"limits": {"example.com/gpu": "1"}}
    settings = ExtenderSettings("http://x", managed_resources=frozenset({"example.com/gpu"}))
    extender = HttpExtender(settings, HttpTransport(Endpoint("http://x")), Originals())
    assert extender.is_interested(type(pod("a"))(manifest).build())


def test_what_an_extender_can_do_follows_from_its_verbs() -> None:
    transport = HttpTransport(Endpoint("http://x"))
    all_verbs = HttpExtender(ExtenderSettings("http://x", weight=3, **VERBS), transport, Originals())  # type: ignore[arg-type]
    none = HttpExtender(ExtenderSettings("http://x", is_ignorable=True), transport, Originals())
    able = [(each.filters, each.prioritizes, each.preempts, each.binds) for each in (all_verbs, none)]
    assert able == [(True,) * 4, (False,) * 4]
    assert (all_verbs.weight, all_verbs.is_ignorable, none.is_ignorable) == (3, False, True)

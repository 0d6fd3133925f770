"""The health and metrics port over real HTTPS, with the API server's own TokenReview and SubjectAccessReview."""

from __future__ import annotations

import asyncio
import json
import os
import signal
import ssl
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager

import aiohttp
import pytest
import structlog
from prometheus_client.parser import text_string_to_metric_families

from bayplan.app.scheduler.process import SchedulerOptions, building, service_options
from bayplan.app.shell.http_server import Authorizer
from bayplan.app.shell.process import health_server, serve, until_stopped
from bayplan.kube.recorder import Recorder
from tests.support.faults import Answer, FaultyTransport, LostRequest
from tests.support.live import Cluster, Running, client_of, config_of, running, until
from tests.support.witness import Witness

pytestmark = pytest.mark.kube

Samples = dict[str, float]


@asynccontextmanager
async def served(cluster: Cluster, run: Running, open_metrics: bool = False) -> AsyncIterator[aiohttp.ClientSession]:
    """A session with the port of a running scheduler as its base; the scheduler's faults are for reviews too."""
    client, faults = client_of(cluster.plane.kubeconfig())
    faults.rules = run.faults.rules
    ask = Authorizer(client)
    server = health_server(run.live, None if open_metrics else ask, ask)
    await server.start(0, host="127.0.0.1")
    context = ssl.create_default_context()
    context.check_hostname, context.verify_mode = False, ssl.CERT_NONE
    connector = aiohttp.TCPConnector(ssl=context)
    try:
        async with aiohttp.ClientSession(f"https://127.0.0.1:{server.port}", connector=connector) as session:
            yield session
    finally:
        await server.close()
        await client.close()


async def ask(session: aiohttp.ClientSession, path: str, token: str = "") -> tuple[int, str]:
    headers = {"Authorization": f"Bearer {token}"} if token else {}
    async with session.get(path, headers=headers) as answer:
        return answer.status, await answer.text()


def samples(page: str) -> Samples:
    """Every sample of a metrics page, as ``name{label=value,…}``; names must be declared once."""
    found: Samples = {}
    for family in text_string_to_metric_families(page):
        for sample in family.samples:
            labels = ",".join(f"{key}={value}" for key, value in sorted(sample.labels.items()))
            key = f"{sample.name}{{{labels}}}" if labels else sample.name
            assert key not in found, key
            found[key] = sample.value
    return found


async def test_health_is_open_and_metrics_are_for_those_the_api_server_allows(cluster: Cluster) -> None:
    tokens = cluster.plane.tokens
    await cluster.node()
    async with running(cluster.plane) as run, served(cluster, run) as session:
        for path in ("/healthz", "/livez", "/readyz"):
            assert await ask(session, path) == (200, "ok")
        status, text = await ask(session, "/readyz?verbose")
        assert (status, text) == (200, "[+]informer-sync ok\n[+]shutdown ok\nreadyz check passed\n")
        assert (await ask(session, "/metrics"))[0] == 401
        assert (await ask(session, "/metrics", "made-up"))[0] == 401
        assert (await ask(session, "/metrics", tokens["nobody"]))[0] == 403
        status, text = await ask(session, "/metrics", tokens["admin"])
        assert status == 200
        assert "scheduler_pending_pods" in text
        assert (await ask(session, "/elsewhere", tokens["admin"]))[0] == 404


async def test_an_answer_is_remembered_and_a_silent_api_server_lets_nobody_in(cluster: Cluster) -> None:
    tokens = cluster.plane.tokens
    async with running(cluster.plane) as run, served(cluster, run) as session:
        assert (await ask(session, "/metrics", tokens["admin"]))[0] == 200
        run.faults.on("POST", "reviews$", LostRequest())
        assert (await ask(session, "/metrics", tokens["admin"]))[0] == 200
        assert (await ask(session, "/metrics", tokens["scheduler"]))[0] == 503


async def test_decisions_are_for_those_the_api_server_allows_and_never_open(cluster: Cluster) -> None:
    tokens = cluster.plane.tokens
    await cluster.node()
    async with running(cluster.plane) as run, served(cluster, run, open_metrics=True) as session:
        await cluster.pod("p1")
        await cluster.pod("big", cpu="64")
        await cluster.bound("p1")
        await cluster.unschedulable("big")
        assert (await ask(session, "/decisions"))[0] == 401
        assert (await ask(session, "/decisions", tokens["nobody"]))[0] == 403
        status, text = await ask(session, f"/decisions?pod={cluster.namespace}/big", tokens["admin"])
        assert status == 200
        newest = json.loads(text)["decisions"][0]
        assert (newest["result"], newest["node"]) == ("unschedulable", None)
        assert newest["reasons"] == [{"plugin": "NodeResourcesFit", "reasons": ["Insufficient cpu"], "nodes": 1}]

        async def bound() -> bool:
            _, text = await ask(session, f"/decisions?pod={cluster.namespace}/p1&limit=1", tokens["admin"])
            return [each["result"] for each in json.loads(text)["decisions"]] == ["scheduled"]

        await until(bound, "the decision to be called scheduled")
        assert (await ask(session, "/decisions?limit=x", tokens["admin"]))[0] == 400


async def test_metrics_can_be_opened(cluster: Cluster) -> None:
    async with running(cluster.plane) as run, served(cluster, run, open_metrics=True) as session:
        assert (await ask(session, "/metrics"))[0] == 200


async def test_it_is_not_ready_before_it_has_seen_the_cluster_nor_while_it_stops(cluster: Cluster) -> None:
    def prepare(faults: FaultyTransport) -> None:
        faults.on("GET", "/nodes$", Answer(500))

    async with running(cluster.plane, prepare=prepare, wait=False) as run, served(cluster, run) as session:
        await until(lambda: run.faults.count("GET", "/nodes$") > 0, "the first try")
        assert (await ask(session, "/livez"))[0] == 200
        status, text = await ask(session, "/readyz")
        assert status == 500
        assert "[-]informer-sync failed: first list not complete" in text
        await run.stop()
        status, text = await ask(session, "/readyz")
        assert "[-]shutdown failed: stopping" in text


async def test_metrics_have_kube_schedulers_names_and_move(
    cluster: Cluster, witness: Witness, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("bayplan.engine.plugin_calls.SAMPLE", 1)
    await cluster.nodes(2)
    async with running(cluster.plane) as run:
        before = samples(run.live.render_metrics().decode())
        await cluster.pods(4)
        await cluster.pod("huge", cpu="100")
        await cluster.all_bound(4)
        await cluster.unschedulable("huge")
        await cluster.node("small", cpu="1")  # no help, as a hint says
        await until(lambda: len(run.live.engine.cache.nodes) == 3, "the node to be known")
        await until(lambda: run.live.engine.cache.assumed_count == 0, "the binds to be confirmed")
        await asyncio.sleep(0.1)
        now = samples(run.live.render_metrics().decode())
    ours = "profile=bayplan"
    expected = {
        f"scheduler_schedule_attempts_total{{{ours},result=scheduled}}": 4,
        f"scheduler_schedule_attempts_total{{{ours},result=unschedulable}}": 1,
        f"scheduler_scheduling_attempt_duration_seconds_count{{{ours},result=scheduled}}": 4,
        f"scheduler_scheduling_attempt_duration_seconds_count{{{ours},result=unschedulable}}": 1,
        "scheduler_scheduling_algorithm_duration_seconds_count": 5,
        "scheduler_pod_scheduling_sli_duration_seconds_count{attempts=1}": 4,
        "scheduler_pod_scheduling_attempts_count": 4,
        "scheduler_pod_scheduling_attempts_bucket{le=1}": 4,
        "scheduler_preemption_attempts_total": 1,
        "scheduler_cache_size{type=nodes}": 3,
        "scheduler_cache_size{type=pods}": 4,
        "scheduler_cache_size{type=assumed_pods}": 0,
        "scheduler_pending_pods{queue=active}": 0,
        "scheduler_pending_pods{queue=unschedulable}": 1,
        "scheduler_pending_pods{queue=gated}": 0,
        "scheduler_unschedulable_pods{plugin=NodeResourcesFit,profile=bayplan}": 1,
        "scheduler_queue_incoming_pods_total{event=UnschedulablePodAdd,queue=active}": 5,
        "scheduler_queue_incoming_pods_total{event=ScheduleAttemptFailure,queue=unschedulable}": 1,
        f"scheduler_framework_extension_point_duration_seconds_count{{extension_point=Bind,{ours},status=Success}}": 4,
        f"scheduler_framework_extension_point_duration_seconds_count"
        f"{{extension_point=PostFilter,{ours},status=Unschedulable}}": 1,
        "scheduler_goroutines{operation=binding}": 0,
    }
    assert {key: now.get(key) for key in expected} == expected
    moved = {
        f"scheduler_plugin_evaluation_total{{extension_point=Filter,plugin=NodeResourcesFit,{ours}}}",
        f"scheduler_framework_extension_point_duration_seconds_count{{extension_point=Filter,{ours},status=Success}}",
        "scheduler_event_handling_duration_seconds_count{event=PodAdd}",
        "scheduler_queueing_hint_execution_duration_seconds_count",
        "scheduler_plugin_execution_duration_seconds_count{extension_point=Filter,plugin=NodeResourcesFit",
    }
    for key in moved:
        totals = [sum(v for k, v in page.items() if k.startswith(key)) for page in (before, now)]
        assert totals[0] < totals[1], key


async def test_the_first_signal_stops_in_order_and_handlers_are_gone_then() -> None:
    steps: list[str] = []

    async def work() -> None:
        steps.append("working")
        os.kill(os.getpid(), signal.SIGTERM)
        try:
            await asyncio.sleep(60)
        finally:
            await asyncio.sleep(0)
            steps.append("cleaned up")

    before = signal.getsignal(signal.SIGTERM)
    try:
        await until_stopped(work())
        assert steps == ["working", "cleaned up"]
        assert signal.getsignal(signal.SIGTERM) is signal.SIG_DFL, "a second signal ends the process"
    finally:
        signal.signal(signal.SIGTERM, before)
        signal.signal(signal.SIGINT, signal.default_int_handler)


async def test_a_part_that_breaks_ends_the_service_with_1(cluster: Cluster, monkeypatch: pytest.MonkeyPatch) -> None:
    async def broken(self: Recorder) -> None:
        raise IndexError("a mistake of ours")

    monkeypatch.setattr(Recorder, "run", broken)
    monkeypatch.setattr("bayplan.engine.gc_tuning.settle", lambda: None)
    options = SchedulerOptions(config_of(), str(cluster.plane.kubeconfig()), leader_elect=False, secure_port=0)
    with structlog.testing.capture_logs() as logs:
        assert await serve(service_options(options), building(options)) == 1
    await asyncio.sleep(0.1)  # connections that were being made are closed by now
    (line,) = [entry for entry in logs if entry["event"] == "stopping"]
    assert line["reason"] == "a part broke: IndexError('a mistake of ours')"

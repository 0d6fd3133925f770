"""From Reserve to PreBind: what is taken, written, waited for and given back.  The waiting is in virtual time."""

from __future__ import annotations

import asyncio
from collections.abc import Callable
from typing import Any

import pytest

from bayplan.clock import VirtualClock
from bayplan.engine.cache import ClusterCache
from bayplan.errors import ConflictError
from bayplan.framework import SKIP, Code, CycleState
from bayplan.framework.status import Status, as_status
from bayplan.objects.node import HOSTNAME_LABEL as HOST
from bayplan.objects.volume import BIND_COMPLETED, BOUND_BY_CONTROLLER, SELECTED_NODE
from bayplan.plugins.volume_binding import VolumeBinding, VolumeBindingArgs
from bayplan.simulator.clock_loop import run
from bayplan.testing import PodBuilder, cluster, node, pod, reasons, run_filter
from bayplan.testing.harness import Recorder, handle
from tests.plugins.storage import claim, storage_class, volume

ASKED = pod("a").claim("c")
LOCAL = storage_class("local", "kubernetes.io/no-provisioner")
WAIT = storage_class("wait")
STATIC = [LOCAL, claim("c", of="local", version="7"), volume("v", of="local", at={HOST: "n"}, version="3")]
DYNAMIC = [WAIT, claim("c", version="7")]
REFERENCE = {
    "apiVersion": "v1",
    "kind": "PersistentVolumeClaim",
    "namespace": "default",
    "name": "c",
    "uid": "PersistentVolumeClaim-c",
    "resourceVersion": "7",
}


class Api(Recorder):
    """Answers every patch with the next version, or with an error."""

    def __init__(self, fails: bool = False) -> None:
        super().__init__()
        self.fails = fails

    async def patch(
        self, kind: str, namespace: str, name: str, patch: dict[str, Any], resource_version: str = ""
    ) -> str:
        if self.fails:
            raise ConflictError(409, "it has been modified")
        await super().patch(kind, namespace, name, patch, resource_version)
        return "20"


class Case:
    """One pod on its way to node ``n``."""

    def __init__(self, objects: list[Any], asked: PodBuilder = ASKED, *, api: Api | None = None, **args: Any) -> None:
        self.cache: ClusterCache = cluster([node("n"), node("m")], [], objects)
        self.clock = VirtualClock()
        self.api = api or Api()
        self.plugin = VolumeBinding(VolumeBindingArgs(**args), handle(self.cache, clock=self.clock, writer=self.api))
        self.pod = asked.build()
        self.state = CycleState()

    def reserve(self) -> Status:
        assert self.plugin.pre_filter(self.state, self.pod, self.cache.nodes) is None
        self.cache.assume(self.pod.assigned_to("n"))
        return as_status(self.plugin.reserve(self.state, self.pod, "n"))

    def unreserve(self) -> None:
        self.plugin.unreserve(self.state, self.pod, "n")

    def taken(self) -> bool:
        """Is nothing left for the next pod with such a claim?"""
        other = claim("d", of="local")
        self.put(other)
        return "n" in reasons(run_filter(self.plugin, pod("b").claim("d"), self.cache))

    def put(self, thing: Any) -> None:
        self.cache.objects.put(type(thing).__name__, thing.namespace, thing.name, thing)

    def bind(self, *then: tuple[float, Callable[[], None]]) -> Status:
        """PreBind, while other things happen after so many seconds."""

        async def main() -> Status:
            loop = asyncio.get_running_loop()
            for seconds, happens in then:
                loop.call_later(seconds, happens)
            return as_status(await self.plugin.pre_bind(self.state, self.pod, "n"))

        return run(main(), self.clock)


def bound_volume(**fields: Any) -> Any:
    reference = {"namespace": "default", "name": "c", "uid": "PersistentVolumeClaim-c"}
    fields = {"version": "20", "at": {HOST: "n"}} | fields
    return volume("v", of="local", spec={"claimRef": fields.pop("reference", reference)}, **fields)


def bound_claim(**fields: Any) -> Any:
    annotations = {BIND_COMPLETED: "yes", SELECTED_NODE: "n"}
    return claim("c", **({"of": "local", "volume": "v", "version": "21", "annotations": annotations} | fields))


# -- reserving --


def test_a_volume_that_was_chosen_is_not_chosen_again() -> None:
    case = Case(STATIC)
    assert not case.taken()
    assert case.reserve().is_success
    assert case.taken()
    case.unreserve()
    assert not case.taken()
    case.unreserve()


def test_a_claim_to_be_made_is_tied_to_the_node_that_was_chosen() -> None:
    case = Case(DYNAMIC)
    assert case.reserve().is_success
    again = pod("b").claim("c")
    assert sorted(reasons(run_filter(case.plugin, again, case.cache))) == ["m"]
    case.unreserve()
    assert reasons(run_filter(case.plugin, again, case.cache)) == {}


def test_news_of_an_object_void_what_was_assumed_of_it() -> None:
    case = Case(STATIC)
    case.reserve()
    case.put(volume("v", of="local", at={HOST: "n"}, version="4"))
    assert not case.taken()


def test_reading_the_same_version_again_is_no_news() -> None:
    case = Case(STATIC)
    case.reserve()
    case.put(volume("v", of="local", at={HOST: "n"}, version="3"))
    assert case.taken()


def test_an_object_that_changed_under_our_hands_fails_the_pod() -> None:
    case = Case(STATIC)
    assert case.plugin.pre_filter(case.state, case.pod, case.cache.nodes) is None
    case.put(volume("v", of="local", at={HOST: "n"}, version="4"))
    status = as_status(case.plugin.reserve(case.state, case.pod, "n"))
    assert (status.code, status.message) == (Code.ERROR, '"v" changed while the pod was being placed')
    assert case.plugin.pre_bind_pre_flight(case.state, case.pod, "n") is SKIP


def test_what_was_taken_is_given_back_if_the_rest_cannot_be_had() -> None:
    two = [*STATIC, claim("d", of="local", size="2Gi"), volume("w", of="local", size="2Gi")]
    case = Case(two, pod("a").claim("c").claim("d"))
    assert case.plugin.pre_filter(case.state, case.pod, case.cache.nodes) is None
    case.put(volume("w", of="local", size="2Gi", version="9"))
    assert as_status(case.plugin.reserve(case.state, case.pod, "n")).is_error
    case.put(volume("w", of="local", size="2Gi", phase="Bound"))
    assert not case.taken()


def test_there_is_nothing_to_do_for_pods_whose_claims_are_bound() -> None:
    case = Case([claim("c", volume="v"), volume("v", phase="Bound")])
    assert case.reserve().is_success
    assert case.plugin.pre_bind_pre_flight(case.state, case.pod, "n") is SKIP


def test_there_is_nothing_to_do_for_pods_that_never_were_asked_about() -> None:
    case = Case([], pod("a"))
    assert case.plugin.reserve(case.state, case.pod, "n") is None
    assert case.plugin.pre_bind_pre_flight(case.state, case.pod, "n") is SKIP
    case.unreserve()


# -- writing --


def test_a_chosen_volume_is_set_aside_for_the_claim() -> None:
    case = Case(STATIC)
    case.reserve()
    assert case.plugin.pre_bind_pre_flight(case.state, case.pod, "n") is None
    assert case.bind((0.5, lambda: case.put(bound_volume())), (2.5, lambda: case.put(bound_claim()))).is_success
    patch = {"spec": {"claimRef": REFERENCE}, "metadata": {"annotations": {BOUND_BY_CONTROLLER: "yes"}}}
    assert case.api.calls == [("patch", "PersistentVolume", "v", patch, "3")]
    assert case.clock.now() == pytest.approx(3.0)


@pytest.mark.parametrize(
    ("reference", "patches"),
    [
        ({"namespace": "default", "name": "c"}, [{"spec": {"claimRef": REFERENCE}}]),
        ({"namespace": "default", "name": "c", "uid": "PersistentVolumeClaim-c"}, []),
    ],
)
def test_a_volume_somebody_set_aside_gets_no_mark_and_only_what_is_missing(
    reference: dict[str, str], patches: list[Any]
) -> None:
    offered = volume("v", of="local", at={HOST: "n"}, version="3", spec={"claimRef": reference})
    case = Case([LOCAL, claim("c", of="local", version="7"), offered])
    case.reserve()
    assert case.bind((0.5, lambda: case.put(bound_volume())), (0.5, lambda: case.put(bound_claim()))).is_success
    assert [call[3] for call in case.api.calls] == patches


def test_a_claim_whose_volume_is_to_be_made_gets_the_node() -> None:
    case = Case(DYNAMIC)
    case.reserve()
    made = volume("made", at={HOST: "n"})
    happenings = [
        (0.5, lambda: case.put(claim("c", version="20", annotations={SELECTED_NODE: "n"}))),
        (1.5, lambda: case.put(bound_claim(of="wait", volume="made"))),
        (2.5, lambda: case.put(made)),
    ]
    assert case.bind(*happenings).is_success
    patch = {"metadata": {"annotations": {SELECTED_NODE: "n"}}}
    assert case.api.calls == [("patch", "PersistentVolumeClaim", "default/c", patch, "7")]
    assert case.clock.now() == pytest.approx(3.0)


def test_a_write_that_is_refused_fails_the_pod_and_frees_the_volume() -> None:
    case = Case(STATIC, api=Api(fails=True))
    case.reserve()
    status = case.bind()
    assert status.is_error
    assert "it has been modified" in status.message
    case.unreserve()
    assert not case.taken()


def test_what_was_written_stays_taken_when_the_pod_fails_later() -> None:
    case = Case(STATIC, bind_timeout_seconds=2)
    case.reserve()
    assert case.bind().is_error
    case.unreserve()
    assert case.taken()


# -- waiting --


LOST: list[tuple[str, list[Any], Callable[[Case], None], str]] = [
    (
        "the claim is gone",
        STATIC,
        lambda case: case.cache.objects.drop("PersistentVolumeClaim", "default", "c"),
        'failed to check binding: persistentvolumeclaims "default/c" not found',
    ),
    (
        "the volume is gone",
        STATIC,
        lambda case: case.cache.objects.drop("PersistentVolume", "", "v"),
        'failed to check binding: persistentvolumes "v" not found',
    ),
    (
        "the volume was released",
        STATIC,
        lambda case: case.put(bound_volume(reference=None)),
        'ClaimRef got reset for pv "v"',
    ),
    (
        "the volume moved away",
        STATIC,
        lambda case: case.put(bound_volume(at={HOST: "m"})),
        'pv "v" node affinity doesn\'t match node "n": no matching NodeSelectorTerms',
    ),
    (
        "the node is gone",
        STATIC,
        lambda case: case.cache.remove_node("n"),
        'failed to get node "n": node "n" not found',
    ),
    (
        "the pod is gone",
        STATIC,
        lambda case: case.cache.forget(case.pod),
        'pod does not exist any more: pod "a" not found',
    ),
    (
        "the claim to be made is gone",
        DYNAMIC,
        lambda case: case.cache.objects.drop("PersistentVolumeClaim", "default", "c"),
        'failed to check provisioning pvc: persistentvolumeclaims "default/c" not found',
    ),
    (
        "the provisioner cannot make it there",
        DYNAMIC,
        lambda case: case.put(claim("c", version="21")),
        'provisioning failed for PVC "c"',
    ),
    (
        "all annotations are gone",
        DYNAMIC,
        lambda case: case.put(claim("c", version="21", annotations=None)),
        'selectedNode annotation reset for PVC "c"',
    ),
    (
        "the volume was made elsewhere",
        [*DYNAMIC, volume("made", at={HOST: "m"})],
        lambda case: case.put(bound_claim(of="wait", volume="made")),
        'pv "made" node affinity doesn\'t match node "n": no matching NodeSelectorTerms',
    ),
]


@pytest.mark.parametrize(("name", "objects", "happens", "text"), LOST, ids=[each[0] for each in LOST])
def test_waiting_ends_when(name: str, objects: list[Any], happens: Callable[[Case], None], text: str) -> None:
    case = Case(objects)
    case.reserve()
    status = case.bind((2.5, lambda: happens(case)))
    assert (status.code, status.message) == (Code.ERROR, f"binding volumes: {text}")
    assert case.clock.now() == pytest.approx(3.0)


def test_news_from_before_our_own_write_mean_nothing() -> None:
    """The volume as it was, without our claim in it, must not look like one that was released."""
    case = Case(STATIC)
    case.reserve()
    old = volume("v", of="local", at={HOST: "n"}, version="4")
    happenings = [
        (0.5, lambda: case.put(old)),
        (1.5, lambda: case.put(bound_volume())),
        (1.5, lambda: case.put(bound_claim())),
    ]
    assert case.bind(*happenings).is_success


def test_waiting_takes_no_longer_than_the_profile_allows() -> None:
    case = Case(STATIC, bind_timeout_seconds=5)
    case.reserve()
    status = case.bind()
    assert (status.code, status.message) == (Code.ERROR, "binding volumes: context deadline exceeded")
    assert case.clock.now() == pytest.approx(5.0)

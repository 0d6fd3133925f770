"""Pod changes: an update of a pod as the specific events plugins register for."""

from __future__ import annotations

import msgspec
import pytest

from bayplan.engine.update_events import pod_update_events
from bayplan.framework.events import Change
from bayplan.objects.pod import Container, Pod, PodResourceClaimStatus, ResourceRequirements
from bayplan.objects.quantity import Quantity
from tests.engine.queue.support import a_pod


def requesting(**requests: str) -> Pod:
    amounts: dict[str, Quantity] = {name.replace("_", "/"): amount for name, amount in requests.items()}
    container = Container(name="main", resources=ResourceRequirements(requests=amounts))
    pod = a_pod()
    return pod.evolve(spec=msgspec.structs.replace(pod.spec, containers=(container,)))


def with_claim(name: str) -> Pod:
    pod = a_pod()
    claims = (PodResourceClaimStatus(name="gpu", resource_claim_name=name),)
    return pod.evolve(status=msgspec.structs.replace(pod.status, resource_claim_statuses=claims))


@pytest.mark.parametrize(
    ("old", "new", "changes"),
    [
        (a_pod(), a_pod(labels={"a": "b"}), [Change.POD_LABEL]),
        (a_pod(labels={}), a_pod(), [Change.UPDATED]),
        (a_pod(), a_pod(annotations={"a": "b"}), [Change.UPDATED]),
        (a_pod(), a_pod(nominated="n1"), [Change.UPDATED]),
        (a_pod(gates=("a",)), a_pod(), [Change.POD_GATES_ELIMINATED]),
        (a_pod(gates=("a", "b")), a_pod(gates=("a",)), [Change.UPDATED]),
        (a_pod(), a_pod(tolerations=1), [Change.POD_TOLERATION]),
        (a_pod(cpu="2"), a_pod(cpu="1500m"), [Change.POD_SCALE_DOWN]),
        (a_pod(cpu="1"), a_pod(cpu="2"), [Change.UPDATED]),
        (requesting(cpu="1", memory="1Gi"), requesting(cpu="1"), [Change.POD_SCALE_DOWN]),
        (requesting(memory="2Gi"), requesting(memory="1Gi", cpu="9"), [Change.POD_SCALE_DOWN]),
        (requesting(**{"ephemeral-storage": "2"}), requesting(), [Change.POD_SCALE_DOWN]),
        (requesting(**{"example.com_gpu": "2"}), requesting(**{"example.com_gpu": "1"}), [Change.POD_SCALE_DOWN]),
        (requesting(**{"example.com_gpu": "0"}), requesting(), [Change.POD_SCALE_DOWN]),
        (a_pod(), with_claim("claim-1"), [Change.POD_GENERATED_CLAIM]),
        (
            a_pod(cpu="2", gates=("a",)),
            a_pod(cpu="1", labels={"a": "b"}, tolerations=2),
            [Change.POD_LABEL, Change.POD_SCALE_DOWN, Change.POD_GATES_ELIMINATED, Change.POD_TOLERATION],
        ),
    ],
)
def test_changes_are_told_apart(old: Pod, new: Pod, changes: list[Change]) -> None:
    assert [(event.kind, event.change) for event in pod_update_events(old, new)] == [
        ("UnschedulablePod", change) for change in changes
    ]


def test_the_kind_says_whether_the_pod_has_a_node() -> None:
    old, new = a_pod().assigned_to("n1"), a_pod(labels={"a": "b"}).assigned_to("n1")
    assert [event.label for event in pod_update_events(old, new)] == ["AssignedPodUpdatePodLabel"]

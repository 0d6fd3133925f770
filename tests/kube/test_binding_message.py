"""Binds in protobuf: every length of name, and the real API server reads them as meant."""

from __future__ import annotations

import msgspec
import pytest

from bayplan.kube import binding_message
from bayplan.kube.writer import ApiWriter
from bayplan.objects.pod import Pod
from tests.support.bodies import read_body
from tests.support.live import Cluster, client_of, close


@pytest.mark.parametrize("length", [1, 60, 61, 127, 128, 253, 1023, 1024, 5000])
def test_a_message_says_what_it_was_told(length: int) -> None:
    name = "n" * length
    assert read_body(binding_message.encode("é" + name, "ns", "u1", name)) == {
        "apiVersion": "v1",
        "kind": "Binding",
        "metadata": {"name": "é" + name, "namespace": "ns", "uid": "u1"},
        "target": {"apiVersion": "v1", "kind": "Node", "name": name},
    }


def test_what_is_far_too_long_is_refused() -> None:
    with pytest.raises(ValueError, match="too many"):
        binding_message.encode("n" * 20_000, "ns", "u", "n")


@pytest.mark.kube
async def test_the_real_api_server_reads_names_of_every_length(cluster: Cluster) -> None:
    client, _ = client_of(cluster.plane.kubeconfig())
    try:
        for length in (1, 100, 200, 253):
            stored = msgspec.convert(await cluster.pod("p" * length), Pod)
            await ApiWriter(client).bind(stored, "n" * length)
            assert (await cluster.get("p" * length))["spec"]["nodeName"] == "n" * length
    finally:
        await close(client)

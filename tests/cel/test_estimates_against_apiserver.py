"""Whether an expression may be stored, compared with a real API server (server-side dry run, nothing is stored).

`APISERVER_CASES=400` asks about that many expressions of each depth.
"""

from __future__ import annotations

import os
from collections.abc import Iterator
from typing import Any

import pytest

from bayplan.cel import COST_LIMIT, CelError
from bayplan.cel.devices import compile, highest_cost
from tests.cel.random_selectors import SelectorMaker
from tests.support.api import Api, ApiError, path_of
from tests.support.binaries import binaries_or_skip
from tests.support.control_plane import ControlPlane

pytestmark = pytest.mark.kube

API = "resource.k8s.io/v1"
CASES = int(os.environ.get("APISERVER_CASES", "60"))


@pytest.fixture(scope="module")
def api() -> Iterator[Api]:
    with ControlPlane(binaries_or_skip()) as plane:
        yield plane.api()


def written(kind: str, expression: str) -> dict[str, Any]:
    selectors = [{"cel": {"expression": expression}}]
    claim = {"devices": {"requests": [{"name": "r", "exactly": {"deviceClassName": "gpu", "selectors": selectors}}]}}
    specs = {"DeviceClass": {"selectors": selectors}, "ResourceClaim": claim, "ResourceClaimTemplate": {"spec": claim}}
    return {"apiVersion": API, "kind": kind, "metadata": {"name": "x"}, "spec": specs[kind]}


def by_server(api: Api, kind: str, expression: str) -> str:
    namespace = None if kind == "DeviceClass" else "default"
    try:
        api.call("POST", path_of(kind, namespace), written(kind, expression), dryRun="All")
    except ApiError as error:
        return "too complex" if "too complex, exceeds cost limit" in str(error) else "refused"
    return "stored"


def by_us(expression: str) -> str:
    try:
        compile(expression)
    except CelError:
        return "refused"
    return "too complex" if highest_cost(expression) > COST_LIMIT else "stored"


@pytest.mark.parametrize("kind", ["DeviceClass", "ResourceClaim", "ResourceClaimTemplate"])
@pytest.mark.parametrize("depth", [2, 3, 4, 5])
def test_the_server_stores_and_refuses_as_estimated(api: Api, kind: str, depth: int) -> None:
    seen = set()
    for seed in range(CASES):
        expression = SelectorMaker(seed).selector(depth)
        expected = by_server(api, kind, expression)
        assert by_us(expression) == expected, f"seed {seed}: {expression}"
        seen.add(expected)
    assert {"stored", "too complex"} <= seen

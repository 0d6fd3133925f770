"""Devices from the command line: what fits, and what is wrong with what was given; other pods go on."""

from __future__ import annotations

import json
from typing import Any

import pytest
import yaml

from tests.cli.support import Shell
from tests.simulator.explain.test_devices import API, CLAIMED, CLASS, claim, made, published
from tests.simulator.support import Manifest, node, pod

PLAIN = pod("plain")
WEB = pod("web", resourceClaims=CLAIMED)
DEAR = "[1,2,3,4,5,6,7,8,9].all(a, " * 7 + "true" + ")" * 7
"""Seven loops in one another: it compiles, and costs more than a selector may."""


def stored(thing: Manifest) -> Manifest:
    """As it is in a snapshot: what a server let in is not checked again."""
    return {**thing, "metadata": {**thing["metadata"], "uid": "1"}}


def simulated(shell: Shell, *objects: Manifest) -> tuple[int, dict[str, Any], str]:
    shell.write("cluster.yaml", yaml.safe_dump_all([node("n1"), PLAIN, WEB, *objects]))
    ended = shell.run("simulate", "-f", "cluster.yaml", "-o", "json")
    pods = json.loads(ended.out)["pods"] if ended.out else []
    return ended.code, {each["name"]: each for each in pods}, ended.err


def test_claims_that_fit_are_bound(shell: Shell) -> None:
    code, pods, _ = simulated(shell, CLASS, claim(), *published({"name": "a"}))
    assert code == 0
    assert pods["web"]["state"] == "Bound"


@pytest.mark.parametrize(
    ("expected", "objects", "message"),
    [
        (1, [claim(), *published({"name": "a"})], "request r0: device class gpu does not exist"),
        (1, [CLASS, claim(), *published({"name": "a"}, count=2)], "cannot allocate all claims"),
        (
            2,
            [CLASS, stored(claim({"selectors": [{"cel": {"expression": DEAR}}]})), *published({"name": "a"})],
            "actual cost limit exceeded",
        ),
    ],
)
def test_what_keeps_one_pod_keeps_no_other(shell: Shell, expected: int, objects: list[Manifest], message: str) -> None:
    code, pods, _ = simulated(shell, *objects)
    assert code == expected
    assert pods["plain"]["state"] == "Bound"
    assert pods["web"]["state"] == "Pending"
    assert message in pods["web"]["message"]


@pytest.mark.parametrize(
    ("wrong", "line"),
    [
        (
            made("DeviceClass", "gpu", {"selectors": [{"cel": {"expression": "devic.driver"}}]}),
            "DeviceClass gpu: spec.selectors[0].cel.expression: does not compile",
        ),
        (
            claim({"selectors": [{"cel": {"expression": DEAR}}]}),
            "selectors[0].cel.expression: too complex, exceeds cost limit: estimated cost 22719098, limit 1000000",
        ),
        (
            published({"name": "a"}, {"name": "a"})[0],
            'ResourceSlice devices: spec.devices: "a" is there 2 times; give each a name of its own',
        ),
        ({**claim(), "apiVersion": f"{API}beta1"}, "write resource.k8s.io/v1 instead"),
        (claim({"cuont": 2}), 'unknown field; did you mean "count"?'),
    ],
)
def test_a_mistake_in_a_file_is_one_line(shell: Shell, wrong: Manifest, line: str) -> None:
    code, pods, told = simulated(shell, wrong)
    assert code == 2
    assert not pods
    assert line in told
    assert len(told.strip().splitlines()) == 1


def test_a_claim_takes_256_pods_and_the_next_are_told(shell: Shell) -> None:
    many = [pod(f"p{number}", resourceClaims=CLAIMED) for number in range(259)]
    big = node("n1")
    big["status"]["allocatable"] |= {"pods": "1000", "cpu": "1000", "memory": "1000Gi"}
    shell.write("cluster.yaml", yaml.safe_dump_all([big, CLASS, claim(), *published({"name": "a"}), *many, PLAIN]))
    ended = shell.run("simulate", "-f", "cluster.yaml", "-o", "json")
    pods = {each["name"]: each for each in json.loads(ended.out)["pods"]}
    waiting = [each for each in pods.values() if each["state"] != "Bound"]
    assert (ended.code, len(waiting)) == (1, 3)
    assert all("resourceclaim in use" in each["message"] for each in waiting)
    assert pods["plain"]["state"] == "Bound"
    told = shell.run("simulate", "-f", "cluster.yaml", "-o", "manifests").out
    held = [each for each in yaml.safe_load(told)["items"] if each["kind"] == "ResourceClaim"]
    assert [len(each["status"]["reservedFor"]) for each in held] == [256]

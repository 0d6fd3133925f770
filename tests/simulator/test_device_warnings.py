"""What files say about devices that can never be had is told, in one line, before anything is scheduled."""

from __future__ import annotations

from typing import Any

import pytest

from bayplan.simulator.loading import documents_of, load
from tests.simulator.explain.test_devices import CLAIMED, made, published
from tests.simulator.support import Manifest, node, pod

FROM_TEMPLATE = [{"name": "d", "resourceClaimTemplateName": "gone"}]
LATER = {"annotations": {"simulation.bayplan.io/at": "5m"}}


def warned(*objects: Manifest) -> list[str]:
    return load(documents_of([node("n1"), *objects]), strict=True).warnings


def slices(name: str, count: int, *devices: str, **more: Any) -> Manifest:
    spec = {
        "driver": "nic.example.com",
        "pool": {"name": "p", "generation": 3, "resourceSliceCount": count},
        "nodeName": "n1",
        "devices": [{"name": each} for each in devices],
        **more,
    }
    return made("ResourceSlice", name, spec)


@pytest.mark.parametrize(
    ("objects", "lines"),
    [
        ([pod("web", resourceClaims=CLAIMED)], []),
        (
            [pod("web", resourceClaims=FROM_TEMPLATE)],
            [
                'Pod default/web: spec.resourceClaims[0]: there is no ResourceClaimTemplate "gone" in namespace default: '
                "no claim is made, and pods wait for it"
            ],
        ),
        (
            [slices("s", 2, "a")],
            [
                "nothing is allocated from the pool p of nic.example.com: it is incomplete, "
                "1 of 2 slices of generation 3 are there"
            ],
        ),
        (
            [slices("s", 2, "a"), slices("t", 2, "a")],
            ["nothing is allocated from the pool p of nic.example.com: it is invalid, duplicate device name a"],
        ),
        (
            [slices("s", 1, "a", nodeName="n7")],
            ["1 ResourceSlice is for nodes that are not among those given (n7), so nobody gets its devices: s"],
        ),
        (published({"name": "a"}), []),
    ],
)
def test_one_line_says_what_can_never_be_had(objects: list[Manifest], lines: list[str]) -> None:
    assert warned(*objects) == lines


def test_what_comes_later_may_put_it_right() -> None:
    second = slices("t", 2, "b")
    second["metadata"] |= LATER
    assert warned(slices("s", 2, "a"), second) == []

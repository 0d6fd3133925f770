"""The picture of the live benchmarks is well formed and shows every workload."""

from __future__ import annotations

from typing import Any
from xml.etree import ElementTree

from benchmarks.plotting import COLOURS, svg

DOCUMENT: dict[str, Any] = {
    "bindOnlyPodsPerSecond": 1000.0,
    "results": [
        {"workload": "plain", "ratio": 4.0, "bayplan": {"podsPerSecond": 800.0}, "kube-scheduler": {"podsPerSecond": 200.0}},
        {"workload": "a<b", "ratio": None, "bayplan": {"podsPerSecond": 100.0}, "kube-scheduler": {"error": "died"}},
    ],
}  # fmt: skip


def drawn(document: dict[str, Any]) -> tuple[list[ElementTree.Element], list[str]]:
    root = ElementTree.fromstring(svg(document))
    bars = [
        each
        for each in root.iter()
        if each.tag.endswith("rect") and each.get("height") == "12" and each.get("y") != "8"
    ]
    return bars, [each.text or "" for each in root.iter() if each.tag.endswith("text")]


def test_bars_are_as_long_as_their_numbers() -> None:
    bars, _ = drawn(DOCUMENT)
    assert [(bar.get("fill"), float(bar.get("width", ""))) for bar in bars] == [
        (COLOURS["bayplan"], 416.0),
        (COLOURS["kube-scheduler"], 104.0),
        (COLOURS["bayplan"], 52.0),
        (COLOURS["kube-scheduler"], 0.0),
    ]


def test_names_numbers_and_the_ceiling_are_told() -> None:
    _, texts = drawn(DOCUMENT)
    assert {"plain", "a<b", "800  (4.0 times)", "200", "no result", "binding alone: 1000"} <= set(texts)


def test_without_a_ceiling_there_is_no_line() -> None:
    assert "line" not in svg({**DOCUMENT, "bindOnlyPodsPerSecond": None}).replace("outline", "")

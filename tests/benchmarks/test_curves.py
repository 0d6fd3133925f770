"""The picture of growth is well formed, and its points are where their numbers say."""

from __future__ import annotations

from xml.etree import ElementTree

from benchmarks import bench_placement, curves


def drawn(text: str) -> tuple[list[list[tuple[float, float]]], list[str]]:
    root = ElementTree.fromstring(text)
    lines = [each.get("points", "") for each in root.iter() if each.tag.endswith("polyline")]
    points = [[(float(x), float(y)) for x, y in (pair.split(",") for pair in line.split())] for line in lines]
    return points, [each.text or "" for each in root.iter() if each.tag.endswith("text")]


def test_axes_go_by_powers_of_ten() -> None:
    (line,), texts = drawn(curves.svg("a<b", "things", {"c&d": [(100, 1.0), (1000, 10.0), (10_000, 100.0)]}))
    assert {"a<b", "things", "c&d", "100", "1,000", "10,000", "1", "10"} <= set(texts)
    (x0, y0), (x1, y1), (x2, y2) = line
    assert (x0, y2) == (curves.LEFT, curves.TOP)
    assert (x2, y0) == (curves.LEFT + curves.WIDTH, curves.TOP + curves.HEIGHT)
    assert (x1, y1) == ((x0 + x2) / 2, (y0 + y2) / 2)


def test_growth_has_a_line_for_each_thing_that_was_measured() -> None:
    growth = [
        {"workload": workload, "clusters": clusters, "cpuMilliseconds": clusters / 1000}
        for clusters in bench_placement.GROWTH
        for workload in bench_placement.CURVES
    ]
    lines, texts = drawn(bench_placement.picture({"growth": growth}))
    assert [len(line) for line in lines] == [len(bench_placement.GROWTH)] * 2
    assert set(bench_placement.CURVES.values()) <= set(texts)


def test_what_took_no_time_that_could_be_measured_can_be_drawn() -> None:
    growth = [{"workload": "placement-cold", "clusters": 100, "cpuMilliseconds": 0.0}]
    growth.append({"workload": "placement-change", "clusters": 100, "cpuMilliseconds": 0.01})
    assert len(drawn(bench_placement.picture({"growth": growth}))[0]) == 2

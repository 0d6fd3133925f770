"""``--report`` on the commands that have it: stdout and exit code stay, the file says the same."""

from __future__ import annotations

import json
import re
from pathlib import Path
from typing import Any

import pytest
import yaml

from tests.cli.support import BIG, NODE, POD, Shell, joined

EXAMPLES = Path(__file__).resolve().parents[2] / "examples"
CLUSTER = str(EXAMPLES / "13-what-if" / "cluster.yaml")
NOW = "2026-01-31T10:30:00Z"


def data_of(path: Path) -> dict[str, Any]:
    found = re.search(r'id="view">(.*?)</script>', path.read_text(), re.DOTALL)
    assert found is not None
    data: dict[str, Any] = json.loads(found[1])
    return data


def reported(shell: Shell, *command: str) -> dict[str, Any]:
    """The data of the report, after a check that it changed nothing else."""
    path = shell.folder / "report.html"
    plain, with_report = shell.run(*command), shell.run(*command, "--report", str(path))
    assert (with_report.code, with_report.out, with_report.err) == (plain.code, plain.out, plain.err)
    view = data_of(path)
    assert view["source"] == command[0]
    assert view["command"].startswith(f"bayplan {command[0]} ")
    assert "--report" not in view["command"]
    return view


def test_simulate(shell: Shell) -> None:
    view = reported(shell, "simulate", "-f", shell.write("all.yaml", joined(NODE, POD, BIG)), "-o", "json")
    assert view["clusters"][0]["summary"]["pending"] == 1


def test_what_if_shows_before_and_after(shell: Shell) -> None:
    view = reported(shell, "what-if", "-f", CLUSTER, "--drain", "n1")
    assert [each["name"] for each in view["clusters"]] == ["before", "after"]
    before, after = view["clusters"]
    row = before["nodes"]["name"].index("n1")
    assert before["nodes"]["pods"][row] > after["nodes"]["pods"][row]
    moved = {(each["pod"], each["from"]) for each in view["moves"]}
    assert moved
    assert {node for _, node in moved} == {"n1"}
    assert len(after["pods"]["name"]) == len(after["pods"]["node"])


def test_what_if_with_another_configuration_has_scores_of_both(shell: Shell) -> None:
    path = shell.write("new.yaml", POD)
    view = reported(
        shell, "what-if", "-f", CLUSTER, "--with-config", str(EXAMPLES / "13-what-if/packing.yaml"), "--apply", path
    )
    assert [each["name"] for each in view["clusters"]] == ["before", "after"]
    after = view["clusters"][1]
    scored = [after["pods"]["name"][row] for row in after["decisions"]["pod"]]
    assert "web" in scored


def test_compare_shows_each_configuration_and_marks_the_better(shell: Shell) -> None:
    view = reported(shell, "compare", "-f", CLUSTER, "--config", str(EXAMPLES / "13-what-if/packing.yaml"), "--afresh")
    assert [each["name"] for each in view["clusters"]] == ["as-is", "packing"]
    assert all(each["decisions"] for each in view["clusters"])
    measures = view["tables"][0]
    assert measures["columns"] == ["", "as-is", "packing"]
    pending = next(number for number, row in enumerate(measures["rows"]) if row[0] == "pending")
    less = min((1, 2), key=lambda column: measures["rows"][pending][column])
    assert [each for each in measures["best"] if each[0] == pending] == [[pending, less]]


@pytest.mark.parametrize(
    ("options", "fact", "table"),
    [
        (["--pod", "pod.yaml"], "More pods that fit", "Pods on each node"),
        (["--node-template", "m5.yaml", "--price", "0.1"], "Nodes to buy", "Shopping list"),
        (["--shrink"], "Nodes that can be emptied", "Nodes that can be emptied"),
        (["--pod", "large.yaml", "--make-room"], "Room", None),
    ],
)
def test_fit(shell: Shell, options: list[str], fact: str, table: str | None) -> None:
    given = [str(EXAMPLES / "13-what-if" / each) if each.endswith(".yaml") else each for each in options]
    view = reported(shell, "fit", "-f", CLUSTER, *given)
    assert view["facts"][0]["label"] == fact
    assert [each["title"] for each in view["tables"]][:1] == ([] if table is None else [table])
    assert len(view["clusters"]) == 1


def test_place_shows_the_fleet_by_region_and_zone(shell: Shell) -> None:
    view = reported(shell, "place", "-f", str(EXAMPLES / "placement"), "--now", NOW, "--without", "region=eu")
    (placement,) = view["placements"]
    regions = {each["region"]: each["zones"] for each in placement["byRegion"]}
    assert set(regions) == {"ap", "us"}
    chosen = {name for zones in regions.values() for zone in zones for name in zone["chosen"]}
    assert chosen == {each["clusterName"] for each in placement["decisions"]}
    assert view["made"] == NOW


def test_sweep_shows_means_and_rows(shell: Shell) -> None:
    cluster = shell.write("all.yaml", joined(NODE, POD))
    sweep = {
        "apiVersion": "bayplan.io/v1alpha1",
        "kind": "Sweep",
        "metadata": {"name": "small"},
        "spec": {"files": [cluster], "grid": {"seed": "0:3"}},
    }
    path, out = shell.write("sweep.yaml", yaml.safe_dump(sweep)), str(shell.folder / "rows.csv")
    view = reported(shell, "sweep", path, "--workers", "1", "--fresh", "--out", out, "-o", "json")
    means, rows = view["tables"]
    assert means["rows"][0][means["columns"].index("runs")] == len(rows["rows"]) == 3
    assert view["clusters"] == []


def test_the_rebalancers_plan(shell: Shell) -> None:
    policy = EXAMPLES / "workload-policy"
    files = ["-f", str(policy / "nodes.yaml"), "-f", str(policy / "rebalance.yaml")]
    view = reported(shell, "rebalancer", "--dry-run", *files)
    assert view["policies"]
    for each in view["policies"]:
        assert each["topologyKey"]
        assert each["conditions"][0]["type"] == "Satisfied"
    assert shell.run("rebalancer", "--report", "x.html").err == (
        "error: --report: has no effect without --dry-run; add --dry-run, or leave it out\n"
    )


@pytest.mark.parametrize("form", ["svg", "png"])
def test_pictures(shell: Shell, form: str) -> None:
    path = shell.folder / f"a.{form}"
    ended = shell.run("simulate", "-f", shell.write("all.yaml", joined(NODE, POD)), f"--report={path}")
    assert (ended.code, ended.err) == (0, "")
    assert path.read_bytes().lstrip().startswith(b"\x89PNG" if form == "png" else b"<?xml")


def test_a_wrong_name_is_told_before_anything_is_read(shell: Shell) -> None:
    ended = shell.run("simulate", "-f", str(shell.folder / "nothing.yaml"), "--report", "a.pdf")
    assert ended.code == 2
    assert ended.err == (
        'error: --report: "a.pdf" is neither a page nor a picture; write a name that ends in .html, .svg, .png\n'
    )

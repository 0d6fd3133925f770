"""``bayplan rebalancer``: dry runs of files, and arguments that make no sense."""

from __future__ import annotations

import json
from pathlib import Path

import pytest
import yaml

from bayplan.cli.main import main
from tests.controllers.rebalancer.plan_desk import CLUSTER
from tests.controllers.rebalancer.support import REGIONS, pods, policy, replica_set


@pytest.fixture
def files(tmp_path: Path) -> Path:
    given = [*REGIONS, policy({"regionA": 3, "regionB": 5}), replica_set(8), *pods({"a1": 5, "b1": 3})]
    path = tmp_path / "cluster.yaml"
    path.write_text(yaml.safe_dump_all(given))
    return path


def test_a_dry_run_of_files_is_a_table_or_a_document(files: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["rebalancer", "--dry-run", "-f", str(files)]) == 1
    printed = capsys.readouterr().out
    assert "2 moves are planned" in printed
    assert main(["rebalancer", "--dry-run", "-f", str(files), "-o", "json"]) == 1
    document = json.loads(capsys.readouterr().out)
    assert (document["apiVersion"], document["kind"]) == ("bayplan.io/v1alpha1", "RebalancePlan")
    assert main(["rebalancer", "--dry-run", "-f", str(files), "-o", "yaml"]) == 1
    assert yaml.safe_load(capsys.readouterr().out) == document


def test_nothing_to_do_is_0(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    path = tmp_path / "cluster.yaml"
    path.write_text(yaml.safe_dump_all(list(REGIONS)))
    assert main(["rebalancer", "--dry-run", "-f", str(path)]) == 0
    assert capsys.readouterr().out == "there is no WorkloadPolicy\n"


@pytest.mark.parametrize(
    ("arguments", "line"),
    [
        (["-f", "x.yaml"], "error: --filename: pods of files cannot be moved; add --dry-run"),
        (
            ["--dry-run", "-f", "x.yaml", "--context", "c"],
            "error: files and a live cluster at once; leave out -f, or --kubeconfig and --context",
        ),
        (["--plan", "none.yaml"], "error: none.yaml: no such file or folder; check the path"),
        (["--plan", "x", "--no-deletion-costs"], "error: --no-deletion-costs: has no effect with --plan; leave it out"),
        (["--max-moving", "-1"], "error: Invalid value for '--max-moving'"),
        (["--deletion-costs=maybe"], "error: Invalid value for '--deletion-costs'"),
    ],
)
def test_what_makes_no_sense_is_one_line(arguments: list[str], line: str, capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["rebalancer", *arguments]) == 2
    told = capsys.readouterr().err
    assert told.startswith(line)
    assert told.count("\n") == 1


def test_a_plan_of_fit_is_shown_step_by_step_and_may_not_hold_any_more(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    cluster, plan = tmp_path / "cluster.yaml", tmp_path / "plan.yaml"
    cluster.write_text(yaml.safe_dump_all(CLUSTER))
    assert main(["fit", "--shrink", "-f", str(cluster), "-o", "yaml"]) == 0
    plan.write_text(capsys.readouterr().out)
    asked = ["rebalancer", "--plan", str(plan), "--dry-run", "-f", str(cluster)]
    assert main(asked) == 0
    assert capsys.readouterr().out.splitlines()[-1] == "2 moves: 2 to make; nodes: 2 to be done"
    cluster.write_text(yaml.safe_dump_all([*CLUSTER[:3], *CLUSTER[4:]]))
    assert main(asked) == 1
    assert "is given up: step 1: default/web-0: its controller ReplicaSet/web is not there" in capsys.readouterr().out

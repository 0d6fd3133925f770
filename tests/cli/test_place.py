"""``bayplan place``: what it prints, and its exit codes."""

from __future__ import annotations

import json
from pathlib import Path

import pytest
import yaml

from bayplan.cli.main import main

FLEET = """
apiVersion: cluster.open-cluster-management.io/v1beta2
kind: ManagedClusterSet
metadata: {name: all}
---
apiVersion: cluster.open-cluster-management.io/v1beta2
kind: ManagedClusterSetBinding
metadata: {name: all}
spec: {clusterSet: all}
"""
CLUSTER = """---
apiVersion: cluster.open-cluster-management.io/v1
kind: ManagedCluster
metadata: {{name: {name}, labels: {{cluster.open-cluster-management.io/clusterset: all, region: {region}}}}}
"""
PLACEMENT = """---
apiVersion: cluster.open-cluster-management.io/v1beta1
kind: Placement
metadata: {{name: {name}}}
spec: {spec}
"""


def write(folder: Path, *placements: str) -> str:
    clusters = [
        CLUSTER.format(name=f"{region}-{number}", region=region) for region in ("eu", "us") for number in (1, 2)
    ]
    named = [PLACEMENT.format(name=f"p{number}", spec=spec) for number, spec in enumerate(placements)]
    path = folder / "fleet.yaml"
    path.write_text(FLEET + "".join([*clusters, *named]))
    return str(path)


SPREAD = "{numberOfClusters: %d, spreadPolicy: {spreadConstraints: [{topologyKey: region, topologyKeyType: Label}]}}"


def test_a_satisfied_placement(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["place", "-f", write(tmp_path, SPREAD % 2), "-o", "yaml"]) == 0
    document = yaml.safe_load(capsys.readouterr().out)
    assert (document["apiVersion"], document["kind"]) == ("bayplan.io/v1alpha1", "PlacementResult")
    assert document["placement"] == {"namespace": "default", "name": "p0"}
    assert [each["clusterName"] for each in document["decisions"]] == ["eu-1", "us-1"]
    assert document["decisions"][0] == {"clusterName": "eu-1", "reason": "region=eu", "score": 100, "group": ""}
    assert document["conditions"][0]["reason"] == "AllDecisionsScheduled"
    assert document["filters"][0] == {"name": "Predicate", "kept": 4, "dropped": 0}
    assert document["spread"][0]["counts"] == {"eu": 1, "us": 1}
    assert document["spread"][0]["satisfiable"] == 4


def test_several_placements_are_a_stream_or_a_list(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    path = write(tmp_path, "{numberOfClusters: 1}", "{numberOfClusters: 2}")
    assert main(["place", "-f", path, "-o", "json"]) == 0
    assert [each["placement"]["name"] for each in json.loads(capsys.readouterr().out)] == ["p0", "p1"]
    assert main(["place", "-f", path, "-o", "yaml"]) == 0
    assert len(list(yaml.safe_load_all(capsys.readouterr().out))) == 2
    assert main(["place", "-f", path, "-o", "json", "--placement", "default/p1"]) == 0
    assert [each["placement"]["name"] for each in json.loads(capsys.readouterr().out)] == ["p1"]
    assert main(["place", "-f", write(tmp_path, "{}"), "-o", "json"]) == 0
    assert [each["placement"]["name"] for each in json.loads(capsys.readouterr().out)] == ["p0"]


def test_too_few_clusters(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["place", "-f", write(tmp_path, SPREAD % 9)]) == 1
    assert "5 more clusters are wanted" in capsys.readouterr().out


def test_an_outage(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["place", "-f", write(tmp_path, SPREAD % 2), "--without", "region=eu", "-o", "json"]) == 0
    (document,) = json.loads(capsys.readouterr().out)
    assert document["without"] == {"selector": "region=eu", "clusters": ["eu-1", "eu-2"]}
    assert document["moves"] == {"removed": ["eu-1"], "added": ["us-2"]}


@pytest.mark.parametrize(
    ("without", "lost"),
    [("cloud=x", ["c-1", "c-2"]), ("region=us", ["c-2"]), ("region=eu", ["c-2"]), ("cloud=x,region=eu", ["c-2"])],
)
def test_an_outage_may_be_of_a_claim(
    without: str, lost: list[str], tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    """c-2 is in the eu by its label and in the us by its claim: either is meant."""
    claims = "status: {clusterClaims: [{name: cloud, value: x}]}\n"
    both = "status: {clusterClaims: [{name: cloud, value: x}, {name: region, value: us}]}\n"
    fleet = CLUSTER.format(name="c-1", region="asia") + claims + CLUSTER.format(name="c-2", region="eu") + both
    fleet += CLUSTER.format(name="c-3", region="asia") + PLACEMENT.format(name="p", spec="{}")
    path = tmp_path / "claims.yaml"
    path.write_text(FLEET + fleet)
    assert main(["place", "-f", str(path), "--without", without, "-o", "json"]) == 0
    (document,) = json.loads(capsys.readouterr().out)
    assert document["without"]["clusters"] == document["moves"]["removed"] == lost


@pytest.mark.parametrize(
    ("spec", "arguments", "told"),
    [
        ("{numberOfClusters: -1}", [], "fleet.yaml:27: Placement default/p0: spec.numberOfClusters: -1 is less than"),
        ("{}", ["--placement", "p9"], "there is no placement default/p9; there are default/p0"),
        ("{}", ["--without", "region=mars"], "no cluster has region=mars"),
        ("{}", ["--without", "a=b,,"], "--without"),
        ("{numberOfClusters: many}", [], "spec.numberOfClusters: must be a whole number"),
    ],
)
def test_mistakes(
    spec: str, arguments: list[str], told: str, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    assert main(["place", "-f", write(tmp_path, spec), *arguments]) == 2
    assert told in capsys.readouterr().err


@pytest.mark.parametrize(
    ("constraint", "told"),
    [
        ("topologyKey: regoin, topologyKeyType: Label", "over regoin spreads nothing: no cluster has the label regoin"),
        ("topologyKey: region, topologyKeyType: Claim", "over region spreads nothing: no cluster has the claim region"),
        (
            "topologyKey: region, topologyKeyType: Label, weights: {us: 2, ue: 3}",
            "the weight of ue has no effect: no cluster has region=ue",
        ),
    ],
)
def test_what_a_constraint_names_and_no_cluster_has_is_told(
    constraint: str, told: str, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    path = write(tmp_path, f"{{numberOfClusters: 2, spreadPolicy: {{spreadConstraints: [{{{constraint}}}]}}}}")
    assert main(["place", "-f", path]) == 0
    (line,) = capsys.readouterr().err.splitlines()
    assert line.startswith("warning: ")
    assert "fleet.yaml:27: Placement default/p0: " in line
    assert line.endswith(told)


def test_constraints_that_cross_say_how_much_room_they_left(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    hard = "topologyKeyType: Label, whenUnsatisfiable: DoNotSchedule"
    levels = f"[{{topologyKey: region, {hard}}}, {{topologyKey: zone, minDomains: 9, {hard}}}]"
    path = Path(write(tmp_path, f"{{numberOfClusters: 4, spreadPolicy: {{scope: Flat, spreadConstraints: {levels}}}}}"))
    path.write_text(path.read_text().replace("region: eu}", "region: eu, zone: a}").replace("us}", "us, zone: b}"))
    assert main(["place", "-f", str(path)]) == 1
    assert "2 more clusters are wanted; the spread policy left room for 2 of 4 clusters, " in capsys.readouterr().out


def test_files_without_a_placement(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["place", "-f", write(tmp_path)]) == 2
    assert "there is no Placement in the files" in capsys.readouterr().err

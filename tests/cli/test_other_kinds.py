"""Kinds that only a plugin reads: they are read from files, however the plugin came."""

from __future__ import annotations

import json
from pathlib import Path

import pytest
import yaml

from tests.cli.support import Shell
from tests.docs.pages import ROOT

EXAMPLE = ROOT / "examples" / "10-other-kinds"
CLUSTER = str(EXAMPLE / "cluster.yaml")
PLUGINS = ("PreferRacks", "NoMaintenance")
FILES = ("prefer_racks", "no_maintenance")


@pytest.fixture(params=["file", "module", "entry point"])
def plugins(request: pytest.FixtureRequest, shell: Shell, monkeypatch: pytest.MonkeyPatch) -> list[str]:
    """The flags that bring the plugins of the example: files, modules, or a configuration that names entry points."""
    if request.param == "file":
        return [f"--plugin={EXAMPLE / file}.py:{name}" for file, name in zip(FILES, PLUGINS, strict=True)]
    # Under another name, so that nothing that was imported before helps.
    package = f"racks_{request.param.replace(' ', '_')}"
    for file in FILES:
        shell.write(f"{package}/{file}.py", (EXAMPLE / f"{file}.py").read_text())
    monkeypatch.syspath_prepend(shell.folder)
    targets = {name: f"{package}.{file}:{name}" for file, name in zip(FILES, PLUGINS, strict=True)}
    if request.param == "module":
        return [f"--plugin={target}" for target in targets.values()]
    shell.write(f"{package}-1.0.dist-info/METADATA", f"Metadata-Version: 2.1\nName: {package}\nVersion: 1.0\n")
    points = "".join(f"{name} = {target}\n" for name, target in targets.items())
    shell.write(f"{package}-1.0.dist-info/entry_points.txt", f"[bayplan.plugins]\n{points}")
    enabled = [{"name": name} for name in PLUGINS]
    config = {
        "apiVersion": "kubescheduler.config.k8s.io/v1",
        "kind": "KubeSchedulerConfiguration",
        "profiles": [{"schedulerName": "default-scheduler", "plugins": {"multiPoint": {"enabled": enabled}}}],
    }
    return [f"--config={shell.write('config.yaml', yaml.safe_dump(config))}"]


def test_simulate_goes_by_them(shell: Shell, plugins: list[str]) -> None:
    ended = shell.run("simulate", "-f", CLUSTER, "-o", "json", *plugins)

    assert (ended.code, ended.err) == (0, "")
    assert [pod["node"] for pod in json.loads(ended.out)["pods"]] == ["node-2"]


def test_explain_goes_by_them(shell: Shell, plugins: list[str]) -> None:
    ended = shell.run("explain", "pod", "web", "-f", CLUSTER, "-o", "json", *plugins)

    assert (ended.code, ended.err) == (0, "")
    nodes = {node["name"]: node for node in json.loads(ended.out)["nodes"]}
    assert nodes["node-3"]["reasons"] == ["node(s) were in maintenance"]
    assert {name: nodes[name]["scores"]["PreferRacks"]["raw"] for name in ("node-1", "node-2")} == {
        "node-1": 20,
        "node-2": 60,
    }


def test_a_dry_run_of_the_rebalancer_reads_them(shell: Shell, plugins: list[str]) -> None:
    ended = shell.run("rebalancer", "--dry-run", "-f", CLUSTER, *plugins)

    assert (ended.code, ended.err) == (0, "")


def test_without_a_plugin_that_reads_them_they_are_left_out_and_named(shell: Shell) -> None:
    ended = shell.run("simulate", "-f", CLUSTER)

    assert (ended.code, ended.err) == (
        0,
        "warning: not needed and left out: example.com/v1 Maintenance (1), v1 ConfigMap (1)\n",
    )


def test_what_is_written_in_another_group_is_told(shell: Shell) -> None:
    file = shell.write("c.yaml", Path(CLUSTER).read_text().replace("example.com/v1", "examples.com/v1"))
    ended = shell.run("simulate", "-f", file, f"--plugin={EXAMPLE / 'no_maintenance.py'}:NoMaintenance")

    assert (
        f"warning: {file}:21: Maintenance new-switch: left out: plugins read the Maintenance of example.com/v1; write "
        "apiVersion: example.com/v1 if that is what it is\n"
    ) in ended.err


def test_an_object_without_a_class_may_come_and_change_later(shell: Shell) -> None:
    later = """\
---
apiVersion: example.com/v1
kind: Maintenance
metadata: {name: new-switch, annotations: {simulation.bayplan.io/at: 1m}}
spec: {racks: []}
"""
    whole = Path(CLUSTER).read_text().replace("racks: [r3]", "racks: [r1, r2, r3]")
    file = shell.write("c.yaml", whole + later)
    ended = shell.run("simulate", "-f", file, "-o", "json", f"--plugin={EXAMPLE / 'no_maintenance.py'}:NoMaintenance")

    assert ended.code == 0
    assert [pod["boundAt"] for pod in json.loads(ended.out)["pods"]] == [60.0]


def test_bad_metadata_of_such_an_object_is_told_with_its_place(shell: Shell) -> None:
    whole = Path(CLUSTER).read_text().replace("{name: new-switch}", "{name: new-switch, labels: {a: 1}}")
    file = shell.write("c.yaml", whole)
    ended = shell.run("simulate", "-f", file, f"--plugin={EXAMPLE / 'no_maintenance.py'}:NoMaintenance")

    assert (ended.code, ended.out) == (2, "")
    assert ended.err == (
        f"error: {file}:21: Maintenance new-switch: metadata.labels.a: must be text, not a whole number (1); put it in "
        'quotes: "1"\n'
    )


UNDECLARED = """\
from bayplan.framework import FilterPlugin

class Careless(FilterPlugin):
    name = "Careless"

    def filter_node(self, state, pod, node):
        self.handle.objects.get("{kind}", "default", "a")
"""


@pytest.mark.parametrize(
    ("kind", "told"),
    [
        ("ConfigMap", 'ConfigMap is not read; add it: reads = ("ConfigMap",)'),
        ("Configmap", 'there is no kind "Configmap"; did you mean "ConfigMap"?'),
        ("Node", "handle.objects has no Nodes; they are in handle.snapshot().nodes"),
    ],
)
def test_asking_for_a_kind_that_nobody_reads_is_an_error(shell: Shell, kind: str, told: str) -> None:
    plugin = shell.write(f"careless_{kind}.py", UNDECLARED.replace("{kind}", kind))
    ended = shell.run("simulate", "-f", CLUSTER, f"--plugin={plugin}:Careless")

    assert ended.code == 2
    assert told in ended.out

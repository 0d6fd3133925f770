"""``bayplan simulate``: input in all its forms, output in all its shapes, and the exit code."""

from __future__ import annotations

import io
import json
import sys
from pathlib import Path

import pytest
import yaml

from tests.cli.support import BIG, NODE, POD, Shell, joined

CONFIG = """\
apiVersion: kubescheduler.config.k8s.io/v1
kind: KubeSchedulerConfiguration
profiles:
- schedulerName: mine
"""

PLUGIN = '''\
"""NoNode: no node will do."""
from bayplan.framework import Code, FilterPlugin, Reason

NO = Reason(Code.UNRESOLVABLE, "node(s) will not do")


class NoNode(FilterPlugin):
    name = "NoNode"
    reasons = (NO,)

    def filter_node(self, state, pod, node):
        return NO
'''


def test_exit_code_0_when_every_pod_is_bound(shell: Shell) -> None:
    ended = shell.run("simulate", "-f", shell.write("all.yaml", joined(NODE, POD)))
    assert (ended.code, ended.err) == (0, "")
    assert ended.out.splitlines()[1].split() == ["default", "web", "-", "Bound", "n1"]


def test_exit_code_1_when_a_pod_is_pending(shell: Shell) -> None:
    ended = shell.run("simulate", "-f", shell.write("all.yaml", joined(NODE, BIG)))
    assert (ended.code, ended.err) == (1, "")
    assert "0/1 nodes are available: 1 Insufficient cpu." in ended.out


def test_gated_and_ignored_pods_are_not_pending(shell: Shell) -> None:
    gated = POD.replace("spec:", 'spec:\n  schedulingGates: [{name: "example.com/wait"}]')
    path = shell.write("all.yaml", joined(NODE, gated))
    assert shell.run("simulate", "-f", path).code == 0
    config = shell.write("config.yaml", CONFIG)
    ended = shell.run("simulate", "-f", shell.write("b.yaml", joined(NODE, POD)), "--config", config, "-o", "json")
    assert ended.code == 0
    assert json.loads(ended.out)["summary"]["ignored"] == 1


def test_json_and_yaml_are_the_same_document(shell: Shell) -> None:
    path = shell.write("all.yaml", joined(NODE, POD, BIG))
    as_json, as_yaml = (shell.run("simulate", "-f", path, "-o", shape).out for shape in ("json", "yaml"))
    document = json.loads(as_json)
    assert document == yaml.safe_load(as_yaml)
    assert (document["apiVersion"], document["kind"]) == ("bayplan.io/v1alpha1", "Simulation")


def test_the_other_shapes(shell: Shell) -> None:
    path = shell.write("all.yaml", joined(NODE, POD))
    assert shell.run("simulate", "-f", path, "-o", "name").out == "pod/web\n"
    assert "ATTEMPTS" in shell.run("simulate", "-f", path, "-o", "wide").out


def test_the_same_input_and_seed_give_the_same_bytes(shell: Shell) -> None:
    deployment = POD.replace("v1\nkind: Pod", "apps/v1\nkind: Deployment")
    deployment = """\
apiVersion: apps/v1
kind: Deployment
metadata: {name: web}
spec:
  replicas: 20
  selector: {matchLabels: {app: web}}
  template:
    metadata: {labels: {app: web}}
    spec: {containers: [{name: main, image: app}]}
"""
    nodes = [NODE.replace("n1", f"n{number}") for number in range(9)]
    path = shell.write("all.yaml", joined(*nodes, deployment))
    first, second = (shell.run("simulate", "-f", path, "--seed", "5", "-o", "json").out for _ in range(2))
    assert first == second
    assert first != shell.run("simulate", "-f", path, "--seed", "6", "-o", "json").out


def test_files_folders_and_standard_input_can_be_mixed(shell: Shell, monkeypatch: pytest.MonkeyPatch) -> None:
    shell.write("nodes/one.yaml", NODE)
    shell.write("nodes/deep/two.yml", NODE.replace("n1", "n2"))
    monkeypatch.setattr(sys, "stdin", io.TextIOWrapper(io.BytesIO(POD.encode())))
    ended = shell.run("simulate", "-f", str(shell.folder / "nodes"), "-R", "-f", "-", "-o", "json")
    assert json.loads(ended.out)["summary"] | {"pods": 1, "nodes": 2, "bound": 1} == json.loads(ended.out)["summary"]


def test_a_plugin_of_ones_own_takes_part_without_any_configuration(shell: Shell) -> None:
    path, plugin = shell.write("all.yaml", joined(NODE, POD)), shell.write("no_node.py", PLUGIN)
    ended = shell.run("simulate", "-f", path, "--plugin", f"{plugin}:NoNode")
    assert ended.code == 1
    assert "0/1 nodes are available: 1 node(s) will not do." in ended.out


def test_a_plugin_that_breaks_names_itself_and_the_pod_only(shell: Shell) -> None:
    broken = PLUGIN.replace("return NO", 'raise KeyError("rack")')
    path, plugin = shell.write("all.yaml", joined(NODE, POD)), shell.write("no_node_2.py", broken)
    ended = shell.run("simulate", "-f", path, "--plugin", f"{plugin}:NoNode", "-o", "json")
    assert ended.code == 2
    assert "NoNode" in json.loads(ended.out)["pods"][0]["message"]


def test_kinds_that_are_not_needed_are_named_once_on_stderr(shell: Shell) -> None:
    widget = "apiVersion: example.com/v1\nkind: Widget\nmetadata: {name: w1}\n"
    ended = shell.run("simulate", "-f", shell.write("all.yaml", joined(NODE, widget, widget.replace("w1", "w2"))))
    assert ended.code == 0
    assert ended.err == "warning: not needed and left out: example.com/v1 Widget (2)\n"


def test_time_can_be_set_and_let_run(shell: Shell) -> None:
    path = shell.write("all.yaml", joined(NODE, BIG))
    ended = shell.run("simulate", "-f", path, "--now", "2026-01-31T10:00:00Z", "--for", "10m", "-o", "json")
    document = json.loads(ended.out)
    assert document["elapsed"] == 600.0
    assert document["pods"][0]["attempts"] > 1


def test_time_can_be_set_to_where_floats_of_it_are_far_apart(shell: Shell) -> None:
    path = shell.write("all.yaml", joined(NODE, POD))
    ended = shell.run("simulate", "-f", path, "--now", "2999-12-31T23:59:59Z", "--for", "2h", "-o", "json")
    assert (ended.code, json.loads(ended.out)["elapsed"]) == (0, 7200.0)


def test_time_ends_with_the_year_9999(shell: Shell) -> None:
    path = shell.write("all.yaml", joined(NODE, POD))
    ended = shell.run("simulate", "-f", path, "--now", "9999-12-31T23:59:59Z", "--for", "2h")
    assert ended.code == 2
    assert ended.err == "error: virtual time would go beyond the year 9999; begin earlier or let less time pass\n"


@pytest.mark.parametrize(
    ("option", "value", "said"),
    [
        ("--now", "yesterday", 'error: --now: "yesterday" is not a time; write it like 2026-01-31T10:00:00Z'),
        (
            "--now",
            "1969-12-31T23:59:59Z",
            "error: --now: 1969-12-31T23:59:59Z is too far away; write a time of the years",
        ),
        ("--now", "9999-12-31T23:59:59-12:00", "error: --now: 9999-12-31T23:59:59-12:00 is too far away; "),
        ("--for", "10", 'error: --for: "10" is not a duration; write a number and a unit'),
        ("--for", "99999999h", 'error: --for: "99999999h" is too long; write at most "2562047h"'),
        ("--for", "-5s", "error: --for: -5s is less than nothing"),
    ],
)
def test_times_that_are_none(shell: Shell, option: str, value: str, said: str) -> None:
    ended = shell.run("simulate", "-f", shell.write("all.yaml", NODE), option, value)
    assert ended.code == 2
    assert ended.err.startswith(said)


def test_explanations_come_on_request(shell: Shell) -> None:
    path = shell.write("all.yaml", joined(NODE, BIG))
    assert "NEAREST MISS" in shell.run("simulate", "-f", path, "--explain").out
    document = json.loads(shell.run("simulate", "-f", path, "--explain", "-o", "json").out)
    assert document["pods"][0]["explanation"]["kind"] == "Explanation"


def test_a_configuration_may_stand_among_the_files(shell: Shell) -> None:
    mine = POD.replace("spec:", "spec:\n  schedulerName: mine")
    ended = shell.run(
        "simulate", "-f", shell.write("all.yaml", joined(NODE, POD.replace("web", "other"), mine, CONFIG))
    )
    assert {line.split()[1]: line.split()[3] for line in ended.out.splitlines()[1:3]} == {
        "other": "Ignored",
        "web": "Bound",
    }


def test_no_colours_where_nobody_sees_them(shell: Shell, monkeypatch: pytest.MonkeyPatch) -> None:
    path = shell.write("all.yaml", joined(NODE, BIG))
    assert "\x1b" not in shell.run("simulate", "-f", path).out
    monkeypatch.setattr("sys.stdout.isatty", lambda: True, raising=False)
    monkeypatch.setenv("TERM", "xterm")
    monkeypatch.delenv("NO_COLOR", raising=False)
    assert "\x1b[31mPending\x1b[0m" in shell.run("simulate", "-f", path).out
    monkeypatch.setenv("NO_COLOR", "1")
    assert "\x1b" not in shell.run("simulate", "-f", path).out
    monkeypatch.delenv("NO_COLOR")
    monkeypatch.setenv("TERM", "dumb")
    assert "\x1b" not in shell.run("simulate", "-f", path).out


def test_long_runs_say_how_far_they_are(shell: Shell, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("bayplan.cli.progress.LINE_EVERY_S", 0.0)
    monkeypatch.setattr("bayplan.cli.progress.LOOK_EVERY", 1)
    ended = shell.run("simulate", "-f", shell.write("all.yaml", joined(NODE, POD)))
    assert ended.err == "pods tried: 1 of 1\n"


def test_paths_are_told_as_they_were_given(shell: Shell) -> None:
    Path("bad.yaml").write_text("kind: [\n")
    assert shell.run("simulate", "-f", "bad.yaml").err.startswith("error: bad.yaml:2: ")


# -- real use --

POD_WITH_USAGE = """\
apiVersion: v1
kind: Pod
metadata: {name: busy, annotations: {simulation.bayplan.io/usage: cpu=1}}
spec: {containers: [{name: main, image: app}]}
"""


def test_a_run_with_usage_profiles_shows_real_use(shell: Shell) -> None:
    path = shell.write("all.yaml", joined(NODE, POD_WITH_USAGE))
    ended = shell.run("simulate", "-f", path, "--for", "10m", "--outage", "1m-2m", "--outage", "3m-4m")
    assert (ended.code, ended.err) == (0, "")
    assert "0 TO 10 MINUTES" in ended.out
    assert "0 TO" not in shell.run("simulate", "-f", path).out


def test_an_outage_in_a_run_without_a_length_is_refused(shell: Shell) -> None:
    ended = shell.run("simulate", "-f", shell.write("all.yaml", NODE), "--outage", "1m-5m")
    said = "error: --outage: has no effect without --for; write --for, too, or leave it out\n"
    assert (ended.code, ended.out, ended.err) == (2, "", said)


@pytest.mark.parametrize("span", ["10m", "20m-10m", "now-10m", "1m-"])
def test_an_outage_that_is_no_span_of_time_is_refused(shell: Shell, span: str) -> None:
    ended = shell.run("simulate", "-f", shell.write("all.yaml", NODE), "--for", "10m", "--outage", span)
    assert ended.code == 2
    assert "--outage" in ended.err
    assert len(ended.err.splitlines()) == 1


def test_the_end_can_be_the_next_beginning(shell: Shell) -> None:
    path = shell.write("all.yaml", joined(NODE, POD, BIG))
    first = shell.run("simulate", "-f", path, "--now", "2026-01-31T10:00:00Z", "-o", "manifests")
    assert first.code == 1
    assert first.out.startswith("# The cluster as bayplan simulate left it.  To go on from there: --now 2026-01-31T")
    again = shell.run("simulate", "-f", shell.write("next.yaml", first.out))
    assert (again.code, again.err) == (1, "")
    assert again.out == shell.run("simulate", "-f", path).out


def test_sums_are_shown_on_request(shell: Shell) -> None:
    path = shell.write("all.yaml", joined(NODE, POD, BIG))
    assert "KIND OF NODE" in shell.run("simulate", "-f", path, "--summary").out
    document = json.loads(shell.run("simulate", "-f", path, "--summary", "-o", "json").out)
    assert document["byNodeKind"][0]["nodeKind"] == "4 cpu, 8Gi memory"


@pytest.mark.parametrize("flag", ["--summary", "--explain"])
@pytest.mark.parametrize("shape", ["name", "manifests"])
def test_what_a_shape_does_not_show_is_refused(shell: Shell, flag: str, shape: str) -> None:
    ended = shell.run("simulate", "-f", shell.write("all.yaml", NODE), "-o", shape, flag)
    said = f"error: {flag}: has no effect with -o {shape}; leave out one of the two\n"
    assert (ended.code, ended.out, ended.err) == (2, "", said)


def test_a_configuration_for_none_of_the_pods_is_told(shell: Shell) -> None:
    config = shell.write("config.yaml", CONFIG)
    file = shell.write("b.yaml", joined(NODE, POD))
    ended = shell.run("simulate", "-f", file, "--config", config)

    assert ended.code == 0
    assert "schedulerName: nothing is scheduled: no pod asks for " in ended.err
    assert "they ask for default-scheduler; write that name" in ended.err
    assert ended.out.endswith("1 ignored; nothing was scheduled, no profile is for default-scheduler\n")


@pytest.mark.parametrize(
    ("now", "warns"),
    [("2026-01-31T10:01:00Z", False), ("2026-01-31T12:00:00Z", True), ("2026-01-31T02:00:00Z", True)],
)
@pytest.mark.parametrize("command", [("simulate",), ("explain", "web")])
def test_loads_that_do_not_count_are_told(shell: Shell, command: tuple[str, ...], now: str, warns: bool) -> None:
    config = shell.write(
        "config.yaml",
        "apiVersion: kubescheduler.config.k8s.io/v1\nkind: KubeSchedulerConfiguration\n"
        "profiles: [{plugins: {multiPoint: {enabled: [{name: Dynamic}]}}}]\n",
    )
    load = 'name: n1, annotations: {cpu_usage_avg_5m: "0.30000,2026-01-31T10:00:00Z"}'
    path = shell.write("all.yaml", joined(NODE.replace("name: n1", load), NODE.replace("n1", "n2"), POD))
    ended = shell.run(*command, "-f", path, "--config", config, "--now", now)
    said = "warning: Dynamic: loads of 1 of 2 nodes are too old or dated ahead and do not count; --now sets the time, "
    assert ended.code == 0
    assert ended.err.startswith(said) if warns else not ended.err

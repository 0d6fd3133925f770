"""Files that ``bayplan snapshot`` wrote: what they are without matters to plugins of one's own.  Live: tests/e2e."""

from __future__ import annotations

import json

import pytest
import yaml

from tests.cli.support import NODE, POD, Shell, joined

PLUGIN = """
from bayplan.framework import Code, FilterPlugin, Reason

OTHER = Reason(Code.UNRESOLVABLE, "node(s) were in another rack")


class SameRack(FilterPlugin):
    name = "SameRack"
    reasons = (OTHER,)

    def filter_node(self, state, pod, node):
        wanted = pod.annotations.get("example.com/rack")
        return OTHER if wanted and node.labels.get("rack") != wanted else None
"""


def snapshot(shell: Shell, *left_out: str) -> str:
    items = [*yaml.safe_load_all(joined(NODE, POD))]
    metadata = {"annotations": {"bayplan.io/annotations-left-out": ", ".join(left_out)}} if left_out else {}
    document = {"apiVersion": "v1", "kind": "List", "metadata": metadata, "items": items}
    return shell.write("snapshot.json", json.dumps(document))


@pytest.mark.parametrize("command", [("simulate",), ("explain", "pod", "web"), ("rebalancer", "--dry-run")])
def test_a_plugin_of_ones_own_may_miss_what_was_left_out(shell: Shell, command: tuple[str, ...]) -> None:
    plugin = shell.write("same_rack.py", PLUGIN)
    path = snapshot(shell, "example.com/rack", "note")
    ended = shell.run(*command, "-f", path, "--plugin", f"{plugin}:SameRack")

    assert ended.code == 0
    assert ended.err.splitlines() == [
        f"warning: {path}: this snapshot is without the annotations example.com/rack, note, which SameRack may read; "
        "take it again with --annotation NAME, or '*' for all"
    ]


def test_of_many_annotations_some_are_named(shell: Shell) -> None:
    plugin = shell.write("same_rack.py", PLUGIN)
    path = snapshot(shell, *(f"a{number}" for number in range(8)))
    ended = shell.run("simulate", "-f", path, "--plugin", f"{plugin}:SameRack")

    assert "without the annotations a0, a1, a2, a3, a4 and 3 more, which" in ended.err


def test_without_such_a_plugin_nothing_is_missed(shell: Shell) -> None:
    assert shell.run("simulate", "-f", snapshot(shell, "example.com/rack")).err == ""


def test_a_snapshot_that_is_without_nothing_is_fine(shell: Shell) -> None:
    plugin = shell.write("same_rack.py", PLUGIN)
    assert shell.run("simulate", "-f", snapshot(shell), "--plugin", f"{plugin}:SameRack").err == ""

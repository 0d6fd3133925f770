"""Files that ``bayplan snapshot`` wrote: what they are without matters to plugins of one's own.  Live: tests/e2e."""

from __future__ import annotations

import json

import pytest
import yaml

from tests.cli.support import NODE, POD, Shell, joined
from tests.support.same_rack import PLUGIN


def snapshot(shell: Shell, *left_out: str) -> str:
    items = [*yaml.safe_load_all(joined(NODE, POD))]
    metadata = {"annotations": {"bayplan.io/annotations-left-out": ", ".join(left_out)}} if left_out else {}
    document = {"apiVersion": "v1", "kind": "List", "metadata": metadata, "items": items}
    return shell.write("snapshot.json", json.dumps(document))


@pytest.mark.parametrize("command", [("simulate",), ("explain", "pod", "web"), ("rebalancer", "--dry-run")])
def test_a_plugin_of_ones_own_may_miss_what_was_left_out(shell: Shell, command: tuple[str, ...]) -> None:
    path = snapshot(shell, "example.com/rack", "note")
    ended = shell.run(*command, "-f", path, "--plugin", PLUGIN)

    assert ended.code == 0
    assert ended.err.splitlines() == [
        f"warning: {path}: this snapshot is without the annotations example.com/rack, note, which SameRack may read; "
        "take it again with --annotation NAME, or '*' for all"
    ]


def test_of_many_annotations_some_are_named(shell: Shell) -> None:
    path = snapshot(shell, *(f"a{number}" for number in range(8)))
    ended = shell.run("simulate", "-f", path, "--plugin", PLUGIN)

    assert "without the annotations a0, a1, a2, a3, a4 and 3 more, which" in ended.err


def test_without_such_a_plugin_nothing_is_missed(shell: Shell) -> None:
    assert shell.run("simulate", "-f", snapshot(shell, "example.com/rack")).err == ""


def test_a_snapshot_that_is_without_nothing_is_fine(shell: Shell) -> None:
    assert shell.run("simulate", "-f", snapshot(shell), "--plugin", PLUGIN).err == ""

"""``bayplan plugins``: what there is, and where it comes from."""

from __future__ import annotations

import json

from bayplan.plugins import IN_TREE
from tests.cli.support import Shell

OWN = '''\
"""Mine: a plugin of my own."""
from bayplan.framework import ScorePlugin


class Mine(ScorePlugin):
    """See above."""

    name = "Mine"

    def score_node(self, state, pod, node):
        return 0
'''


def test_every_plugin_is_listed_with_its_points_and_weight(shell: Shell) -> None:
    ended = shell.run("plugins", "-o", "json")
    document = json.loads(ended.out)
    assert (ended.code, document["kind"]) == (0, "PluginList")
    found = {each["name"]: each for each in document["plugins"]}
    assert {cls.name for cls in IN_TREE} <= set(found)
    taints = found["TaintToleration"]
    assert taints["origin"] == "in-tree"
    assert taints["extensionPoints"] == ["filter", "preScore", "score"]
    assert (taints["defaultWeight"], taints["enabledByDefault"]) == (3, True)
    assert found["DefaultBinder"]["defaultWeight"] is None
    assert all(found[cls.name]["description"] for cls in IN_TREE)


def test_a_plugin_of_ones_own_is_listed_with_its_origin(shell: Shell) -> None:
    path = shell.write("mine.py", OWN)
    found = {
        each["name"]: each
        for each in json.loads(shell.run("plugins", "--plugin", f"{path}:Mine", "-o", "json").out)["plugins"]
    }
    assert found["Mine"] == {
        "name": "Mine",
        "origin": f"--plugin {path}:Mine",
        "extensionPoints": ["score"],
        "enabledByDefault": False,
        "defaultWeight": 1,
        "description": "a plugin of my own.",
    }


def test_the_table_has_a_line_for_each(shell: Shell) -> None:
    lines = shell.run("plugins").out.splitlines()
    assert lines[0].split() == ["NAME", "ORIGIN", "WEIGHT", "EXTENSION-POINTS", "DESCRIPTION"]
    assert len(lines) >= 1 + len(IN_TREE)


def test_a_plugin_that_is_not_there_is_one_line(shell: Shell) -> None:
    ended = shell.run("plugins", "--plugin", "nowhere:Mine")
    assert ended.code == 2
    assert ended.err.startswith('error: --plugin nowhere:Mine: no module "nowhere"')

"""Changes from files, and the files that changes name."""

from __future__ import annotations

from pathlib import Path

import pytest

from bayplan.errors import InputError
from bayplan.plugins.plugin_set import registry
from bayplan.simulator.what_if.changes import Add, Apply, Drain, Reconfigure, Remove
from bayplan.simulator.what_if.reading import applied, changes_of, node_template

NODE = """\
apiVersion: v1
kind: Node
metadata: {labels: {disk: ssd}}
status: {allocatable: {cpu: "4", memory: 8Gi, pods: "110"}}
"""


def written(folder: Path, text: str, name: str = "m5.yaml") -> str:
    path = folder / name
    path.write_text(text)
    return str(path)


def test_a_list_of_changes_is_written_as_the_answer_shows_it(tmp_path: Path) -> None:
    path = written(
        tmp_path,
        "changes:\n- drain: n1\n- {add: 2, like: n2}\n- remove: zone=a\n- {withConfig: b.yaml, withPlugin: [m:C]}\n- apply: a.yaml\n",
    )
    found = changes_of(path)
    assert found == [Drain("n1"), Add(2, like="n2"), Remove("zone=a"), Reconfigure("b.yaml", ("m:C",)), Apply("a.yaml")]
    again = written(tmp_path, f"{[each.document() for each in found]}", "again.yaml")
    assert changes_of(again) == found


@pytest.mark.parametrize(
    ("text", "told"),
    [
        ("{}", "holds no list of changes"),
        ("- 3", "changes[0]: is not a change"),
        ("- dran: n1", 'changes[0]: "dran" is not known here; write drain'),
        ("- {drain: n1, like: n2}", '"like" is not known here'),
        ("- {add: two, like: n1}", "changes[0].add: 'two' is no number"),
        ("- drain: 3", "changes[0].drain: 3 is no text"),
        ("- {add: -1, like: n1}", "write at least 1"),
        ("- [", "is not YAML"),
    ],
)
def test_a_list_that_is_wrong_is_told_with_its_place(tmp_path: Path, text: str, told: str) -> None:
    path = written(tmp_path, text)
    with pytest.raises(InputError) as wrong:
        changes_of(path)
    assert str(wrong.value).startswith(path)
    assert told in str(wrong.value)


def test_a_template_without_a_name_has_that_of_its_file(tmp_path: Path) -> None:
    node = node_template(written(tmp_path, NODE), registry(discover=False))
    assert (node.name, node.labels["disk"]) == ("m5", "ssd")


@pytest.mark.parametrize(
    ("text", "told"),
    [
        (f"{NODE}---\n{NODE.replace('labels', 'name: m6, labels')}", "expected one Node, found 2 objects: Node"),
        ("apiVersion: v1\nkind: Pod\nmetadata: {name: p}", "is a Pod; write one Node"),
        ("apiVersion: v1\nkind: Node\nmetadata: {name: n}", "status.allocatable: says nothing"),
    ],
)
def test_a_template_is_one_node_with_something_to_give(tmp_path: Path, text: str, told: str) -> None:
    with pytest.raises(InputError) as wrong:
        node_template(written(tmp_path, text), registry(discover=False))
    assert told in str(wrong.value)


def test_what_is_applied_comes_at_once(tmp_path: Path) -> None:
    later = NODE.replace("labels", "annotations: {simulation.bayplan.io/at: 5m}, name: n1, labels")
    with pytest.raises(InputError, match="leave the annotation out"):
        applied([Apply(written(tmp_path, later))])

"""Reading recordings: whole ones, ones that break off, and files that are none."""

from __future__ import annotations

import gzip
from pathlib import Path
from typing import Any

import pytest

from bayplan.engine.events import NodeAdded, ObjectAdded, ObjectChanged, ObjectDeleted, PodAdded, PodChanged, PodDeleted
from bayplan.errors import InputError
from bayplan.simulator.replay import recording
from tests.simulator.replay.support import END, HEADER, SYNCED, add, bind, gone, node, pod, written

SERVICE = {"apiVersion": "v1", "kind": "Service", "metadata": {"name": "web", "namespace": "default"}, "spec": {}}


@pytest.mark.parametrize("name", ["a.jsonl", "a.jsonl.gz"])
def test_everything_comes_back_in_order_with_its_time(tmp_path: Path, name: str) -> None:
    selecting = {"t": 3, "change": ["Service", "default", "web"], "patch": {"spec": {"selector": {"a": "b"}}}}
    path = written(
        tmp_path / name,
        add(0, node("n1")),
        add(0, SERVICE),
        SYNCED,
        add(1.5, pod("p")),
        bind(2, "p", "n1"),
        selecting,
        gone(4, "Pod", "p"),
        {"t": 5, "delete": ["Service", "default", "web"], "late": True},
    )
    read = recording.read(path)
    found = list(read.events())
    assert [type(dated.event) for dated, _ in found] == [
        NodeAdded,
        ObjectAdded,
        PodAdded,
        PodChanged,
        ObjectChanged,
        PodDeleted,
        ObjectDeleted,
    ]
    assert [is_beginning for _, is_beginning in found] == [True, True, *[False] * 5]
    assert [round(dated.at - read.started_at, 1) for dated, _ in found] == [0, 0, 1.5, 2, 3, 4, 5]
    assert [dated.is_late for dated, _ in found] == [*[False] * 6, True]
    event = found[3][0].event
    assert isinstance(event, PodChanged)
    assert (event.old.node_name, event.new.node_name) == ("", "n1")
    assert (read.is_whole, read.is_synced, read.last_s) == (True, True, 60)


def test_a_file_that_breaks_off_is_read_up_to_its_last_whole_line(tmp_path: Path) -> None:
    path = written(tmp_path / "a.jsonl", SYNCED, add(1, node("n1")), add(2, node("n2")), whole=False)
    path.write_bytes(path.read_bytes()[:-20])
    read = recording.read(path)
    assert len(list(read.events())) == 1
    assert (read.is_whole, read.last_s) == (False, 1)


def test_a_compressed_file_that_breaks_off_is_read_as_far_as_it_goes(tmp_path: Path) -> None:
    path = tmp_path / "a.jsonl.gz"
    with path.open("wb") as plain, gzip.GzipFile(fileobj=plain, mode="wb") as file:
        for line in (HEADER, SYNCED, *(add(number, node(f"n{number}")) for number in range(50))):
            file.write(recording.msgspec.json.encode(line) + b"\n")
            file.flush()
        plain.flush()
        kept = path.read_bytes()
    path.write_bytes(kept[:-40])
    read = recording.read(path)
    assert 40 < len(list(read.events())) < 50
    assert not read.is_whole


@pytest.mark.parametrize(
    ("text", "complaint"),
    [
        (b"", "this is not a recording: it is empty; write one with bayplan snapshot --watch FILE"),
        (b"apiVersion: v1\nkind: List\n", "this is not a recording; write one with bayplan snapshot --watch FILE"),
        (b"\x00\xff\x01", "this is not a recording; write one with bayplan snapshot --watch FILE"),
        (
            b'{"apiVersion": "v1", "kind": "List", "startedAt": "2026-01-31T10:00:00Z"}\n',
            "this is not a recording: it is a List of v1; write one with bayplan snapshot --watch FILE",
        ),
        (
            b'{"apiVersion": "bayplan.io/v1alpha1", "kind": "Recording", "startedAt": "today"}\n',
            'this is not a recording: "today" is not a time; write it like 2026-01-31T10:00:00Z; '
            "write one with bayplan snapshot --watch FILE",
        ),
    ],
)
def test_what_is_no_recording_is_said_in_one_line(tmp_path: Path, text: bytes, complaint: str) -> None:
    path = tmp_path / "file"
    path.write_bytes(text)
    with pytest.raises(InputError) as error:
        recording.read(path)
    assert str(error.value) == f"{path}: {complaint}"


def test_a_file_that_is_not_there(tmp_path: Path) -> None:
    with pytest.raises(InputError, match="cannot be read: No such file"):
        recording.read(tmp_path / "none")


@pytest.mark.parametrize(
    ("line", "complaint"),
    [
        ({"t": 1, "change": ["Pod", "default", "p"], "patch": {}}, "3: Pod default/p was never added"),
        ({"t": 1, "delete": ["Node", "", "n"]}, "3: Node n was never added"),
        ({"t": "soon"}, "3: not a line of a recording: Expected `float`"),
        ({"t": 1, "add": {"apiVersion": "v1", "kind": "Node", "metadata": {"name": 5}}}, "3: Node 5: metadata.name"),
    ],
)
def test_a_wrong_line_is_named_by_its_number(tmp_path: Path, line: dict[str, Any], complaint: str) -> None:
    path = written(tmp_path / "a.jsonl", SYNCED, line, END)
    with pytest.raises(InputError) as error:
        list(recording.read(path).events())
    assert str(error.value).startswith(f"{path}:{complaint}")

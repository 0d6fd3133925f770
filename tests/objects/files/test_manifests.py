"""Files, folders and standard input to documents."""

from __future__ import annotations

import errno
import json
import os
from pathlib import Path

import pytest

from bayplan.errors import InputError, InputErrors
from bayplan.objects.files import manifests

POD = "apiVersion: v1\nkind: Pod\nmetadata: {name: %s}\n"


def write(folder: Path, name: str, text: str) -> str:
    path = folder / name
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(text, encoding="utf-8")
    return str(path)


def names(found: list[manifests.Document]) -> list[str]:
    return [each.raw["metadata"]["name"] for each in found]


def test_a_stream_keeps_order_and_lines(tmp_path: Path) -> None:
    path = write(tmp_path, "a.yaml", POD % "one" + "---\n" + POD % "two")
    found = manifests.read([path])
    assert names(found) == ["one", "two"]
    assert [each.line for each in found] == [1, 5]
    assert str(found[1]) == f"{path}:5: Pod two"
    assert (found[0].kind, found[0].api_version) == ("Pod", "v1")


def test_lists_are_opened(tmp_path: Path) -> None:
    inner = "".join("- " + (POD % name).replace("\n", "\n  ").rstrip() + "\n" for name in ("one", "two"))
    path = write(tmp_path, "a.yaml", "apiVersion: v1\nkind: List\nitems:\n" + inner)
    found = manifests.read([path])
    assert names(found) == ["one", "two"]
    assert [each.line for each in found] == [4, 7]


def test_items_of_a_typed_list_take_its_type(tmp_path: Path) -> None:
    path = write(
        tmp_path, "a.json", json.dumps({"kind": "PodList", "apiVersion": "v1", "items": [{"metadata": {"name": "a"}}]})
    )
    found = manifests.read([path])
    assert (found[0].kind, found[0].api_version, found[0].line) == ("Pod", "v1", 0)


def test_an_empty_list_holds_no_objects(tmp_path: Path) -> None:
    path = write(tmp_path, "a.yaml", "kind: List\napiVersion: v1\nitems: []\n")
    with pytest.raises(InputError, match="holds no objects"):
        manifests.read([path])


def test_a_kind_that_merely_ends_in_list_is_an_object(tmp_path: Path) -> None:
    path = write(tmp_path, "a.yaml", "apiVersion: example.com/v1\nkind: AllowList\nmetadata: {name: x}\n")
    assert manifests.read([path])[0].kind == "AllowList"


def test_json_one_object_or_a_stream(tmp_path: Path) -> None:
    one = json.dumps({"apiVersion": "v1", "kind": "Pod", "metadata": {"name": "one"}})
    assert names(manifests.read([write(tmp_path, "a.json", one)])) == ["one"]
    stream = one + "\n" + one.replace("one", "two") + "\n"
    found = manifests.read([write(tmp_path, "b.json", stream)])
    assert [(each.line, each.raw["metadata"]["name"]) for each in found] == [(1, "one"), (2, "two")]


def test_broken_json_names_its_line(tmp_path: Path) -> None:
    path = write(tmp_path, "a.json", '{\n  "kind": "Pod",\n  "metadata": {\n')
    with pytest.raises(InputError, match=r"a\.json:\d+: this is not JSON"):
        manifests.read([path])


def test_standard_input() -> None:
    found = manifests.read(["-"], stdin=(POD % "one").encode())
    assert found[0].place == "standard input:1"


def test_folders_are_read_in_order_and_deeper_only_when_asked(tmp_path: Path) -> None:
    write(tmp_path, "b.yml", POD % "b")
    write(tmp_path, "a.yaml", POD % "a")
    write(tmp_path, "empty.yaml", "")
    write(tmp_path, "notes.txt", "not: read")
    write(tmp_path, "deep/c.json", '{"apiVersion": "v1", "kind": "Pod", "metadata": {"name": "c"}}')
    assert names(manifests.read([tmp_path])) == ["a", "b"]
    assert names(manifests.read([tmp_path], recursive=True)) == ["a", "b", "c"]


def test_byte_order_mark_is_not_part_of_the_text(tmp_path: Path) -> None:
    path = tmp_path / "a.yaml"
    path.write_bytes(b"\xef\xbb\xbf" + (POD % "one").encode())
    assert names(manifests.read([path])) == ["one"]


@pytest.mark.parametrize(
    ("content", "line"),
    [
        (b"", "{path}: holds no objects; give a file with at least one object"),
        (b"# only a comment\n", "{path}: holds no objects; give a file with at least one object"),
        (b"- 1\n", "{path}:1: expected an object, found a list; begin with apiVersion, kind and metadata"),
        (b"hello\n", '{path}:1: expected an object, found "hello"; begin with apiVersion, kind and metadata'),
        (b"a: 1\nb: \xff\n", "{path}:2: this is not UTF-8 text; save the file as UTF-8"),
        (b"kind: List\nitems: 3\n", '{path}:1: items must be a list; begin each object with "- "'),
        (
            b"kind: List\nitems:\n- 3\n",
            '{path}:3: expected an object, found "3"; begin with apiVersion, kind and metadata',
        ),
    ],
)
def test_files_that_hold_something_else(tmp_path: Path, content: bytes, line: str) -> None:
    path = tmp_path / "a.yaml"
    path.write_bytes(content)
    with pytest.raises(InputError) as caught:
        manifests.read([path])
    assert str(caught.value) == line.format(path=path)


def test_missing_files_empty_folders_and_web_addresses_are_all_named(tmp_path: Path) -> None:
    gone = str(tmp_path / "gone.yaml")
    web = "https://example.com/a.yaml"
    with pytest.raises(InputErrors) as caught:
        manifests.read([gone, tmp_path, web])
    folder = "no .yaml, .yml or .json file in this folder; give another one, or add -R to look into its folders"
    assert set(str(caught.value).splitlines()) == {
        f"{gone}: no such file or folder; check the path",
        f"{tmp_path}: {folder}",
        f"{web}: web addresses are not read; download it first and give the file",
    }


@pytest.mark.parametrize(
    ("first", "second", "same"),
    [
        (POD % "a", POD % "a", True),
        (POD % "a", POD % "a" + "  \n", True),
        (POD % "a", POD % "'a', namespace: default", True),
        (POD % "a", POD % "'a', namespace: other", False),
        (POD % "a", POD % "b", False),
        (POD % "a", "apiVersion: v1\nkind: Service\nmetadata: {name: a}\n", False),
        (
            "apiVersion: apps/v1\nkind: Deployment\nmetadata: {name: a}\n",
            "apiVersion: apps/v1beta1\nkind: Deployment\nmetadata: {name: a}\n",
            True,
        ),
    ],
)
def test_the_same_object_twice_is_an_error_that_names_both_places(
    tmp_path: Path, first: str, second: str, same: bool
) -> None:
    one, two = write(tmp_path, "1.yaml", first), write(tmp_path, "2.yaml", second)
    if not same:
        assert len(manifests.read([one, two])) == 2
        return
    with pytest.raises(InputError) as caught:
        manifests.read([one, two])
    assert str(caught.value).startswith(f"{two}:1: ")
    assert f"this object is already at {one}:1; " in str(caught.value)


def test_objects_with_generated_names_are_never_the_same(tmp_path: Path) -> None:
    generated = "apiVersion: v1\nkind: Pod\nmetadata: {generateName: web-}\n"
    assert len(manifests.read([write(tmp_path, "a.yaml", generated + "---\n" + generated)])) == 2


def test_a_long_stream_of_json_is_read_in_one_go(tmp_path: Path) -> None:
    stream = "\n".join(
        json.dumps({"apiVersion": "v1", "kind": "Pod", "metadata": {"name": f"p{n}"}}) for n in range(9000)
    )
    found = manifests.read([write(tmp_path, "a.json", stream)])
    assert [(each.line, each.raw["metadata"]["name"]) for each in found[::1000]] == [
        (number + 1, f"p{number}") for number in range(0, 9000, 1000)
    ]


@pytest.mark.parametrize(
    ("value", "told"),
    [("1" * 5000, "Integer value out of range"), ("1e999", "Number out of range"), ("NaN", ""), ('"\\ud800"', "Input")],
)
def test_json_that_no_api_server_takes_is_told_with_its_line(tmp_path: Path, value: str, told: str) -> None:
    good = '{"apiVersion": "v1", "kind": "Pod", "metadata": {"name": "a"}}\n'
    path = write(tmp_path, "a.json", good + good.replace('"a"', value))
    with pytest.raises(InputError) as caught:
        manifests.read([path])
    assert str(caught.value).startswith(f"{path}:2: this cannot be read: {told}")


def test_links_that_lead_nowhere_are_mistakes(tmp_path: Path) -> None:
    write(tmp_path, "a.yaml", POD % "a")
    (tmp_path / "sub").mkdir()
    (tmp_path / "sub" / "b.yaml").symlink_to("gone.yaml")
    (tmp_path / "sub" / "notes.txt").symlink_to("gone.txt")
    (tmp_path / "sub" / "loop.json").symlink_to("loop.json")
    assert names(manifests.read([tmp_path])) == ["a"]
    with pytest.raises(InputErrors) as caught:
        manifests.read([tmp_path], recursive=True)
    assert str(caught.value).splitlines() == [
        f"{tmp_path}/sub/b.yaml: this link leads nowhere: gone.yaml; remove the link or put the file there",
        f"{tmp_path}/sub/loop.json: cannot be read: Too many levels of symbolic links; "
        "the link leads back to itself: give the file itself",
    ]


def test_folders_that_cannot_be_read_are_mistakes(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    write(tmp_path, "a.yaml", POD % "a")
    locked = tmp_path / "sub" / "locked"
    locked.mkdir(parents=True)
    real = os.scandir

    def scandir(path: str) -> object:  # who is root can read everything
        if Path(path) == locked:
            raise PermissionError(errno.EACCES, "Permission denied", str(path))
        return real(path)

    monkeypatch.setattr(os, "scandir", scandir)
    assert names(manifests.read([tmp_path])) == ["a"]
    for folder, recursive in ((tmp_path, True), (locked, False)):
        with pytest.raises(InputError) as caught:
            manifests.read([folder], recursive=recursive)
        assert str(caught.value) == f"{locked}: cannot be read: Permission denied; check its permissions"


def test_what_is_left_out_of_a_folder_is_told(tmp_path: Path) -> None:
    write(tmp_path, "in/a.yaml", POD % "a")
    write(tmp_path, "out/b.yaml", POD % "b")
    (tmp_path / "in" / "linked").symlink_to(tmp_path / "out")
    os.mkfifo(tmp_path / "in" / "pipe.yaml")
    told: list[str] = []
    assert names(manifests.read([tmp_path / "in"], recursive=True, warn=told.append)) == ["a"]
    assert told == [
        f"{tmp_path}/in/linked: this link to a folder is not followed; give it with -f to have it read",
        f"{tmp_path}/in/pipe.yaml: this is not a file and is left out; give it with -f to have it read",
    ]

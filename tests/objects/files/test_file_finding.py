"""Which files a path on the command line stands for, and what is told of those that are left out."""

from __future__ import annotations

import os
from pathlib import Path

import pytest

from bayplan.errors import InputError
from bayplan.objects.files.file_finding import expand


def found(*inputs: str | Path, recursive: bool = False) -> tuple[list[tuple[str, bool]], list[InputError], list[str]]:
    mistakes: list[InputError] = []
    warnings: list[str] = []
    return list(expand(inputs, recursive, mistakes, warnings.append)), mistakes, warnings


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    for name in ("b.yaml", "a.yml", "c.json", "notes.txt", "below/d.yaml"):
        path = tmp_path / name
        path.parent.mkdir(exist_ok=True)
        path.write_text("")
    return tmp_path


def test_a_folder_stands_for_its_manifests_in_the_order_of_their_names(folder: Path) -> None:
    files, mistakes, warnings = found(folder)
    assert [(Path(name).name, named) for name, named in files] == [
        ("a.yml", False),
        ("b.yaml", False),
        ("c.json", False),
    ]
    assert (mistakes, warnings) == ([], [])


def test_with_r_folders_below_are_read_too(folder: Path) -> None:
    files, _, _ = found(folder, recursive=True)
    assert [os.path.relpath(name, folder) for name, _ in files] == ["a.yml", "b.yaml", "below/d.yaml", "c.json"]


def test_a_file_that_is_named_is_taken_whatever_its_ending(folder: Path) -> None:
    assert found(folder / "notes.txt", "-")[0] == [(str(folder / "notes.txt"), True), ("-", True)]


def test_a_folder_without_manifests_is_a_mistake_that_says_where_to_look(tmp_path: Path) -> None:
    _, (mistake,), _ = found(tmp_path)
    assert "no .yaml, .yml or .json file" in str(mistake)
    assert "-R" in str(mistake)
    _, (mistake,), _ = found(tmp_path, recursive=True)
    assert "-R" not in str(mistake)


@pytest.mark.parametrize(
    ("given", "words"), [("", "an empty path"), ("https://example.com/a.yaml", "download it first")]
)
def test_what_is_no_file_is_told(given: str, words: str) -> None:
    files, (mistake,), _ = found(given)
    assert files == []
    assert words in str(mistake)


def test_links_are_not_followed_in_silence(folder: Path, tmp_path_factory: pytest.TempPathFactory) -> None:
    elsewhere = tmp_path_factory.mktemp("elsewhere")
    (elsewhere / "e.yaml").write_text("")
    (folder / "link").symlink_to(elsewhere)
    (folder / "broken.yaml").symlink_to(folder / "nowhere")
    files, (mistake,), (warning,) = found(folder, recursive=True)
    assert not any("e.yaml" in name for name, _ in files)
    assert "this link to a folder is not followed" in warning
    assert "this link leads nowhere" in str(mistake)


def test_what_is_not_a_file_is_left_out_and_told(folder: Path) -> None:
    os.mkfifo(folder / "pipe.yaml")
    files, mistakes, (warning,) = found(folder)
    assert len(files) == 3
    assert mistakes == []
    assert "pipe.yaml: this is not a file and is left out" in warning

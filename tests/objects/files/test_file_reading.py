"""The door for files: text of bounded size comes in, everything else is one line."""

from __future__ import annotations

import bz2
import gzip
import io
import lzma
import os
import sys
from pathlib import Path
from types import SimpleNamespace

import pytest

from bayplan.errors import InputError
from bayplan.objects.files import file_reading
from bayplan.objects.files.file_reading import check_file, text_of

TEXT = b"kind: Pod\n" * 9


@pytest.mark.parametrize(
    ("content", "line"),
    [
        (gzip.compress(TEXT, mtime=0), "{path}: this is packed (gzip); unpack it first"),
        (bz2.compress(TEXT), "{path}: this is packed (bzip2); unpack it first"),
        (lzma.compress(TEXT), "{path}: this is packed (xz); unpack it first"),
        (TEXT.decode().encode("utf-16"), "{path}: this is UTF-16 text; save the file as UTF-8"),
        (TEXT.decode().encode("utf-16-be"), "{path}:1: this is not text; give a YAML or JSON file"),
        (b"a: b\nc: \0\n", "{path}:2: this is not text; give a YAML or JSON file"),
        (b"a: b\nc: \xff\n", "{path}:2: this is not UTF-8 text; save the file as UTF-8"),
    ],
)
def test_what_is_no_text_is_named(tmp_path: Path, content: bytes, line: str) -> None:
    path = tmp_path / "a.yaml"
    path.write_bytes(content)
    with pytest.raises(InputError) as caught:
        text_of(path)
    assert str(caught.value) == line.format(path=path)


@pytest.mark.parametrize("name", ["/dev/zero", "/dev/full", "/dev/urandom"])
def test_what_never_ends_is_left_at_its_beginning(name: str) -> None:
    with pytest.raises(InputError, match=rf"^{name}:\d+: this is not text"):
        text_of(name)


def test_text_that_never_ends_is_left_when_it_is_too_much(monkeypatch: pytest.MonkeyPatch) -> None:
    class Endless(io.RawIOBase):
        def read(self, size: int = -1) -> bytes:
            assert size > 0, "all of it at once"
            return b"y\n" * (size // 2)

    monkeypatch.setattr(file_reading, "MAX_BYTES", 3 * 2**20)
    monkeypatch.setattr(sys, "stdin", SimpleNamespace(buffer=Endless()))
    with pytest.raises(InputError, match=r"^standard input: more than 3 MiB; give its parts as several files"):
        text_of("-")


def test_what_a_library_reads_by_itself_has_an_end(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    path = tmp_path / "ca.crt"
    path.write_bytes(b"x" * 100)
    check_file(path)
    check_file(tmp_path / "missing")
    os.mkfifo(tmp_path / "pipe")
    for odd in ("/dev/zero", tmp_path, tmp_path / "pipe"):
        with pytest.raises(InputError, match="this is not a file"):
            check_file(odd)
    monkeypatch.setattr(file_reading, "MAX_BYTES", 99)
    with pytest.raises(InputError, match="more than 0 MiB"):
        check_file(path)

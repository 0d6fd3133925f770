"""The one door through which files come in: text, of bounded size, or one line that says what it is instead.

`manifests` and everybody else who reads a file that a user named calls `text_of`. Nothing here knows what the text
means; `yaml_reading` and `json_reading` bound what it can unfold to.
"""

from __future__ import annotations

import errno
import os
import stat
import sys
from pathlib import Path
from typing import BinaryIO

from bayplan.errors import InputError

STDIN = "-"
MAX_BYTES = 256 * 2**20
"""Some 150,000 pods as a snapshot has them."""
_CHUNK = 2**20
_FIXES = {
    errno.EACCES: "check its permissions",
    errno.EPERM: "check its permissions",
    errno.ELOOP: "the link leads back to itself: give the file itself",
}
_FIX = "give another file"
_PACKED = {
    b"\x1f\x8b": "gzip", b"BZh": "bzip2", b"\xfd7zXZ": "xz", b"\x28\xb5\x2f\xfd": "zstd", b"PK\x03\x04": "zip",
}  # fmt: skip
_UTF_16 = (b"\xff\xfe", b"\xfe\xff")


def shown(name: str) -> str:
    """What a file is called in complaints."""
    return "standard input" if name == STDIN else name


def text_of(name: str | Path, *, stdin: bytes | None = None) -> str:
    """The text of a file, or of standard input for "-"; `stdin` stands in for that. InputError if there is none."""
    name = str(name)
    source = shown(name)
    content: bytes | bytearray
    try:
        if name != STDIN:
            with open(name, "rb") as file:
                content = _content(file, source)
        elif stdin is not None:
            content = stdin
        else:
            content = _content(_standard_input(), source)
    except FileNotFoundError:
        raise InputError("no such file or folder", source=source, fix="check the path") from None
    except OSError as error:
        raise cannot_be_read(error, source) from None
    except ValueError as error:  # a path with a NUL in it
        raise InputError(f"cannot be read: {error}", source=source, fix=_FIX) from None
    try:
        return content.decode("utf-8-sig")
    except UnicodeDecodeError as error:
        line = content.count(b"\n", 0, error.start) + 1
        raise InputError("this is not UTF-8 text", source=source, line=line, fix="save the file as UTF-8") from None


def cannot_be_read(error: OSError, source: str) -> InputError:
    return InputError(f"cannot be read: {error.strerror}", source=source, fix=_FIXES.get(error.errno or 0, _FIX))


def check_file(name: str | Path) -> None:
    """For what a library reads by itself, such as certificates: a file it can read to its end, and that soon."""
    source = str(name)
    try:
        found = os.stat(source)
    except OSError:
        return  # the library says it in its own way
    if not stat.S_ISREG(found.st_mode):
        raise InputError("this is not a file", source=source, fix=_FIX)
    if found.st_size > MAX_BYTES:
        raise _too_large(source)


def _standard_input() -> BinaryIO:
    # Python has no stdin, whatever its type says, in a process that was started without one.
    if sys.stdin is None:
        raise InputError("is closed", source=shown(STDIN), fix="send objects through a pipe or name a file")
    return sys.stdin.buffer


def _content(file: BinaryIO, source: str) -> bytearray:
    """Everything in it. What cannot be text is known by its beginning, however much would follow."""
    content = bytearray()
    while chunk := file.read(_CHUNK):
        if not content:
            _check_beginning(chunk, source)
        content += chunk
        if len(content) > MAX_BYTES:
            raise _too_large(source)
    return content


def _check_beginning(chunk: bytes, source: str) -> None:
    for mark, name in _PACKED.items():
        if chunk.startswith(mark):
            raise InputError(f"this is packed ({name})", source=source, fix="unpack it first")
    if chunk.startswith(_UTF_16):
        raise InputError("this is UTF-16 text", source=source, fix="save the file as UTF-8")
    if b"\0" in chunk:
        line = chunk.count(b"\n", 0, chunk.index(b"\0")) + 1
        raise InputError("this is not text", source=source, line=line, fix="give a YAML or JSON file")


def _too_large(source: str) -> InputError:
    size = MAX_BYTES // 2**20
    return InputError(f"more than {size} MiB", source=source, fix="give its parts as several files")

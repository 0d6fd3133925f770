"""Which files a path on the command line stands for: itself, or those in a folder.

`manifests` calls `expand`. What looks like a manifest and is left out is told.
"""

from __future__ import annotations

import os
import stat
from collections.abc import Callable, Iterable, Iterator
from pathlib import Path

from bayplan.errors import InputError
from bayplan.objects.files.file_reading import STDIN, cannot_be_read

_SUFFIXES = (".yaml", ".yml", ".json")


def expand(
    inputs: Iterable[str | Path], recursive: bool, mistakes: list[InputError], warn: Callable[[str], None]
) -> Iterator[tuple[str, bool]]:
    """(file, whether it was named itself) for every input; a file found in a folder may be empty."""
    for given in inputs:
        name = str(given)
        if not name:
            mistakes.append(InputError("an empty path", field="-f", fix="name a file, a folder or -"))
        elif name != STDIN and name.startswith(("http://", "https://")):
            mistakes.append(
                InputError("web addresses are not read", source=name, fix="download it first and give the file")
            )
        elif name != STDIN and os.path.isdir(name):
            yield from ((file, False) for file in _files_in(name, recursive, mistakes, warn))
        else:
            yield name, True


def _files_in(folder: str, recursive: bool, mistakes: list[InputError], warn: Callable[[str], None]) -> list[str]:
    found: list[Path] = []
    before = len(mistakes)

    def unreadable(error: OSError) -> None:
        mistakes.append(cannot_be_read(error, str(error.filename)))

    for above, folders, files in os.walk(folder, onerror=unreadable):
        found.extend(Path(above, name) for name in files if name.endswith(_SUFFIXES))
        if not recursive:
            break
        for name in sorted(folders):
            if os.path.islink(link := os.path.join(above, name)):
                warn(f"{link}: this link to a folder is not followed; give it with -f to have it read")
    files = [str(each) for each in sorted(found) if _is_readable(each, mistakes, warn)]
    if not files and len(mistakes) == before:
        hint = "" if recursive else ", or add -R to look into its folders"
        problem = "no .yaml, .yml or .json file in this folder"
        mistakes.append(InputError(problem, source=folder, fix=f"give another one{hint}"))
    return files


def _is_readable(path: Path, mistakes: list[InputError], warn: Callable[[str], None]) -> bool:
    try:
        if stat.S_ISREG(path.stat().st_mode):
            return True
        warn(f"{path}: this is not a file and is left out; give it with -f to have it read")
    except FileNotFoundError:
        fix = "remove the link or put the file there"
        mistakes.append(InputError(f"this link leads nowhere: {os.readlink(path)}", source=str(path), fix=fix))
    except OSError as error:
        mistakes.append(cannot_be_read(error, str(path)))
    return False

"""
The rows of a CSV file, one after another, each with its line; a large file is never in memory as a whole.

``trace_objects`` asks a row for its values.  What cannot be read is one line with file, line and column.
"""

from __future__ import annotations

import csv
import gzip
import re
import zlib
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import IO

from bayplan.errors import InputError
from bayplan.framework.config.mistakes import did_you_mean, shown
from bayplan.objects.files.file_reading import cannot_be_read

_NUMBER = re.compile(r"\d+(\.\d+)?")


class Row:
    """One line of the file."""

    __slots__ = ("_columns", "_values", "line", "source")

    def __init__(self, source: str, line: int, columns: Mapping[str, int], values: list[str]) -> None:
        self.source = source
        self.line = line
        self._columns = columns
        self._values = values

    def text(self, column: str) -> str:
        return self._values[self._columns[column]].strip()

    def filled(self, column: str) -> str:
        """A text that must be there."""
        text = self.text(column)
        if not text:
            raise self.mistake(column, "is empty", "write a name")
        return text

    def number(self, column: str) -> str:
        """A number as it is written: nothing is lost on its way into a quantity."""
        text = self.text(column)
        if not _NUMBER.fullmatch(text):
            raise self.mistake(column, f"{shown(text)} is not a number" if text else "is empty", "write 0 or more")
        return text

    def whole(self, column: str) -> int:
        text = self.number(column)
        number, _, rest = text.partition(".")
        if rest.strip("0"):
            raise self.mistake(column, f"{shown(text)} is not a whole number", "write one such as 2")
        return int(number)

    def mistake(self, column: str, problem: str, fix: str) -> InputError:
        return InputError(problem, source=self.source, line=self.line, field=f"column {column}", fix=fix)


def rows(path: Path, needed: Mapping[str, str]) -> Iterator[Row]:
    """
    Every row of a file.  ``needed`` are the columns that must be there, each with the field of the trace that names it.
    """
    source = str(path)
    try:
        with _opened(path) as file:
            yield from _rows(file, source, needed)
    except FileNotFoundError:
        raise InputError("no such file", source=source, fix="check the path that the trace names") from None
    except (EOFError, zlib.error, gzip.BadGzipFile) as error:
        problem = "its compression breaks off, or is none"
        raise InputError(problem, source=source, fix=f"compress it with gzip: {error}") from None
    except OSError as error:
        raise cannot_be_read(error, source) from None


def _opened(path: Path) -> IO[str]:
    if path.suffix == ".gz":
        return gzip.open(path, "rt", encoding="utf-8-sig", newline="")
    return open(path, encoding="utf-8-sig", newline="")


def _rows(file: IO[str], source: str, needed: Mapping[str, str]) -> Iterator[Row]:
    reader = csv.reader(file, strict=True)
    columns: dict[str, int] | None = None
    while True:
        try:
            values = next(reader)
        except StopIteration:
            break
        except csv.Error as error:
            raise InputError(f"this is no CSV: {error}", source=source, line=reader.line_num) from None
        except UnicodeDecodeError:
            raise InputError(
                "this is not UTF-8 text", source=source, line=reader.line_num + 1, fix="save the file as UTF-8"
            ) from None
        if columns is None:
            columns = _header(values, source, needed)
        elif len(values) != len(columns):
            if not values:
                continue  # an empty line
            problem = f"{len(values)} {'value' if len(values) == 1 else 'values'} for {len(columns)} columns"
            raise InputError(problem, source=source, line=reader.line_num, fix="write one for each column")
        else:
            yield Row(source, reader.line_num, columns, values)
    if columns is None:
        raise InputError("is empty", source=source, fix="write the names of the columns on the first line")


def _header(names: list[str], source: str, needed: Mapping[str, str]) -> dict[str, int]:
    names = [name.strip() for name in names]
    for name in names:
        if names.count(name) > 1:
            raise InputError(f"two columns are called {shown(name)}", source=source, line=1, fix="rename one of them")
    for column, field in needed.items():
        if column not in names:
            hint = did_you_mean(column, names) or f"; there are {', '.join(names)}"
            raise InputError(f"there is no column {shown(column)}, which {field} names{hint}", source=source, line=1)
    return {name: place for place, name in enumerate(names)}

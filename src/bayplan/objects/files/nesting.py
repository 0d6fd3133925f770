"""How deep text is nested, known before anything that calls itself for every level gets to see it.

`yaml_reading` and `json_reading` ask. A library may answer a hundred thousand brackets with the end of the process.
"""

from __future__ import annotations

import re
from itertools import accumulate
from typing import Any

import yaml

from bayplan.errors import InputError

DEEPEST = 100
"""Levels. Objects have a dozen or two, the schemas in custom resource definitions a few dozen."""
_HARMLESS = 1000
"""Levels that the YAML library's own calls take without harm, many times over."""
_BRACKET = re.compile(r"[\[\]{}]")
_STEP = {"[": 1, "{": 1, "]": -1, "}": -1}
_STRING = re.compile(r'"[^"\\]*+(?:\\.[^"\\]*+)*+"', re.DOTALL)
_OPENING = re.compile(r"[\[{](?![\]}])|^---", re.MULTILINE)
"""Brackets that hold something, and where the next document begins."""
_INDENT = re.compile(rf"^[ \t?:-]{{{_HARMLESS},}}", re.MULTILINE)
_Parser: Any = getattr(yaml, "CSafeLoader", yaml.SafeLoader)


def check_json(text: str, source: str) -> None:
    """InputError for JSON that is too deep. Brackets in strings are left out where it might matter."""
    if _deepest(text) > DEEPEST and _deepest(_STRING.sub("", text)) > DEEPEST:
        raise too_deep(source)


def check_yaml(text: str, source: str) -> None:
    """InputError for YAML that is far too deep; what is no YAML is told by its reader.

    A level takes a bracket of its own, or a column: where there are few of both, nothing has to be parsed for this.
    """
    if not _has_many_brackets(text) and not _INDENT.search(text):
        return
    parser, depth = _Parser(text), 0
    try:
        while parser.check_event():
            event: Any = parser.get_event()
            if isinstance(event, yaml.CollectionStartEvent):
                depth += 1
                if depth > DEEPEST:
                    raise too_deep(source, _line(event.start_mark))
            elif isinstance(event, yaml.CollectionEndEvent):
                depth -= 1
    except yaml.YAMLError:
        return
    finally:
        parser.dispose()


def too_deep(source: str, line: int = 0) -> InputError:
    fix = "write fewer levels; objects have a dozen or two"
    return InputError("nested too deeply to be read", source=source, line=line, fix=fix)


def _deepest(text: str) -> int:
    """The most brackets that are open at once."""
    return max(accumulate(map(_STEP.__getitem__, _BRACKET.findall(text)), initial=0))


def _has_many_brackets(text: str) -> bool:
    """Whether one document has more than are harmless; it does not matter where they close, or are only text."""
    if text.count("[") + text.count("{") <= _HARMLESS:
        return False
    found = 0
    for bracket in _OPENING.findall(text):
        found = 0 if bracket == "---" else found + 1
        if found > _HARMLESS:
            return True
    return False


def _line(mark: Any) -> int:
    return int(mark.line) + 1

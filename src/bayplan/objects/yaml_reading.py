"""YAML text to plain values, read the way kubectl reads it.

`manifests` and every other reader of YAML files call `documents`. Booleans are those of YAML 1.1 (yes, no, on,
off); times and base-60 numbers stay text; a key that occurs twice is an error. Nodes are turned into values
here rather than by PyYAML's constructors because that takes half the time and knows the line of every item.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass
from functools import lru_cache
from typing import Any

import yaml

from bayplan.errors import InputError

_Parser: Any = getattr(yaml, "CSafeLoader", yaml.SafeLoader)
_PREFIX = "tag:yaml.org,2002:"
_PLAIN = "plain"
_TYPED = frozenset(f"{_PREFIX}{name}" for name in ("int", "float", "bool", "null", "timestamp"))

_WORDS: dict[str, Any] = dict.fromkeys(("", "~", "null", "Null", "NULL"))
for _true, _false in (("y", "n"), ("yes", "no"), ("true", "false"), ("on", "off")):
    for _change in (str, str.capitalize, str.upper):
        _WORDS[_change(_true)] = True
        _WORDS[_change(_false)] = False
_MAY_BE_TYPED = frozenset("+-.0123456789yYnNtTfFoO~")
_INT = re.compile(r"[-+]?(0[xX][0-9a-fA-F]+|0[oO]?[0-7]+|0[bB][01]+|0|[1-9][0-9]*)")
_FLOAT = re.compile(r"[-+]?(\.[0-9]+|[0-9]+(\.[0-9]*)?)([eE][-+]?[0-9]+)?")
_OLD_OCTAL = re.compile(r"([-+]?)0([0-7]+)")


# The parser is C and has no types, hence "Any" as a base class.
class _Reader(_Parser):  # type: ignore[misc]
    """The parser with its guessing of types switched off; `_plain` guesses instead, and remembers."""

    def resolve(self, kind: Any, value: Any, implicit: Any) -> str:
        if kind is yaml.ScalarNode:
            return _PLAIN if implicit[0] else f"{_PREFIX}str"
        return f"{_PREFIX}map" if kind is yaml.MappingNode else f"{_PREFIX}seq"

    def descend_resolver(self, parent: Any, index: Any) -> None:
        """Nothing to descend into without path resolvers."""

    def ascend_resolver(self) -> None:
        """Nothing to come back from."""


@dataclass(frozen=True, slots=True)
class YamlDocument:
    """One document of a stream: its first line, its value, and the line of each entry under `items`."""

    line: int
    value: Any
    item_lines: tuple[int, ...] = ()


def documents(text: str, source: str) -> Iterator[YamlDocument]:
    """Every document of a stream that is not empty; InputError with the line where it stops being YAML."""
    reader = None
    try:
        reader = _Reader(text)
        while reader.check_node():
            node = reader.get_node()
            value = _value(node, source, {})
            if value is not None:
                yield YamlDocument(_line(node), value, _item_lines(node))
    except yaml.MarkedYAMLError as error:
        raise _broken(error, source) from None
    except yaml.reader.ReaderError as error:
        raise _strange(error, text, source) from None
    except RecursionError:
        fix = "write fewer levels; objects have a dozen or two"
        raise InputError("nested too deeply to be read", source=source, fix=fix) from None
    finally:
        if reader is not None:
            reader.dispose()


def _broken(error: yaml.MarkedYAMLError, source: str) -> InputError:
    mark = error.problem_mark or error.context_mark
    problem = error.problem or error.context or "cannot be read"
    if "cannot start any token" in problem:
        fix = "indent with spaces, not tabs, and put text that begins with a special character in quotes"
    elif "mapping values are not allowed" in problem:
        fix = 'put text that holds ": " in quotes and check the indentation'
    else:
        fix = "check the indentation and the quotes there"
    return InputError(f"this is not YAML: {problem}", source=source, line=mark.line + 1 if mark else 0, fix=fix)


def _strange(error: yaml.reader.ReaderError, text: str, source: str) -> InputError:
    """A control character and the like; libyaml counts bytes and gives a number, PyYAML gives the character."""
    character: Any = error.character
    number = character if isinstance(character, int) else ord(character)
    line = text.encode()[: error.position].count(b"\n") + 1
    problem = f"the character U+{number:04X} is not allowed in YAML"
    return InputError(problem, source=source, line=line, fix="remove it")


def _line(node: Any) -> int:
    return int(node.start_mark.line) + 1


def _item_lines(node: Any) -> tuple[int, ...]:
    if isinstance(node, yaml.MappingNode):
        for key, value in node.value:
            if key.value == "items" and isinstance(value, yaml.SequenceNode):
                return tuple(_line(item) for item in value.value)
    return ()


def _value(node: Any, source: str, done: dict[int, Any]) -> Any:
    """What a node stands for. `done` holds collections by identity, so that an alias is made once."""
    if isinstance(node, yaml.ScalarNode):
        return _scalar(node)
    known = done.get(id(node), done)
    if known is not done:
        if known is None:
            raise InputError("an alias that contains itself", source=source, line=_line(node), fix="write it out")
        return known
    done[id(node)] = None
    made: Any
    if isinstance(node, yaml.SequenceNode):
        made = [_value(item, source, done) for item in node.value]
    else:
        made = _mapping(node, source, done)
    done[id(node)] = made
    return made


def _mapping(node: Any, source: str, done: dict[int, Any]) -> dict[str, Any]:
    made: dict[str, Any] = {}
    merged: dict[str, Any] = {}
    for key_node, value_node in node.value:
        if key_node.tag == _PLAIN and key_node.value == "<<":
            _merge(merged, value_node, source, done)
            continue
        key = _key(key_node, source)
        if key in made:
            raise InputError(
                f'the key "{key}" occurs twice in one mapping',
                source=source,
                line=_line(key_node),
                fix="keep one of them",
            )
        made[key] = _value(value_node, source, done)
    return {**merged, **made} if merged else made


def _merge(into: dict[str, Any], node: Any, source: str, done: dict[int, Any]) -> None:
    """``<<: *alias`` or a list of them: keys that are not there yet."""
    value = _value(node, source, done)
    for part in value if isinstance(value, list) else [value]:
        if not isinstance(part, dict):
            raise InputError('"<<" must name a mapping', source=source, line=_line(node), fix="remove it")
        for key, each in part.items():
            into.setdefault(key, each)


def _key(node: Any, source: str) -> str:
    key = _scalar(node) if isinstance(node, yaml.ScalarNode) else None
    if isinstance(key, str):
        return key
    if key is None:
        raise InputError(
            "a key that is not text",
            source=source,
            line=_line(node),
            fix="write a name before the colon; if this is a template, render it first",
        )
    return str(key).lower() if isinstance(key, bool) else str(key)


def _scalar(node: Any) -> Any:
    if node.tag == _PLAIN or node.tag in _TYPED:
        return _plain(node.value)
    return node.value


@lru_cache(maxsize=65536)
def _plain(text: str) -> Any:
    """What text without quotes means."""
    if text and text[0] not in _MAY_BE_TYPED:
        return None if text in _WORDS else text
    if text in _WORDS:
        return _WORDS[text]
    digits = text.replace("_", "") if text[0] != "." else text
    if _INT.fullmatch(digits):
        return int(_OLD_OCTAL.sub(r"\1\g<2>", digits), 8) if _OLD_OCTAL.fullmatch(digits) else int(digits, 0)
    if _FLOAT.fullmatch(digits):
        number = float(digits)
        # 3.0 is 3 by the time it has been JSON, as it is on its way to an API server.
        return int(number) if number.is_integer() and abs(number) < 1e21 else number
    return text

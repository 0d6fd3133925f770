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
from bayplan.objects.files import nesting
from bayplan.objects.files.yaml_aliases import Aliases

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
_SHORT = 1000
"""Characters.  No number that an API server takes is longer, and no word that means something else than itself."""
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
    nesting.check_yaml(text, source)
    reader, aliases = None, Aliases(source)
    try:
        reader = _Reader(text)
        while reader.check_node():
            node = reader.get_node()
            value = _Values(source, aliases).of(node)
            if value is not None:
                yield YamlDocument(_line(node), value, _item_lines(node))
    except yaml.MarkedYAMLError as error:
        raise _broken(error, source) from None
    except yaml.reader.ReaderError as error:
        raise _strange(error, text, source) from None
    except RecursionError:  # of the library, where it is not the one in C
        raise nesting.too_deep(source) from None
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


class _Values:
    """What the nodes of one document stand for."""

    def __init__(self, source: str, aliases: Aliases) -> None:
        self._source = source
        self._aliases = aliases
        self._done: dict[int, Any] = {}
        """Collections by identity, so that an alias is made once."""

    def of(self, node: Any, depth: int = 0) -> Any:
        if isinstance(node, yaml.ScalarNode):
            return self._scalar(node)
        known = self._done.get(id(node), self._done)
        if known is not self._done:
            if known is None:
                raise self._wrong("an alias that contains itself", node, "write it out")
            self._aliases.use(node)
            return known
        self._done[id(node)] = None
        if depth > nesting.DEEPEST:
            raise nesting.too_deep(self._source, _line(node))
        made: Any
        if isinstance(node, yaml.SequenceNode):
            made = [self.of(item, depth + 1) for item in node.value]
        else:
            made = self._mapping(node, depth + 1)
        self._done[id(node)] = made
        return made

    def _mapping(self, node: Any, depth: int) -> dict[str, Any]:
        made: dict[str, Any] = {}
        merged: dict[str, Any] = {}
        for key_node, value_node in node.value:
            if key_node.tag == _PLAIN and key_node.value == "<<":
                self._merge(merged, value_node, depth)
                continue
            key = self._key(key_node)
            if key in made:
                raise self._wrong(f'the key "{key}" occurs twice in one mapping', key_node, "keep one of them")
            made[key] = self.of(value_node, depth)
        return {**merged, **made} if merged else made

    def _merge(self, into: dict[str, Any], node: Any, depth: int) -> None:
        """``<<: *alias`` or a list of them: keys that are not there yet."""
        value = self.of(node, depth)
        for part in value if isinstance(value, list) else [value]:
            if not isinstance(part, dict):
                raise self._wrong('"<<" must name a mapping', node, "remove it")
            for key, each in part.items():
                into.setdefault(key, each)

    def _key(self, node: Any) -> str:
        key = self._scalar(node) if isinstance(node, yaml.ScalarNode) else None
        if isinstance(key, str):
            return key
        if key is None:
            fix = "write a name before the colon; if this is a template, render it first"
            raise self._wrong("a key that is not text", node, fix)
        return str(key).lower() if isinstance(key, bool) else str(key)

    def _scalar(self, node: Any) -> Any:
        text = node.value
        is_typed = node.tag == _PLAIN or node.tag in _TYPED
        if len(text) <= _SHORT:
            return _plain(text) if is_typed else text
        if id(node) in self._done:
            self._aliases.use(node)
        self._done[id(node)] = text
        if not is_typed:
            return text
        if _INT.fullmatch(text.replace("_", "")) or _FLOAT.fullmatch(text.replace("_", "")):
            raise self._wrong(f"a number of {len(text)} digits", node, "write a shorter one, or put it in quotes")
        return text

    def _wrong(self, problem: str, node: Any, fix: str) -> InputError:
        return InputError(problem, source=self._source, line=_line(node), fix=fix)


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

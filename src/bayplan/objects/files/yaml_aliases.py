"""What the aliases of a YAML file unfold to, counted before they are unfolded.

`yaml_reading` shares what an alias names instead of copying it; code that walks through the values later meets it again
at every place. A few lines that name one another can stand for more than any machine holds.
"""

from __future__ import annotations

from typing import Any

import yaml

from bayplan.errors import InputError
from bayplan.objects.files.nesting import DEEPEST, too_deep

MOST = 500_000
"""Values that all aliases of a file together may stand for."""
_LONG = 100
"""Characters of text that count as one value more."""


class Aliases:
    """The account of one file."""

    def __init__(self, source: str) -> None:
        self._source = source
        self._left = MOST
        self._known: dict[int, tuple[Any, int, int]] = {}
        """Node, size and height by identity; the node, because an identity is given again when it is gone."""

    def use(self, node: Any) -> None:
        """One more place that a node stands at; InputError when that is too much."""
        size, height = self._measure(node)
        line = node.start_mark.line + 1
        if height > DEEPEST:
            raise too_deep(self._source, line)
        self._left -= size
        if self._left < 0:
            problem = f"what is repeated by aliases (*name) adds up to more than {MOST} values"
            raise InputError(problem, source=self._source, line=line, fix="repeat less, or write it out")

    def _measure(self, node: Any) -> tuple[int, int]:
        if isinstance(node, yaml.ScalarNode):
            return 1 + len(node.value) // _LONG, 0
        known = self._known.get(id(node))
        if known is not None:
            return known[1], known[2]
        size, height = 1, 0
        for each in self._children(node):
            part, above = self._measure(each)
            size, height = size + part, max(height, above + 1)
        self._known[id(node)] = (node, size, height)
        return size, height

    @staticmethod
    def _children(node: Any) -> list[Any]:
        if isinstance(node, yaml.SequenceNode):
            return list(node.value)
        return [part for pair in node.value for part in pair]

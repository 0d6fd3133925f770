"""Random expressions about devices that compile, deeper and costlier as `depth` grows."""

from __future__ import annotations

import random
import re

_TEXTS = (
    '"a"', '"model-x"', '""', "device.driver", 'device.attributes["d.io"].model', 'device.attributes["d.io"]["s"]',
    '"x".replace("", {text})', "{text}.replace({text}, {text})", "{text} + {text}", "{text}.lowerAscii()", "string({int})",
    "{text}.substring({int})", "strings.quote({text})", '"%s".format([{text}])', "string(bytes({text}))",
    "({bool} ? {text} : {text})", "cel.bind(t, {text}, t + t)", "{text}.find({text})", "{texts}[0]", "dyn({text})",
    '{texts}.join(",")', 'url({text}).getHost()', "{text}.charAt(1)", "device.?driver.orValue({text})",
)  # fmt: skip
_INTS = (
    "1", "7", "size({text})", "size({texts})", "{texts}.size()", 'device.attributes["d.io"].cores', "{int} + {int}",
    "{int} * {int}", 'device.capacity["d.io"].memory.asInteger()', "{text}.indexOf({text})", "{ints}.sum()", "{ints}[1]",
    "{ints}.max()", "int({text})", 'semver("1.2.3").major()', "cel.bind(n, {int}, n * n)", "({bool} ? {int} : {int})",
    "device.attributes[{text}].size()", "device.capacity.size()",
)  # fmt: skip
_TEXT_LISTS = (
    '["a", "b"]', "[{text}]", "{text}.split({text})", "{text}.split({text}, 3)", "{texts} + {texts}",
    "{texts}.map({v}, {v} + {text})", "device.attributes.map({v}, {v})", 'device.attributes["d.io"].map({v}, {v})',
    "{texts}.filter({v}, {bool})", "{text}.findAll({text})", "{texts}.sort()", "{texts}.distinct()", "{texts}.reverse()",
    "device.attributes.transformList({v}, {w}, {v})", "{texts}.slice(0, {int})", "cel.bind(l, {texts}, l + l)",
    "device.attributes.map({v}, device.attributes[{v}].exists({w}, {bool}), {v})", "({bool} ? {texts} : {texts})",
    "[{texts}, {texts}].flatten()", "{texts}.sortBy({v}, size({v}))", "[{texts}][0]",
)  # fmt: skip
_INT_LISTS = (
    "[1, 2, 3]", "[{int}, {int}]", "lists.range(5)", "lists.range({int})", "{texts}.map({v}, size({v}))", "{ints} + {ints}",
    "{ints}.map({v}, {v} * {int})", "{ints}.filter({v}, {bool})", "{ints}.sort()", "{ints}.distinct()", "{ints}.reverse()",
    "device.capacity.map({v}, size({v}))", "{ints}.sortBy({v}, -{v})", "{ints}.transformList({v}, {w}, {v} + {w})",
    "[{ints}, {ints}].flatten()", "{ints}.slice(1, 2)",
)  # fmt: skip
_BOOLS = (
    "true", 'device.driver == "d.io"', "device.allowMultipleAllocations", 'has(device.attributes["d.io"].model)',
    "{text} == {text}", "{text} != {text}", "{text} < {text}", "{int} > {int}", "{bool} && {bool}", "{bool} || {bool}",
    "!{bool}", "{text}.contains({text})", "{text}.matches({text})", "{text}.startsWith({text})", "{text} in {texts}",
    "{int} in {ints}", "{text} in device.attributes", "{texts}.all({v}, {bool})", "{texts}.exists({v}, {bool})",
    "{ints}.exists_one({v}, {bool})", "device.attributes.all({v}, {bool})", "device.attributes.exists({v}, {bool})",
    'device.attributes["d.io"].all({v}, {bool})', 'device.attributes["d.io"].exists({v}, {w}, {bool})',
    "device.attributes.all({v}, device.attributes[{v}].all({w}, {bool}))", "device.attributes.all({v}, {w}, {bool})",
    "device.attributes.all({v}, {w}, {w}.exists({v}, {bool}))", "device.capacity.exists({v}, {bool})",
    "device.capacity.all({v}, {w}, {w}.all({v}, {bool}))", "cel.bind(b, {bool}, b || {bool})",
    'cel.bind(m, device.attributes["d.io"], m.all({v}, m[{v}] == m.model && {bool}))', "{texts} == {texts}",
    'device.capacity["d.io"].memory.isGreaterThan(quantity({text}))', 'quantity("1") == quantity({text})',
    'device.capacity["d.io"].memory.compareTo(quantity("1Gi")) > {int}', "isSemver({text})", "{ints}.isSorted()",
    'device.attributes["d.io"].version.isLessThan(semver({text}))', "sets.contains({texts}, {texts})", "isURL({text})",
    "sets.equivalent({ints}, {ints})", "({bool} ? {bool} : {bool})", 'ip("::1").isLoopback()', "isIP({text})",
    'cidr("10.0.0.0/8").containsIP({text})', "!format.dns1123Label().validate({text}).hasValue()", "isQuantity({text})",
    'device.attributes["d.io"].?model.optMap({v}, {bool}).orValue({bool})', '{{"a": {text}}}.all({v}, {w}, {bool})',
    'cel.bind(m, device.attributes["d.io"], m.all({v}, {w}, m.a == {v} && {v}.matches({v}) && {w} == m.b && {bool}))',
    'cel.bind(m, device.attributes["d.io"], m.all({v}, m.a == {v} && m.exists({w}, {v}.contains({w}) && {bool})))',
    'device.attributes.transformMap({v}, {w}, size({v})).exists({v}, {bool})', 'device.attributes[?"d.io"].hasValue()',
)  # fmt: skip
_SHAPES = {"text": _TEXTS, "int": _INTS, "texts": _TEXT_LISTS, "ints": _INT_LISTS, "bool": _BOOLS}


_HOLE = re.compile(r"\{(\w+)\}")


class SelectorMaker:
    """Not every expression compiles: a variable that is a number may stand where a text is wanted."""

    def __init__(self, seed: int) -> None:
        self._random = random.Random(seed)
        self._count = 0

    def selector(self, depth: int) -> str:
        return self._made("bool", depth, ())

    def _made(self, kind: str, depth: int, variables: tuple[str, ...]) -> str:
        if variables and kind in ("text", "int") and self._random.random() < 0.4:
            return self._random.choice(variables)
        shapes = _SHAPES[kind]
        if depth <= 0:
            shapes = tuple(each for each in shapes if "{" not in each)
        return self._filled(self._random.choice(shapes), depth - 1, variables)

    def _filled(self, shape: str, depth: int, variables: tuple[str, ...]) -> str:
        """Variables of the shape itself may be used after the place where they are named."""
        self._count += 1
        own = {"v": f"v{self._count}", "w": f"w{self._count}"}
        named = set(variables)

        def part(hole: re.Match[str]) -> str:
            kind = hole[1]
            if kind in own:
                named.add(own[kind])
                return own[kind]
            inner = self._made(kind, depth - self._random.randrange(2), tuple(sorted(named)))
            return f"({inner})" if " " in inner else inner

        return _HOLE.sub(part, shape).replace("{{", "{").replace("}}", "}")

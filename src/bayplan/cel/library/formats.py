"""Named formats: `!format.dns1123Label().validate(name).hasValue()`."""

from __future__ import annotations

import re
from base64 import b64decode
from collections.abc import Callable, Sequence
from typing import Any

from bayplan.cel import costs
from bayplan.cel.errors import EvaluationError
from bayplan.cel.functions import function
from bayplan.cel.library.times import parsed_timestamp
from bayplan.cel.library.urls import url
from bayplan.cel.values import NONE, Optional, size

_LABEL = r"[a-z0-9]([-a-z0-9]*[a-z0-9])?"
_NAME = r"([A-Za-z0-9][-A-Za-z0-9_.]*)?[A-Za-z0-9]"
_UUID = r"[0-9a-fA-F]{8}-?[0-9a-fA-F]{4}-?[0-9a-fA-F]{4}-?[0-9a-fA-F]{4}-?[0-9a-fA-F]{12}"


class Format:
    """`pattern_size` is how long Kubernetes takes the regular expression behind it to be, for the cost."""

    __slots__ = ("name", "_is_valid", "pattern_size")
    cel_type = "kubernetes.NamedFormat"

    def __init__(self, name: str, is_valid: Callable[[str], bool], pattern_size: int) -> None:
        self.name, self._is_valid, self.pattern_size = name, is_valid, pattern_size

    def validate(self, text: str) -> Optional:
        """No value if the text is valid, else what is wrong."""
        return NONE if self._is_valid(text) else Optional(True, [f"does not match the format {self.name}"])


def _form(pattern: str, longest: int, prefix: bool = False) -> Callable[[str], bool]:
    form = re.compile(pattern, re.ASCII)

    def is_valid(text: str) -> bool:
        whole = text[:-1] + "a" if prefix and len(text) > 1 and text.endswith("-") else text
        return len(text) <= longest and form.fullmatch(whole) is not None

    return is_valid


def _subdomain(prefix: bool = False) -> Callable[[str], bool]:
    return _form(rf"{_LABEL}(\.{_LABEL})*", 253, prefix)


def _is_qualified_name(text: str) -> bool:
    domain, slash, name = text.rpartition("/")
    is_name = len(name) <= 63 and re.fullmatch(_NAME, name, re.ASCII) is not None
    return is_name and (not slash or _subdomain()(domain))


def _is_label_value(text: str) -> bool:
    return not text or _form(_NAME, 63)(text)


def _parses(parse: Callable[[str], Any]) -> Callable[[str], bool]:
    def is_valid(text: str) -> bool:
        try:
            parse(text)
        except (EvaluationError, ValueError):
            return False
        return True

    return is_valid


_FORMATS = {
    "dns1123Label": Format("DNS1123Label", _form(_LABEL, 63), 30),
    "dns1123Subdomain": Format("DNS1123Subdomain", _subdomain(), 60),
    "dns1035Label": Format("DNS1035Label", _form(r"[a-z]([-a-z0-9]*[a-z0-9])?", 63), 30),
    "qualifiedName": Format("QualifiedName", _is_qualified_name, 60),
    "dns1123LabelPrefix": Format("DNS1123LabelPrefix", _form(_LABEL, 63, prefix=True), 30),
    "dns1123SubdomainPrefix": Format("DNS1123SubdomainPrefix", _subdomain(prefix=True), 60),
    "dns1035LabelPrefix": Format("DNS1035LabelPrefix", _form(r"[a-z]([-a-z0-9]*[a-z0-9])?", 63, prefix=True), 30),
    "labelValue": Format("LabelValue", _is_label_value, 40),
    "uri": Format("URI", _parses(url), 1103),
    "uuid": Format("uuid", _form(_UUID, 100), 70),
    "byte": Format("byte", _parses(lambda text: b64decode(text, validate=True)), 84),
    "date": Format("date", _parses(lambda text: parsed_timestamp(f"{text}T00:00:00Z")), 71),
    "datetime": Format("datetime", _parses(lambda text: parsed_timestamp(text.upper())), 71),
}


def _named(name: str) -> Optional:
    found = _FORMATS.get(name)
    return NONE if found is None else Optional(True, found)


def _constant(found: Format) -> Callable[[], Format]:
    return lambda: found


def _cost(arguments: Sequence[Any], result: Any) -> int:
    given, text = arguments
    return costs.pattern_of(size(text), given.pattern_size) if isinstance(given, Format) else 1


FUNCTIONS = (
    *[
        function(f"format.{name}", (f"format.{name}", "() -> format", _constant(found)))
        for name, found in _FORMATS.items()
    ],
    function("format.named", ("format-named", "(string) -> optional<format>", _named)),
    function(
        "validate",
        ("format-validate", "format.(string) -> optional<list<string>>", lambda given, text: given.validate(text)),
        cost=_cost,
    ),
)

"""Bodies of requests as tests read them: JSON, or a Binding in protobuf, which looks here as it would in JSON."""

from __future__ import annotations

import json
from collections.abc import Iterator
from typing import Any

MAGIC = b"k8s\x00"


def read_body(body: bytes) -> Any:
    """What a request says."""
    if not body.startswith(MAGIC):
        return json.loads(body)
    envelope = dict(_fields(body[len(MAGIC) :]))
    kind, binding = dict(_fields(envelope[1])), dict(_fields(envelope[2]))
    assert kind == {1: b"v1", 2: b"Binding"}, f"only bindings are read here, not {kind}"
    return {
        "apiVersion": "v1",
        "kind": "Binding",
        "metadata": _named(binding[1], {1: "name", 3: "namespace", 5: "uid"}),
        "target": _named(binding[2], {1: "kind", 3: "name", 5: "apiVersion"}),
    }


def _named(message: bytes, names: dict[int, str]) -> dict[str, str]:
    return {names[number]: value.decode() for number, value in _fields(message)}


def _fields(message: bytes) -> Iterator[tuple[int, bytes]]:
    """The numbers and bytes of a message that has only fields of known length."""
    at = 0
    while at < len(message):
        assert message[at] & 7 == 2, "a field of another kind"
        number, at = message[at] >> 3, at + 1
        length = shift = 0
        while True:
            byte, at = message[at], at + 1
            length |= (byte & 0x7F) << shift
            shift += 7
            if byte < 0x80:
                break
        yield number, message[at : at + length]
        at += length

"""
A Binding in the protobuf form of the API: what the API server reads with the least work.

It reads every bind twice when it is JSON, once to learn the kind and once for the rest, and a scheduler sends little
else.  The message is small enough to write by hand.  Used by ``kube.writer``.
"""

from __future__ import annotations

CONTENT_TYPE = "application/vnd.kubernetes.protobuf"
_MAGIC = b"k8s\x00"


def encode(name: str, namespace: str, uid: str, node_name: str) -> bytes:
    """The bind of a pod to a node, with the pod's UID as precondition."""
    metadata = _text(1, name) + _text(3, namespace) + _text(5, uid)
    binding = _field(1, metadata) + _field(2, _NODE + _text(3, node_name))
    return _MAGIC + _TYPE + _field(2, binding)


def _text(number: int, value: str) -> bytes:
    return _field(number, value.encode())


def _field(number: int, value: bytes) -> bytes:
    """A field of known length: its number and wire type, the length in groups of seven bits, the bytes."""
    length = len(value)
    if length < 0x80:
        return bytes((number << 3 | 2, length)) + value
    written = bytearray((number << 3 | 2,))
    while length >= 0x80:
        written.append(length & 0x7F | 0x80)
        length >>= 7
    written.append(length)
    return bytes(written) + value


# What every one of them says: an unknown object of this type follows; its target is a node.
_TYPE = _field(1, _text(1, "v1") + _text(2, "Binding"))
_NODE = _text(1, "Node") + _text(5, "v1")

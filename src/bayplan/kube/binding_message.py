"""
A Binding in the protobuf form of the API: what the API server reads with the least work.

It reads every bind twice when it is JSON, once to learn the kind and once for the rest, and a scheduler sends little
else.  The message is small enough to write by hand.  Used by ``kube.writer``.
"""

from __future__ import annotations

CONTENT_TYPE = "application/vnd.kubernetes.protobuf"
_MAGIC = b"k8s\x00"
_LONGEST = 0x3FFF
_LENGTHS = tuple(
    bytes((length,)) if length < 0x80 else bytes((length & 0x7F | 0x80, length >> 7)) for length in range(1024)
)


def encode(name: str, namespace: str, uid: str, node_name: str) -> bytes:
    """The bind of a pod to a node, with the pod's UID as precondition."""
    # A byte with a field's number and its wire type goes before each: 1 is \n, 2 is \x12, 3 is \x1a, 5 is *.
    metadata = b"\n%b\x1a%b*%b" % (_sized(name.encode()), _sized(namespace.encode()), _sized(uid.encode()))
    target = b"%b\x1a%b" % (_NODE, _sized(node_name.encode()))
    return b"%b\x12%b" % (_START, _sized(b"\n%b\x12%b" % (_sized(metadata), _sized(target))))


def _sized(value: bytes) -> bytes:
    """Its length in groups of seven bits, the lowest first, and the bytes."""
    length = len(value)
    if length < len(_LENGTHS):
        return _LENGTHS[length] + value
    if length > _LONGEST:
        raise ValueError(f"{length} bytes are too many for a name")
    return bytes((length & 0x7F | 0x80, length >> 7)) + value


# What every one of them says: a v1 Binding follows; its target is a v1 Node.
_START = _MAGIC + b"\n" + _sized(b"\n%b\x12%b" % (_sized(b"v1"), _sized(b"Binding")))
_NODE = b"\n%b*%b" % (_sized(b"Node"), _sized(b"v1"))

"""
What lists, watches and failures look like on the wire.  Used by ``kube.informer`` and ``kube.client``.
"""

from __future__ import annotations

import msgspec


class ListMeta(msgspec.Struct, rename="camel"):
    """Where a watch goes on after a list, and how to ask for its next page."""

    resource_version: str = ""
    continue_: str = msgspec.field(default="", name="continue")


class List(msgspec.Struct):
    """One page, its objects not looked into yet."""

    metadata: ListMeta = msgspec.field(default_factory=ListMeta)
    items: list[msgspec.Raw] | None = None


class Line(msgspec.Struct):
    """One line of a watch: ADDED, MODIFIED, DELETED, BOOKMARK or ERROR."""

    type: str
    object: msgspec.Raw


class Cause(msgspec.Struct):
    """One of the things behind a failure."""

    reason: str = ""
    message: str = ""


class Details(msgspec.Struct):
    causes: list[Cause] | None = None


class Status(msgspec.Struct):
    """What an ERROR line carries, and the answer to a request that failed."""

    code: int = 0
    reason: str = ""
    message: str = ""
    details: Details | None = None


class Meta(msgspec.Struct, rename="camel"):
    """The few fields that even an object that makes no sense may have."""

    namespace: str = ""
    name: str = ""
    uid: str = ""
    resource_version: str = ""


class Named(msgspec.Struct):
    """As much of an object as tells which one it is."""

    metadata: Meta = msgspec.field(default_factory=Meta)


def named(raw: msgspec.Raw) -> Meta:
    """Which object this is; if even that cannot be read, its first characters stand for its name."""
    try:
        return msgspec.json.decode(raw, type=Named).metadata
    except msgspec.MsgspecError:
        return Meta(name=bytes(raw)[:80].decode("utf-8", "replace"))


def is_older(version: str, than: str) -> bool:
    """Versions of one kind can be compared as numbers; nothing at all is older than anything."""
    if not (version.isdigit() and than.isdigit()):
        return not version
    return int(version) < int(than)

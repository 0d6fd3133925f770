"""
Objects as the API server wrote them, for those who must hand on all of an object.

Everyone else works with structs that hold what a scheduler reads.  Extenders get whole pods and nodes, so with
extenders configured ``app`` lets the informers of both keep the JSON too, here, for ``kube.extender``.
"""

from __future__ import annotations

import msgspec

from bayplan.objects.meta import ApiObject
from bayplan.objects.node import Node
from bayplan.objects.pod import Pod

_FIELDS = msgspec.json.Decoder(dict[str, msgspec.Raw])


class Originals:
    """
    The JSON of pods that wait for a node; on request also of nodes and of pods that have one.

    Of what is not there (any more) as much is written anew as is known: less of it, but nothing wrong.
    """

    def __init__(self, *, nodes: bool = False, placed_pods: bool = False) -> None:
        self._with_nodes = nodes
        self._with_placed = placed_pods
        self._pods: dict[str, bytes] = {}
        self._nodes: dict[str, bytes] = {}

    def keep(self, thing: ApiObject, raw: msgspec.Raw | bytes) -> None:
        """The object was listed or changed."""
        if isinstance(thing, Node) and thing.name and self._with_nodes:
            self._nodes[thing.name] = _stripped(raw)
        elif isinstance(thing, Pod) and thing.uid:
            if self._with_placed or not thing.node_name:
                self._pods[thing.uid] = _stripped(raw)
            else:
                self._pods.pop(thing.uid, None)

    def drop(self, thing: ApiObject) -> None:
        """The object is gone."""
        if isinstance(thing, Node):
            self._nodes.pop(thing.name, None)
        else:
            self._pods.pop(thing.uid, None)

    def pod(self, pod: Pod) -> bytes:
        return self._pods.get(pod.uid) or msgspec.json.encode(pod)

    def node(self, name: str) -> bytes:
        return self._nodes.get(name) or msgspec.json.encode({"metadata": {"name": name}})


def _stripped(raw: msgspec.Raw | bytes) -> bytes:
    """Without type, which follows from its place, and without the bookkeeping of who wrote which field."""
    fields = _FIELDS.decode(raw)
    fields.pop("apiVersion", None)
    fields.pop("kind", None)
    metadata = _FIELDS.decode(fields.get("metadata", b"{}"))
    if metadata.pop("managedFields", None) is not None:
        fields["metadata"] = msgspec.Raw(msgspec.json.encode(metadata))
    return msgspec.json.encode(fields)

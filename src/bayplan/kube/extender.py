"""
HttpExtender: an extender over HTTP, with kube-scheduler's wire.  Implements ``framework.ports.Extender``.

Every call is one POST of JSON whose fields are named as in Go (``Pod``, ``NodeNames``).  Answers may write those
names in any case, as Go's reader has it.  ``app.scheduler.extenders`` makes one for each entry of the configuration.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Annotated, Any

import msgspec

from bayplan.errors import ExtenderError, TransportError
from bayplan.kube.originals import Originals
from bayplan.kube.transport import Transport
from bayplan.objects.extender import Filtered, VictimIds, Victims
from bayplan.objects.pod import Pod

_HEADERS = {"Content-Type": "application/json"}
_NULL = msgspec.Raw(b"null")
_Int64 = Annotated[int, msgspec.Meta(ge=-(2**63), le=2**63 - 1)]


@dataclass(frozen=True, slots=True)
class ExtenderSettings:
    """One entry of ``extenders`` in the configuration, but for how to connect."""

    url_prefix: str
    filter_verb: str = ""
    prioritize_verb: str = ""
    preempt_verb: str = ""
    bind_verb: str = ""
    weight: int = 0
    timeout_s: float = 5.0
    node_cache_capable: bool = False
    managed_resources: frozenset[str] = frozenset()
    is_ignorable: bool = False


class _Meta(msgspec.Struct):
    name: str = ""


class _Named(msgspec.Struct):
    metadata: _Meta


class HttpExtender:
    """One extender.  ``originals`` has the whole objects that it is shown."""

    def __init__(self, settings: ExtenderSettings, transport: Transport, originals: Originals) -> None:
        self._settings = settings
        self._transport = transport
        self._originals = originals
        self.name = settings.url_prefix
        self.weight = settings.weight
        self.is_ignorable = settings.is_ignorable
        self.filters = bool(settings.filter_verb)
        self.prioritizes = bool(settings.prioritize_verb)
        self.preempts = bool(settings.preempt_verb)
        self.binds = bool(settings.bind_verb)

    def is_interested(self, pod: Pod) -> bool:
        """In every pod, or in those with a container that asks for a resource it manages."""
        managed = self._settings.managed_resources
        if not managed:
            return True
        for container in (*pod.containers, *pod.init_containers):
            resources = container.resources
            if not managed.isdisjoint(resources.requests or ()) or not managed.isdisjoint(resources.limits or ()):
                return True
        return False

    async def close(self) -> None:
        await self._transport.close()

    # -- the four verbs --

    async def filter(self, pod: Pod, node_names: Sequence[str]) -> Filtered:
        fields = _fields(await self._post(self._settings.filter_verb, self._args(pod, node_names)))
        if problem := _read(fields, "Error", str | None):
            raise ExtenderError(problem)
        passed = self._passed(fields)
        asked = set(node_names)
        for name in passed:
            if name not in asked:
                raise ExtenderError(
                    f'extender "{self.name}" claims a filtered node "{name}" which is not found in the input node list'
                )
        failed = _read(fields, "FailedNodes", dict[str, str] | None) or {}
        unresolvable = _read(fields, "FailedAndUnresolvableNodes", dict[str, str] | None) or {}
        return Filtered(passed, failed, unresolvable)

    async def prioritize(self, pod: Pod, node_names: Sequence[str]) -> Sequence[tuple[str, int]]:
        answer = await self._post(self._settings.prioritize_verb, self._args(pod, node_names))
        entries = _decode(answer, list[dict[str, msgspec.Raw]] | None) or ()
        lowered = (_lowered(entry) for entry in entries)
        return [(_read(each, "Host", str | None) or "", _read(each, "Score", _Int64 | None) or 0) for each in lowered]

    async def preempt(self, pod: Pod, victims: Mapping[str, Victims]) -> Mapping[str, VictimIds]:
        answer = _fields(await self._post(self._settings.preempt_verb, self._preemption_args(pod, victims)))
        by_node = _read(answer, "NodeNameToMetaVictims", dict[str, dict[str, msgspec.Raw] | None] | None) or {}
        return {name: _victim_ids(_lowered(named or {})) for name, named in by_node.items()}

    async def bind(self, pod: Pod, node_name: str) -> None:
        args = {"PodName": pod.name, "PodNamespace": pod.namespace, "PodUID": pod.uid, "Node": node_name}
        answer = _fields(await self._post(self._settings.bind_verb, args))
        if problem := _read(answer, "Error", str | None):
            raise ExtenderError(problem)

    # -- what is sent --

    def _args(self, pod: Pod, node_names: Sequence[str]) -> dict[str, Any]:
        """Whole nodes, or their names alone for an extender that knows the nodes itself."""
        args: dict[str, Any] = {"Pod": msgspec.Raw(self._originals.pod(pod)), "Nodes": None, "NodeNames": None}
        if self._settings.node_cache_capable:
            args["NodeNames"] = node_names
        else:
            items = [msgspec.Raw(self._originals.node(name)) for name in node_names]
            args["Nodes"] = {"metadata": {}, "items": items}
        return args

    def _preemption_args(self, pod: Pod, victims: Mapping[str, Victims]) -> dict[str, Any]:
        knows = self._settings.node_cache_capable
        listed = {
            name: {"Pods": self._described(one.pods, knows), "NumPDBViolations": one.pdb_violations}
            for name, one in victims.items()
        }
        return {
            "Pod": msgspec.Raw(self._originals.pod(pod)),
            "NodeNameToVictims": None if knows else listed,
            "NodeNameToMetaVictims": listed if knows else None,
        }

    def _described(self, pods: Iterable[Pod], by_uid: bool) -> list[Any]:
        return [{"UID": pod.uid} if by_uid else msgspec.Raw(self._originals.pod(pod)) for pod in pods]

    async def _post(self, verb: str, args: Any) -> bytes:
        settings = self._settings
        url = f"{settings.url_prefix.rstrip('/')}/{verb}"
        try:
            answer = await self._transport.request(
                "POST", f"/{verb}", body=msgspec.json.encode(args), headers=_HEADERS, timeout_s=settings.timeout_s
            )
        except TransportError as error:
            raise ExtenderError(f'Post "{url}": {str(error).partition(": ")[2] or error}') from error
        if answer.status != 200:
            raise ExtenderError(f"failed {verb} with extender at URL {url}, code {answer.status}")
        return answer.body

    # -- what comes back --

    def _passed(self, fields: Mapping[str, msgspec.Raw]) -> tuple[str, ...]:
        if self._settings.node_cache_capable:
            names: tuple[str, ...] | None = _read(fields, "NodeNames", tuple[str, ...] | None)
            if names is not None:
                return names
        nodes = _read(fields, "Nodes", dict[str, msgspec.Raw] | None)
        items: list[_Named] = _read(_lowered(nodes or {}), "items", list[_Named] | None) or []
        return tuple(node.metadata.name for node in items)


def _fields(body: bytes) -> dict[str, msgspec.Raw]:
    return _lowered(_decode(body, dict[str, msgspec.Raw] | None) or {})


def _lowered(fields: Mapping[str, msgspec.Raw]) -> dict[str, msgspec.Raw]:
    return {name.lower(): value for name, value in fields.items()}


def _read(fields: Mapping[str, msgspec.Raw], name: str, kind: Any) -> Any:
    return _decode(fields.get(name.lower(), _NULL), kind, name)


def _victim_ids(fields: Mapping[str, msgspec.Raw]) -> VictimIds:
    pods = _read(fields, "Pods", list[dict[str, msgspec.Raw]] | None) or ()
    uids = tuple(_read(_lowered(pod), "UID", str | None) or "" for pod in pods)
    return VictimIds(uids, _read(fields, "NumPDBViolations", _Int64 | None) or 0)


def _decode(raw: bytes | msgspec.Raw, kind: Any, name: str = "the answer") -> Any:
    try:
        return msgspec.json.decode(raw, type=kind)
    except msgspec.MsgspecError as error:
        raise ExtenderError(f"the extender's answer makes no sense: {name}: {error}") from error

"""
What the scheduler writes to objects that are not pods: ``ApiWriter`` is one of these, with pods added.

A write whose answer was lost may have got through; it is settled by reading, never by guessing.
"""

from __future__ import annotations

import random
from abc import ABC, abstractmethod
from collections.abc import Callable, Coroutine
from typing import Any

import msgspec

from bayplan.errors import ConflictError, NotFoundError, TransportError, UnprocessableError
from bayplan.kube.client import JSON, MERGE_PATCH, STRATEGIC_PATCH, path_of
from bayplan.kube.transport import Response
from bayplan.objects import kinds
from bayplan.objects.devices.resource_claim import ResourceClaim
from bayplan.objects.meta import ApiObject

_ALPHABET = "bcdfghjklmnpqrstvwxz2456789"
_SUFFIX, _LONGEST_PREFIX = 5, 58
"""As an API server would end a generated name, and how much of what goes before it would keep."""


class ObjectWrites(ABC):
    """Patches, creates and deletes, through the connection that a subclass has."""

    async def patch(
        self,
        kind: str,
        namespace: str,
        name: str,
        patch: dict[str, Any],
        resource_version: str = "",
        subresource: str = "",
    ) -> str:
        """A merge patch, with the resource version as precondition; gives the version that holds it then."""
        known = kinds.named(kind)
        path = path_of(known, namespace, name)
        place = path_of(known, namespace, name, subresource)
        body = patch
        if resource_version:
            body = patch | {"metadata": {**patch.get("metadata", {}), "resourceVersion": resource_version}}
        version = ""

        async def once() -> None:
            nonlocal version
            try:
                sent = await self._send("PATCH", place, body, content_type=MERGE_PATCH)
                answer = msgspec.json.decode(sent.body)
            except (ConflictError, TransportError) as error:
                # An earlier try may have got through, though its answer did not.
                answer = await self._read(path)
                if not says(answer, patch):
                    raise error
            version = answer["metadata"]["resourceVersion"]

        await self._patiently(once)
        return version

    async def create(self, thing: ApiObject) -> ApiObject:
        """Where it says generateName the name is made here, so that a second try makes no second object."""
        kind = kinds.find(kinds.api_version_of(thing), kinds.kind_of(thing))
        assert kind is not None, f"{type(thing).__name__} is not registered"
        body = msgspec.to_builtins(thing) | {"apiVersion": kind.api_version, "kind": kind.name}
        meta = body["metadata"]
        if not meta.get("name"):
            end = "".join(random.choices(_ALPHABET, k=_SUFFIX))
            meta["name"] = f"{meta['generateName'][:_LONGEST_PREFIX]}{end}"
        answer: Any = None
        is_retry = False

        async def once() -> None:
            nonlocal answer, is_retry
            try:
                sent = await self._send("POST", path_of(kind, thing.namespace), body)
                answer = msgspec.json.decode(sent.body)
            except ConflictError as error:
                answer = await self._read(path_of(kind, thing.namespace, meta["name"])) if is_retry else None
                if not says(answer, body):
                    raise error
            except TransportError:
                is_retry = True
                raise

        await self._patiently(once)
        made: ApiObject = kinds.convert(answer, kind.struct)
        return made

    async def delete(self, thing: ApiObject) -> None:
        """With the UID as precondition; what is gone already is no error."""
        kind = kinds.named(kinds.kind_of(thing))
        options = {"preconditions": {"uid": thing.uid}}

        async def once() -> None:
            try:
                await self._send("DELETE", path_of(kind, thing.namespace, thing.name), options)
            except (NotFoundError, ConflictError):
                # It is gone, or the name is another one's by now: what was wanted either way.
                return

        await self._patiently(once)

    async def read(self, kind: str, namespace: str, name: str) -> ApiObject:
        """The object as the API server has it now, however far behind the watch is."""
        known = kinds.named(kind)
        found: Any = None

        async def once() -> None:
            nonlocal found
            found = await self._get(path_of(known, namespace, name))

        await self._patiently(once)
        made: ApiObject = kinds.convert(found, known.struct)
        return made

    async def release_claim(self, claim: ResourceClaim, consumer_uid: str) -> None:
        """Only this consumer is taken off the list, so it does not matter who else changed the claim meanwhile."""
        path = path_of(kinds.named("ResourceClaim"), claim.namespace, claim.name, "status")
        gone = [{"$patch": "delete", "uid": consumer_uid}]
        body = {"metadata": {"uid": claim.uid}, "status": {"reservedFor": gone}}

        async def once() -> None:
            try:
                await self._send("PATCH", path, body, content_type=STRATEGIC_PATCH)
            except NotFoundError:
                return
            except UnprocessableError as error:
                # How the API server says that a uid in a patch is not the object's: the claim was made anew.
                if "metadata.uid" not in error.message:
                    raise

        await self._patiently(once)

    @abstractmethod
    async def _send(
        self, method: str, path: str, body: Any, *, content_type: str = JSON, timeout_s: float = ...
    ) -> Response: ...

    @abstractmethod
    async def _get(self, path: str) -> Any: ...

    @abstractmethod
    async def _read(self, path: str) -> Any: ...

    @abstractmethod
    async def _patiently(self, once: Callable[[], Coroutine[Any, Any, None]]) -> None: ...


def says(value: Any, patch: Any) -> bool:
    """Does an object say already what a merge patch would make it say?"""
    if isinstance(patch, dict):
        return isinstance(value, dict) and all(says(value.get(key), part) for key, part in patch.items())
    if isinstance(patch, list | tuple):
        return (
            isinstance(value, list)
            and len(value) == len(patch)
            and all(says(each, part) for each, part in zip(value, patch, strict=True))
        )
    return bool(value == patch)

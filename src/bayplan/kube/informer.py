"""
Informer: the objects of one kind, listed once and then followed by watching.

Lists in pages, watches with bookmarks, and after an outage or "410 Gone" lists again and tells only the
differences, deletions included, so nothing is missed and nothing is told twice.  A watch that falls silent is
given up: the API server sends a bookmark about every minute.  ``app`` starts one for each kind it needs.
"""

from __future__ import annotations

import asyncio
import random
from collections.abc import Callable
from typing import Any, Generic, TypeVar

import msgspec
import structlog

from bayplan.errors import ApiError, BayplanError, ForbiddenError, GoneError, NotFoundError, TransportError
from bayplan.kube.client import Client, path_of
from bayplan.objects.kinds import Kind
from bayplan.objects.meta import ApiObject

log = structlog.get_logger()

T = TypeVar("T", bound=ApiObject)

PAGE = "500"
FIRST_BACKOFF_S = 0.2
MAX_BACKOFF_S = 10.0
SILENCE_S = 150.0
# The server ends a watch after this long; spread, so that not all of them end at once.
WATCH_S = (300, 600)


class _ListMeta(msgspec.Struct, rename="camel"):
    resource_version: str = ""
    continue_: str = msgspec.field(default="", name="continue")


class _List(msgspec.Struct):
    metadata: _ListMeta = msgspec.field(default_factory=_ListMeta)
    items: list[msgspec.Raw] | None = None


class _Line(msgspec.Struct):
    type: str
    object: msgspec.Raw


class _Status(msgspec.Struct):
    code: int = 0
    message: str = ""


class Informer(Generic[T]):
    """Follows one kind and tells three callbacks what came, changed and went."""

    def __init__(
        self,
        client: Client,
        kind: Kind,
        *,
        added: Callable[[T], None],
        changed: Callable[[T, T], None],
        deleted: Callable[[T], None],
        field_selector: str = "",
        silence_s: float = SILENCE_S,
        essential: bool = False,
    ) -> None:
        self._client = client
        self.kind = kind
        self._added = added
        self._changed = changed
        self._deleted = deleted
        self._selector = {"fieldSelector": field_selector} if field_selector else {}
        self._silence_s = silence_s
        self._essential = essential
        self._decoder: msgspec.json.Decoder[T] = msgspec.json.Decoder(kind.struct)
        self._lists: msgspec.json.Decoder[_List] = msgspec.json.Decoder(_List)
        self._lines: msgspec.json.Decoder[_Line] = msgspec.json.Decoder(_Line)
        self._path = path_of(kind)
        self._known: dict[str, T] = {}
        self._version = ""
        self.synced = asyncio.Event()
        self.refused: str = ""
        """Why the API server does not let us read this kind, while it does not."""
        self.bad_objects = 0

    def objects(self) -> list[T]:
        return list(self._known.values())

    async def run(self) -> None:
        """For ever: list, watch, and list again when the watch cannot go on."""
        backoff = FIRST_BACKOFF_S
        while True:
            try:
                if not self._version:
                    await self._list()
                    backoff = FIRST_BACKOFF_S
                if await self._watch():
                    backoff = FIRST_BACKOFF_S
                    continue
            except GoneError:
                self._version = ""
            except (ForbiddenError, NotFoundError) as error:
                self._refuse(error)
                backoff = MAX_BACKOFF_S
            except (ApiError, TransportError) as error:
                log.warning("watch broke", kind=self.kind.name, error=str(error))
            except msgspec.MsgspecError as error:
                log.warning("answer not understood", kind=self.kind.name, error=str(error))
                self._version = ""
            await asyncio.sleep(backoff * random.uniform(0.5, 1.5))
            backoff = min(backoff * 2, MAX_BACKOFF_S)

    # -- list --

    async def _list(self) -> None:
        listed: dict[str, T] = {}
        token, version = "", ""
        while True:
            params = {"limit": PAGE, **self._selector}
            if token:
                params["continue"] = token
            page = self._lists.decode(await self._client.get_raw(self._path, params))
            for raw in page.items or ():
                value = self._decode(raw)
                if value is not None:
                    listed[value.uid] = value
            token, version = page.metadata.continue_, page.metadata.resource_version
            if not token:
                break
            await asyncio.sleep(0)
        self._replace(listed)
        self._version = version
        self.refused = ""
        self.synced.set()

    def _replace(self, listed: dict[str, T]) -> None:
        """Tell the differences between what we knew and what there is."""
        for uid in [uid for uid in self._known if uid not in listed]:
            self._forget(uid)
        for value in listed.values():
            self._learn(value)

    # -- watch --

    async def _watch(self) -> bool:
        """Follow until the server ends the watch; true if anything was heard."""
        params = {
            "watch": "true",
            "allowWatchBookmarks": "true",
            "resourceVersion": self._version,
            "timeoutSeconds": str(random.randint(*WATCH_S)),
            **self._selector,
        }
        heard = False
        async for raw in self._client.watch(self._path, params, self._silence_s):
            heard = True
            self._follow(raw)
        return heard

    def _follow(self, raw: bytes) -> None:
        line = self._lines.decode(raw)
        if line.type == "ERROR":
            status = msgspec.json.decode(line.object, type=_Status)
            if status.code == 410:
                raise GoneError(410, status.message, path=self._path)
            raise ApiError(status.code, status.message, path=self._path)
        value = self._decode(line.object)
        if value is None:
            return
        self._version = value.metadata.resource_version or self._version
        if line.type == "BOOKMARK":
            return
        if line.type == "DELETED":
            known = self._known.pop(value.uid, None)
            if known is not None:
                self._tell(self._deleted, value)
        else:
            self._learn(value)

    def _decode(self, raw: msgspec.Raw) -> T | None:
        """An object, or ``None`` for one that makes no sense: it must not stop the others."""
        try:
            return self._decoder.decode(raw)
        except msgspec.MsgspecError as error:
            self.bad_objects += 1
            start = bytes(raw)[:120].decode("utf-8", "replace")
            log.error("object left out", kind=self.kind.name, error=str(error), start=start)
            return None

    # -- telling --

    def _learn(self, value: T) -> None:
        known = self._known.get(value.uid)
        self._known[value.uid] = value
        if known is None:
            self._tell(self._added, value)
        elif known.metadata.resource_version != value.metadata.resource_version:
            self._tell(self._changed, known, value)

    def _forget(self, uid: str) -> None:
        self._tell(self._deleted, self._known.pop(uid))

    def _tell(self, callback: Callable[..., None], *values: Any) -> None:
        """One object that upsets the engine must not end the watch."""
        try:
            callback(*values)
        except (BayplanError, ValueError, KeyError, TypeError) as error:
            self.bad_objects += 1
            log.error("object refused", kind=self.kind.name, object=values[-1].key, error=str(error))

    def _refuse(self, error: ApiError) -> None:
        self._version = ""
        verb = "list and watch"
        self.refused = (
            f"cannot {verb} {self.kind.plural} ({error.message}); "
            f'add to the ClusterRole: apiGroups: ["{self.kind.group}"], resources: ["{self.kind.plural}"], '
            f'verbs: ["list", "watch"]'
        )
        log.error("kind not readable", kind=self.kind.name, reason=self.refused)
        if not self._essential:
            # What cannot be read must not hold the scheduler up; the feature that needs it goes without.
            self.synced.set()

"""
Informer: the objects of one kind, listed once and then followed by watching.

Lists in pages, watches with bookmarks, and after "410 Gone" lists again and tells only the differences,
deletions included, so nothing is missed and nothing is told twice.  ``kube.watching`` finds out whether a watch that
says nothing is quiet or dead.  Of every object only the struct is kept.  ``app`` starts one informer for each kind it
needs.
"""

from __future__ import annotations

import asyncio
import random
from collections.abc import Callable
from typing import Any, Generic, TypeVar

import msgspec
import structlog

from bayplan.backoff import Backoff
from bayplan.errors import (
    ApiError,
    ForbiddenError,
    GoneError,
    NotFoundError,
    PluginError,
    TooManyRequestsError,
    TransportError,
)
from bayplan.kube.client import Client, path_of
from bayplan.kube.watching import SILENCE_S as SILENCE_S
from bayplan.kube.watching import Watch
from bayplan.kube.wire import Line, List, Status, is_older, named
from bayplan.objects.kinds import Kind, decoder
from bayplan.objects.meta import ApiObject

log = structlog.get_logger()

T = TypeVar("T", bound=ApiObject)

PAGE = 500
FIRST_BACKOFF_S = 0.2
# Not longer: when the API server is back, pods wait for us.
MAX_BACKOFF_S = 3.0
# A kind that is refused stays so until a role is changed.
REFUSED_BACKOFF_S = 15.0
# A kind that is not served at all stays so until the API server is started with other options.
ABSENT_BACKOFF_S = 300.0
# The server ends a watch after this long; spread, so that not all of them end at once.
WATCH_S = (300, 600)
# Between two complaints about the same trouble.
COMPLAIN_S = 60.0
# A watch that ended sooner than this did not work, whatever it said.
SHORT_S = 1.0


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
        keep: Callable[[T, msgspec.Raw], None] | None = None,
        refusal: Callable[[str], None] = lambda why: None,
    ) -> None:
        self._client = client
        self.kind = kind
        self._added = added
        self._changed = changed
        self._deleted = deleted
        self._selector = {"fieldSelector": field_selector} if field_selector else {}
        self._silence_s = silence_s
        self._essential = essential
        self._keep = keep
        """Who wants the JSON too, before the callbacks are told."""
        self._refusal = refusal
        """Who wants to know that the kind cannot be read, and why; "" when it can again."""
        self._made: Callable[[msgspec.Raw], T] = decoder(kind)
        self._lists = msgspec.json.Decoder(List)
        self._lines = msgspec.json.Decoder(Line)
        self._path = path_of(kind)
        self._known: dict[str, T] = {}
        self._bad: set[str] = set()
        self._version = ""
        self._page = PAGE
        self._backoff = Backoff(FIRST_BACKOFF_S, MAX_BACKOFF_S)
        self._complained_at = float("-inf")
        self.synced = asyncio.Event()
        self.refused = ""
        """Why the API server does not let us read this kind, while it does not."""
        self.bad_objects = 0
        """Objects that could not be understood, or that upset their receiver."""
        self.lists = 0
        self.watches = 0

    def objects(self) -> list[T]:
        return list(self._known.values())

    @property
    def is_listing(self) -> bool:
        """Is what is told now found by listing?  Then the order in which it happened is not known."""
        return not self._version

    async def run(self) -> None:
        """For ever: list, watch, and list again when the watch cannot go on."""
        while True:
            wait = 0.0
            try:
                if not self._version:
                    await self._list()
                if await self._watch():
                    self._backoff.succeeded()
                    continue
            except GoneError:
                log.info("listing again", kind=self.kind.name, reason="the watch fell too far behind")
                self._version = ""
            except (ForbiddenError, NotFoundError) as error:
                if self.kind.is_optional and not await self._is_served():
                    self._go_without()
                    wait = ABSENT_BACKOFF_S
                else:
                    self._refuse(error)
                    wait = REFUSED_BACKOFF_S
            except TooManyRequestsError as error:
                wait = error.retry_after_s or 0.0
            except (ApiError, TransportError) as error:
                self._complain(error)
            except msgspec.MsgspecError as error:
                log.warning("answer not understood", kind=self.kind.name, error=str(error))
                self._version = ""
            await asyncio.sleep(max(wait, self._backoff.failed()) * random.uniform(0.5, 1.5))

    # -- list --

    async def _list(self) -> None:
        listed: dict[str, T] = {}
        params = {"limit": str(self._page), **self._selector} if self._page else dict(self._selector)
        while True:
            try:
                page = self._lists.decode(await self._client.get_raw(self._path, params))
            except GoneError:
                # The pages took longer than the server remembers; all at once then.
                self._page = 0
                raise
            for raw in page.items or ():
                value = self._decode(raw) or self._known.get(named(raw).uid)
                if value is not None:
                    listed[value.uid] = value
                    if self._keep is not None:
                        self._keep(value, raw)
            if not page.metadata.continue_:
                break
            params["continue"] = page.metadata.continue_
            await asyncio.sleep(0)
        await self._replace(listed)
        self._version = page.metadata.resource_version
        self._page = PAGE
        self.lists += 1
        if self.refused:
            log.info("kind readable again", kind=self.kind.name)
            self.refused = ""
            self._refusal("")
        self.synced.set()

    async def _replace(self, listed: dict[str, T]) -> None:
        """Tell the differences between what we knew and what there is; others get their turn in between."""
        gone = [uid for uid in self._known if uid not in listed]
        for number, uid in enumerate(gone, 1):
            self._tell(self._deleted, self._known.pop(uid))
            if number % PAGE == 0:
                await asyncio.sleep(0)
        for number, value in enumerate(listed.values(), 1):
            self._learn(value)
            if number % PAGE == 0:
                await asyncio.sleep(0)

    # -- watch --

    async def _watch(self) -> bool:
        """Follow until the server ends the watch; true if that took about as long as it should."""
        params = {
            "watch": "true",
            "timeoutSeconds": str(random.randint(*WATCH_S)),
            **self._selector,
        }
        now = asyncio.get_running_loop().time
        started = now()
        self.watches += 1
        watch = Watch(self._client, self._path, params, lambda: self._version, self._silence_s)
        async with watch.lines() as lines:
            async for raw in lines:
                self._follow(raw)
                self._backoff.succeeded()
        return now() - started > SHORT_S

    def _follow(self, raw: bytes) -> None:
        line = self._lines.decode(raw)
        if line.type == "ERROR":
            status = msgspec.json.decode(line.object, type=Status)
            family = GoneError if status.code == 410 else ApiError
            raise family(status.code, status.message, method="WATCH", path=self._path)
        value = self._decode(line.object)
        meta = value.metadata if value is not None else named(line.object)
        if not is_older(meta.resource_version, self._version):
            self._version = meta.resource_version
        if line.type == "DELETED":
            known = self._known.pop(meta.uid, None)
            if known is not None:
                self._tell(self._deleted, value or known)
        elif line.type != "BOOKMARK" and value is not None and not self._is_old_news(value):
            if self._keep is not None:
                self._keep(value, line.object)
            self._learn(value)

    def _is_old_news(self, value: T) -> bool:
        """A server that lags behind the one asked before may tell of the past."""
        known = self._known.get(value.uid)
        return known is not None and is_older(value.metadata.resource_version, known.metadata.resource_version)

    def _decode(self, raw: msgspec.Raw) -> T | None:
        """An object, or ``None`` for one that makes no sense: it must not stop the others."""
        try:
            return self._made(raw)
        except msgspec.MsgspecError as error:
            meta = named(raw)
            self.bad_objects += 1
            if meta.uid not in self._bad:
                self._bad.add(meta.uid)
                key = f"{meta.namespace}/{meta.name}" if meta.namespace else meta.name
                log.error("object left out", kind=self.kind.name, object=key, error=str(error))
            return None

    # -- telling --

    def _learn(self, value: T) -> None:
        known = self._known.get(value.uid)
        self._known[value.uid] = value
        if known is None:
            self._tell(self._added, value)
        elif known.metadata.resource_version != value.metadata.resource_version:
            self._tell(self._changed, known, value)

    def _tell(self, callback: Callable[..., None], *values: Any) -> None:
        """One object that upsets its receiver must not end the watch."""
        try:
            callback(*values)
        except PluginError as error:
            self.bad_objects += 1
            log.error("object refused", kind=self.kind.name, object=values[-1].key, error=str(error))
        except Exception as error:
            self.bad_objects += 1
            log.error("object refused", kind=self.kind.name, object=values[-1].key, error=repr(error), exc_info=True)

    def _complain(self, error: Exception) -> None:
        """Once a minute while it lasts: there is one of us for every kind."""
        now = asyncio.get_running_loop().time()
        if now - self._complained_at > COMPLAIN_S:
            self._complained_at = now
            log.warning("watch broke", kind=self.kind.name, error=str(error))

    async def _is_served(self) -> bool:
        """Does the API server have the kind?  Who may not read it is told the same as if it were not there."""
        try:
            resources = await self._client.get(f"/apis/{self.kind.api_version}")
            return any(each.get("name") == self.kind.plural for each in resources.get("resources") or ())
        except NotFoundError:
            return False
        except (ApiError, TransportError):
            return True

    def _go_without(self) -> None:
        self._version = ""
        if not self.synced.is_set():
            log.info("kind not served", kind=self.kind.name, version=self.kind.api_version)
            self.synced.set()

    def _refuse(self, error: ApiError) -> None:
        kind = self.kind
        self._version = ""
        if isinstance(error, NotFoundError):
            refused = f"the API server has no {kind.plural} in {kind.api_version}: goes on without them"
        else:
            refused = (
                f"may not list and watch {kind.plural} ({error.message}); add to the ClusterRole: "
                f'apiGroups: ["{kind.group}"], resources: ["{kind.plural}"], verbs: ["list", "watch"]'
            )
        if refused != self.refused:
            self.refused = refused
            log.error("kind not readable", kind=kind.name, reason=refused)
            self._refusal(refused)
        if not self._essential:
            # What cannot be read must not hold the scheduler up; the feature that needs it goes without.
            self.synced.set()

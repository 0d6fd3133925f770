"""
Leader election on a Lease: at most one replica schedules.

Expiry is judged by when *we* last saw the lease change, on our own monotonic clock, never by comparing clocks
of two machines.  A leader stops writing before others may take over: ``is_leader`` turns false at
``renew_deadline_s`` after the last successful renewal was *asked for*, and others wait ``lease_s`` from when
they saw it.  ``app.scheduler.live`` calls ``acquire``, then keeps ``hold`` running, and at the end ``release``.
"""

from __future__ import annotations

import asyncio
import math
import random
import time
from collections.abc import Callable
from typing import Any

import structlog

from bayplan.errors import ApiError, ConflictError, LeadershipLostError, NotFoundError, TransportError
from bayplan.kube.client import Client
from bayplan.objects.times import format_micro_time

log = structlog.get_logger()


def running_time() -> float:
    """Seconds that also count while the machine sleeps: a laptop or VM that was suspended must notice."""
    return time.clock_gettime(time.CLOCK_BOOTTIME) if hasattr(time, "CLOCK_BOOTTIME") else time.monotonic()


class LeaderElection:
    """Takes, renews and gives back one lease."""

    def __init__(
        self,
        client: Client,
        *,
        identity: str,
        namespace: str = "kube-system",
        name: str = "bayplan-scheduler",
        lease_s: float = 15.0,
        renew_deadline_s: float = 10.0,
        retry_s: float = 2.0,
        monotonic: Callable[[], float] = running_time,
    ) -> None:
        self._client = client
        self.identity = identity
        self.name = name
        self._collection = f"/apis/coordination.k8s.io/v1/namespaces/{namespace}/leases"
        self._path = f"{self._collection}/{name}"
        self._meta = {"name": name, "namespace": namespace}
        self._lease_s = lease_s
        self.renew_deadline_s = renew_deadline_s
        self._retry_s = retry_s
        self._monotonic = monotonic
        self._seen: tuple[str, str] | None = None
        self._seen_at = 0.0
        self._renewed_at: float | None = None

    def is_leader(self) -> bool:
        """May we write now?  False well before another replica may take over."""
        return self._renewed_at is not None and self._monotonic() - self._renewed_at < self.renew_deadline_s

    @property
    def holder(self) -> str:
        """Who led when we last looked."""
        return self._seen[0] if self._seen else ""

    async def acquire(self) -> None:
        """Wait until we lead."""
        told = ""
        while not await self._try():
            if self._held_by_another() and self.holder != told:
                told = self.holder
                log.info("waiting for the lease", lease=self.name, holder=told)
            await asyncio.sleep(self._retry_s * random.uniform(1.0, 1.2))
        log.info("leading", identity=self.identity, lease=self.name)

    async def hold(self) -> None:
        """Renew until that fails for too long; then ``LeadershipLostError``."""
        while True:
            await asyncio.sleep(self._retry_s)
            if await self._try():
                continue
            if self._held_by_another() or not self.is_leader():
                self._renewed_at = None
                raise LeadershipLostError(f"lost the lease {self.name}: {self._why()}")

    async def release(self) -> None:
        """Give the lease back at once, so that the next replica need not wait."""
        if self._renewed_at is None:
            return
        self._renewed_at = None
        try:
            lease = await self._read()
            if lease is None or _holder(lease) != self.identity:
                return
            spec = {**lease["spec"], "holderIdentity": "", "leaseDurationSeconds": 1, "renewTime": _now()}
            await self._client.replace(self._path, {**lease, "spec": spec}, timeout_s=self._retry_s)
        except (ApiError, TransportError) as error:
            log.warning("lease not released", error=str(error))
        else:
            log.info("lease released", lease=self.name)

    async def _try(self) -> bool:
        """Take or renew the lease if it is free, ours or expired."""
        asked_at = self._monotonic()
        try:
            lease = await self._read()
            if lease is not None:
                self._observe(lease)
                if not self._may_take(lease):
                    return False
            lease = await self._write(lease)
        except ConflictError:
            return False
        except (ApiError, TransportError) as error:
            log.warning("lease request failed", error=str(error))
            return False
        self._observe(lease)
        self._renewed_at = asked_at
        return True

    async def _read(self) -> dict[str, Any] | None:
        try:
            lease: dict[str, Any] = await self._client.get(self._path, timeout_s=self._timeout_s)
        except NotFoundError:
            return None
        return lease

    async def _write(self, lease: dict[str, Any] | None) -> dict[str, Any]:
        if lease is None:
            written = await self._client.create(self._collection, self._fresh(), timeout_s=self._timeout_s)
        else:
            written = await self._client.replace(self._path, self._renewed(lease), timeout_s=self._timeout_s)
        answer: dict[str, Any] = written
        return answer

    @property
    def _timeout_s(self) -> float:
        """Two requests and a pause must fit between the first failure and the deadline, several times over."""
        return max(self._retry_s, self.renew_deadline_s / 4)

    @property
    def _whole_seconds(self) -> int:
        """What the API takes; rounded up, since others wait for so long and we promise to stop before."""
        return math.ceil(self._lease_s)

    def _observe(self, lease: dict[str, Any]) -> None:
        seen = (_holder(lease), str((lease.get("spec") or {}).get("renewTime") or ""))
        if seen != self._seen:
            self._seen, self._seen_at = seen, self._monotonic()

    def _may_take(self, lease: dict[str, Any]) -> bool:
        if _holder(lease) in ("", self.identity):
            return True
        duration = float((lease.get("spec") or {}).get("leaseDurationSeconds") or self._lease_s)
        return self._monotonic() - self._seen_at > duration

    def _why(self) -> str:
        if self._held_by_another():
            return f"{self.holder} holds it now"
        return f"it could not be renewed within {self.renew_deadline_s:g} s"

    def _held_by_another(self) -> bool:
        return self.holder not in ("", self.identity)

    def _fresh(self) -> dict[str, Any]:
        now = _now()
        spec = {
            "holderIdentity": self.identity,
            "leaseDurationSeconds": self._whole_seconds,
            "acquireTime": now,
            "renewTime": now,
            "leaseTransitions": 0,
        }
        return {"apiVersion": "coordination.k8s.io/v1", "kind": "Lease", "metadata": self._meta, "spec": spec}

    def _renewed(self, lease: dict[str, Any]) -> dict[str, Any]:
        spec = dict(lease.get("spec") or {})
        if spec.get("holderIdentity") != self.identity:
            spec["acquireTime"] = _now()
            spec["leaseTransitions"] = int(spec.get("leaseTransitions") or 0) + 1
        spec.update(holderIdentity=self.identity, leaseDurationSeconds=self._whole_seconds, renewTime=_now())
        return {**lease, "spec": spec}


def _holder(lease: dict[str, Any]) -> str:
    return str((lease.get("spec") or {}).get("holderIdentity") or "")


def _now() -> str:
    return format_micro_time(time.time())

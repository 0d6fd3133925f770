"""
Leader election on a Lease: at most one replica schedules.

Expiry is judged by when *we* last saw the lease change, on our own monotonic clock, never by comparing clocks
of two machines.  A leader stops writing before others may take over: ``is_leader`` turns false at
``renew_deadline_s`` after the last successful renewal, and others wait ``lease_s``.
"""

from __future__ import annotations

import asyncio
import random
import time
from collections.abc import Callable
from datetime import UTC, datetime
from typing import Any

import structlog

from bayplan.errors import ApiError, ConflictError, LeadershipLostError, NotFoundError, TransportError
from bayplan.kube.client import Client

log = structlog.get_logger()


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
        monotonic: Callable[[], float] = time.monotonic,
    ) -> None:
        self._client = client
        self.identity = identity
        self._collection = f"/apis/coordination.k8s.io/v1/namespaces/{namespace}/leases"
        self._path = f"{self._collection}/{name}"
        self._meta = {"name": name, "namespace": namespace}
        self._lease_s = lease_s
        self._renew_deadline_s = renew_deadline_s
        self._retry_s = retry_s
        self._monotonic = monotonic
        self._seen: tuple[str, str] | None = None
        self._seen_at = 0.0
        self._renewed_at: float | None = None
        self._lease: dict[str, Any] | None = None

    def is_leader(self) -> bool:
        """May we write now?  False well before anybody else may take over."""
        return self._renewed_at is not None and self._monotonic() - self._renewed_at < self._renew_deadline_s

    async def acquire(self) -> None:
        """Wait until we lead."""
        while not await self._try():
            await asyncio.sleep(self._retry_s * random.uniform(1.0, 1.2))
        log.info("leading", identity=self.identity)

    async def hold(self) -> None:
        """Renew until that fails for too long; then ``LeadershipLostError``."""
        while True:
            await asyncio.sleep(self._retry_s)
            try:
                kept = await asyncio.wait_for(self._try(), self._renew_deadline_s)
            except TimeoutError:
                kept = False
            if not kept and (self._held_by_another() or not self.is_leader()):
                self._renewed_at = None
                raise LeadershipLostError(f"lost the lease {self._meta['name']}")

    async def release(self) -> None:
        """Give the lease back at once, so that the next replica need not wait."""
        if self._renewed_at is None or self._lease is None:
            return
        self._renewed_at = None
        spec = {**self._lease["spec"], "holderIdentity": "", "leaseDurationSeconds": 1, "renewTime": _now()}
        try:
            await self._client.replace(self._path, {**self._lease, "spec": spec}, timeout_s=self._retry_s)
        except (ApiError, TransportError) as error:
            log.warning("lease not released", error=str(error))

    async def _try(self) -> bool:
        """Take or renew the lease if it is free, ours or expired."""
        asked_at = self._monotonic()
        try:
            lease = await self._read()
            if lease is None:
                self._lease = await self._client.create(self._collection, self._fresh(), timeout_s=self._retry_s)
            else:
                self._observe(lease)
                if not self._may_take(lease):
                    return False
                self._lease = await self._client.replace(self._path, self._renewed(lease), timeout_s=self._retry_s)
        except ConflictError:
            return False
        except (ApiError, TransportError) as error:
            log.warning("lease request failed", error=str(error))
            return False
        assert self._lease is not None
        self._observe(self._lease)
        # From before the request: the server may have counted from then.
        self._renewed_at = asked_at
        return True

    async def _read(self) -> dict[str, Any] | None:
        try:
            lease: dict[str, Any] = await self._client.get(self._path)
        except NotFoundError:
            return None
        return lease

    def _observe(self, lease: dict[str, Any]) -> None:
        spec = lease.get("spec") or {}
        seen = (str(spec.get("holderIdentity") or ""), str(spec.get("renewTime") or ""))
        if seen != self._seen:
            self._seen, self._seen_at = seen, self._monotonic()

    def _may_take(self, lease: dict[str, Any]) -> bool:
        holder = (lease.get("spec") or {}).get("holderIdentity") or ""
        if holder in ("", self.identity):
            return True
        duration = float((lease.get("spec") or {}).get("leaseDurationSeconds") or self._lease_s)
        return self._monotonic() - self._seen_at > duration

    def _held_by_another(self) -> bool:
        return self._seen is not None and self._seen[0] not in ("", self.identity)

    def _fresh(self) -> dict[str, Any]:
        spec = {
            "holderIdentity": self.identity,
            "leaseDurationSeconds": round(self._lease_s),
            "acquireTime": _now(),
            "renewTime": _now(),
            "leaseTransitions": 0,
        }
        return {"apiVersion": "coordination.k8s.io/v1", "kind": "Lease", "metadata": self._meta, "spec": spec}

    def _renewed(self, lease: dict[str, Any]) -> dict[str, Any]:
        spec = dict(lease.get("spec") or {})
        if spec.get("holderIdentity") != self.identity:
            spec["acquireTime"] = _now()
            spec["leaseTransitions"] = int(spec.get("leaseTransitions") or 0) + 1
        spec.update(
            holderIdentity=self.identity, leaseDurationSeconds=round(self._lease_s), renewTime=_now()
        )
        return {**lease, "spec": spec}


def _now() -> str:
    return datetime.now(UTC).strftime("%Y-%m-%dT%H:%M:%S.%fZ")

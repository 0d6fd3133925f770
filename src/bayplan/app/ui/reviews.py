"""
Asking the API server who a caller is (TokenReview) and what they may list (SubjectAccessReview).

Answers are remembered for some seconds, and no more than so many of them.  Used by ``app.ui.server`` with ``--auth``.
"""

from __future__ import annotations

import asyncio
import time
from collections.abc import Collection, Mapping
from hashlib import sha256
from typing import Any

from bayplan.app.ui.rights import Namespaces, Rights
from bayplan.bounded_cache import BoundedCache
from bayplan.errors import ApiError, TransportError
from bayplan.kube.client import Client
from bayplan.objects.third_party import kosmos, placement

REMEMBER_S = 10.0
# Answers to unknown callers are remembered too, and they can make up any number of tokens.
MOST_REMEMBERED = 1000
MOST_NAMESPACES = 2000
"""Of more namespaces than that, the others are not asked about, and not shown."""
AT_ONCE = 16
UNKNOWN, UNREACHABLE = 401, 503

User = Mapping[str, Any]


class Reviewer:
    """Tells the rights of callers."""

    def __init__(self, client: Client) -> None:
        self._client = client
        self._users: BoundedCache[bytes, tuple[User | int, float]] = BoundedCache(MOST_REMEMBERED)
        self._rights: BoundedCache[tuple[bytes, frozenset[str]], tuple[Rights, float]] = BoundedCache(MOST_REMEMBERED)
        self._slots = asyncio.Semaphore(AT_ONCE)

    async def rights(self, authorization: str, namespaces: Collection[str]) -> Rights | int:
        """What the caller may list of these namespaces; or 401, or 503 if the API server cannot be asked."""
        scheme, _, token = authorization.partition(" ")
        token = token.strip()
        if scheme.lower() != "bearer" or not token:
            return UNKNOWN
        digest = sha256(token.encode()).digest()
        asked = frozenset(sorted(namespaces)[:MOST_NAMESPACES])
        now = time.monotonic()
        known = self._rights.get((digest, asked))
        if known is not None and known[1] > now:
            return known[0]
        try:
            user = await self._user(digest, token)
            if isinstance(user, int):
                return user
            found = await self._ask(user, asked)
        except (ApiError, TransportError):
            return UNREACHABLE
        self._rights[digest, asked] = found, now + REMEMBER_S
        return found

    async def _user(self, digest: bytes, token: str) -> User | int:
        now = time.monotonic()
        known = self._users.get(digest)
        if known is not None and known[1] > now:
            return known[0]
        review = await self._client.create(
            "/apis/authentication.k8s.io/v1/tokenreviews",
            {"apiVersion": "authentication.k8s.io/v1", "kind": "TokenReview", "spec": {"token": token}},
        )
        status = review.get("status") or {}
        user: User | int = (status.get("user") or {}) if status.get("authenticated") else UNKNOWN
        self._users[digest] = user, now + REMEMBER_S
        return user

    async def _ask(self, user: User, namespaces: frozenset[str]) -> Rights:
        nodes, pods, policies, clusters = await asyncio.gather(
            self._may(user, "", "nodes", ""),
            self._where(user, "", "pods", namespaces),
            self._where(user, kosmos.GROUP, "workloadpolicies", namespaces),
            self._may(user, placement.GROUP, "managedclusters", ""),
        )
        # Most clusters are no hub, and most people may not list its clusters: they cost no question for each namespace.
        placements: Namespaces = frozenset()
        if clusters:
            placements = await self._where(user, placement.GROUP, "placements", namespaces)
        return Rights(pods, nodes, policies, placements, clusters)

    async def _where(self, user: User, group: str, resource: str, namespaces: frozenset[str]) -> Namespaces:
        if await self._may(user, group, resource, ""):
            return None
        names = sorted(namespaces)
        allowed = await asyncio.gather(*(self._may(user, group, resource, name) for name in names))
        return frozenset(name for name, is_allowed in zip(names, allowed, strict=True) if is_allowed)

    async def _may(self, user: User, group: str, resource: str, namespace: str) -> bool:
        spec = {
            "user": user.get("username", ""),
            "groups": user.get("groups", []),
            "uid": user.get("uid", ""),
            "extra": user.get("extra", {}),
            "resourceAttributes": {"verb": "list", "group": group, "resource": resource, "namespace": namespace},
        }
        async with self._slots:
            access = await self._client.create(
                "/apis/authorization.k8s.io/v1/subjectaccessreviews",
                {"apiVersion": "authorization.k8s.io/v1", "kind": "SubjectAccessReview", "spec": spec},
            )
        return bool((access.get("status") or {}).get("allowed"))

"""
Where the DynamicSchedulerPolicy comes from: a file, a ConfigMap, or what Crane publishes.

``app.annotator.live`` reads it at the start and then asks now and then whether it changed.  A file that a ConfigMap is
mounted as changes the same way as one that a person edits.
"""

from __future__ import annotations

import asyncio
from dataclasses import dataclass, field

from bayplan.errors import ApiError, ConfigError, InputError, TransportError
from bayplan.kube.client import Client
from bayplan.objects.third_party.crane import DynamicSchedulerPolicy, published_policy
from bayplan.objects.third_party.crane_reading import load_policy, policy_in_config_map


@dataclass(slots=True)
class PolicySource:
    """A file, or a ConfigMap as NAMESPACE/NAME or NAMESPACE/NAME/KEY; with neither, the published policy."""

    file: str = ""
    config_map: str = ""
    _last: DynamicSchedulerPolicy | None = field(default=None, init=False)

    def check(self) -> None:
        """What is wrong before anything is contacted: ``ConfigError``, or ``InputError`` for the file's content."""
        if self.file and self.config_map:
            raise ConfigError("--policy-config-map: there is a file already; remove one of the two")
        if self.config_map and (self.config_map.count("/") not in (1, 2) or "" in self.config_map.split("/")):
            problem = f'"{self.config_map}" is not a ConfigMap; write NAMESPACE/NAME or NAMESPACE/NAME/KEY'
            raise ConfigError(f"--policy-config-map: {problem}")
        if self.file:
            load_policy(self.file)

    async def read(self, client: Client) -> DynamicSchedulerPolicy:
        """The policy as it is now; ``InputError`` with every mistake in it."""
        self._last = await self._read(client)
        return self._last

    async def changed(self, client: Client) -> DynamicSchedulerPolicy | None:
        """The policy if it is another one than last time.  An API server that does not answer changes nothing."""
        try:
            policy = await self._read(client)
        except TransportError:
            return None
        if policy == self._last:
            return None
        self._last = policy
        return policy

    async def _read(self, client: Client) -> DynamicSchedulerPolicy:
        if self.config_map:
            return await self._read_config_map(client)
        if self.file:
            return await asyncio.to_thread(load_policy, self.file)
        return published_policy()

    async def _read_config_map(self, client: Client) -> DynamicSchedulerPolicy:
        namespace, name, *key = self.config_map.split("/")
        source = f"ConfigMap {namespace}/{name}"
        try:
            found = await client.get(f"/api/v1/namespaces/{namespace}/configmaps/{name}")
        except ApiError as error:
            raise InputError(
                f"cannot be read: {error.message}", source=source, fix="check its name and the role"
            ) from None
        return policy_in_config_map(found.get("data"), source, key[0] if key else "")

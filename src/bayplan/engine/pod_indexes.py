"""
Pods on nodes by what they hold or who owns them: host ports, claims and disks, owners.

``engine.table`` tells it of every pod that enters or leaves a row, and asks it for plugins.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from typing import TypeVar

from bayplan.engine.overlay import Groups
from bayplan.objects.pod import Pod

Key = TypeVar("Key", bound=tuple[str, ...])


class PodIndexes:
    """Users of ports and storage, and the pods of each owner."""

    def __init__(self) -> None:
        self._ports: Groups[tuple[str, int], tuple[str, str], int] = Groups()
        self._storage: Groups[tuple[str, ...], str, Pod] = Groups()
        self._owned: Groups[tuple[str, str, str], str, Pod] | None = None

    def fork(self) -> PodIndexes:
        fork = PodIndexes()
        fork._ports, fork._storage = self._ports.fork(), self._storage.fork()
        fork._owned = None if self._owned is None else self._owned.fork()
        return fork

    def port_users(self, protocol: str, port: int) -> Iterable[tuple[str, str]]:
        """Node and host IP of every use of a port."""
        return self._ports.of((protocol, port))

    def storage_users(self, key: tuple[str, ...]) -> Iterable[Pod]:
        return self._storage.of(key).values()

    def owned(self, owner: tuple[str, str, str], everybody: Callable[[], Iterable[Pod]]) -> Mapping[str, Pod]:
        """The pods of an owner.  Few ask, so it is kept only from then on."""
        if self._owned is None:
            self._owned = Groups()
            self.put_owned(everybody())
        return self._owned.of(owner)

    def move(self, pod: Pod, node_name: str, sign: int) -> None:
        """A pod enters (+1) or leaves (-1) a node."""
        for port in pod.host_ports:
            self._move_port((port.protocol, port.port), (node_name, port.ip), sign)
        if pod.spec.volumes:
            for key in pod.storage_keys:
                _move(self._storage, key, pod, sign)
        if self._owned is not None:
            for owner in pod.owner_keys:
                _move(self._owned, owner, pod, sign)

    def put_owned(self, pods: Iterable[Pod]) -> None:
        """Pods without ports and volumes, new on their nodes or newer versions of those there."""
        if self._owned is not None:
            for pod in pods:
                for owner in pod.owner_keys:
                    self._owned.put(owner, pod.uid, pod)

    def _move_port(self, port: tuple[str, int], user: tuple[str, str], sign: int) -> None:
        uses = self._ports.of(port).get(user, 0) + sign
        if uses:
            self._ports.put(port, user, uses)
        else:
            self._ports.drop(port, user)


def _move(groups: Groups[Key, str, Pod], key: Key, pod: Pod, sign: int) -> None:
    if sign > 0:
        groups.put(key, pod.uid, pod)
    else:
        groups.drop(key, pod.uid)  # gone already if the pod mounts the same thing twice

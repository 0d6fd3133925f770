"""The background process: starts the servers, plays the kubelets, and ends everything together."""

from __future__ import annotations

import asyncio
import os
import signal
from collections.abc import Coroutine
from dataclasses import replace
from typing import IO, Any, TypeVar

from bayplan.app.shell import logging
from bayplan.errors import BayplanError
from bayplan.kube.auth import Credentials
from bayplan.kube.client import Client
from hack.dev_cluster.kubelets import Kubelets
from hack.dev_cluster.servers import Servers
from hack.dev_cluster.state import FOLDER, Settings, State, locked

GRACE_S = 5.0
T = TypeVar("T")


def serve() -> int:
    """Until SIGTERM; 1 if a server ended by itself."""
    logging.set_up()
    with locked() as lock:
        settings, programs = Settings.load()
        state = State(os.getpid(), programs.version)
        state.save()
        try:
            return asyncio.run(_serve(settings, Servers(programs), state, lock))
        except _ServerEndedError as error:
            print(error, flush=True)
            return 1


class _ServerEndedError(Exception):
    """A server that should run ended."""


class _Children:
    """The servers; they inherit the lock, so that it tells whether any of them is left."""

    def __init__(self, lock: IO[str]) -> None:
        self._lock = lock
        self._processes: list[tuple[str, asyncio.subprocess.Process]] = []

    async def start(self, name: str, command: list[str]) -> None:
        with (FOLDER / f"{name}.log").open("ab") as log:
            process = await asyncio.create_subprocess_exec(
                *command, stdin=asyncio.subprocess.DEVNULL, stdout=log, stderr=log, pass_fds=[self._lock.fileno()]
            )
        self._processes.append((name, process))

    async def first_to_end(self) -> None:
        """Wait, for ever if all goes well."""

        async def wait(name: str, process: asyncio.subprocess.Process) -> None:
            code = await process.wait()
            raise _ServerEndedError(f"{name} ended with code {code}; see {FOLDER / name}.log")

        await asyncio.gather(*(wait(*each) for each in self._processes))

    async def end(self) -> None:
        """The last one started first, so that nobody complains that another is gone."""
        for _, process in reversed(self._processes):
            if process.returncode is None:
                process.terminate()
                try:
                    await asyncio.wait_for(process.wait(), GRACE_S)
                except TimeoutError:
                    process.kill()
                    await process.wait()


async def _serve(settings: Settings, servers: Servers, state: State, lock: IO[str]) -> int:
    children = _Children(lock)
    task = asyncio.ensure_future(_run(settings, servers, state, children))
    asyncio.get_running_loop().add_signal_handler(signal.SIGTERM, task.cancel)
    try:
        await task
    except asyncio.CancelledError:
        return 0
    finally:
        await children.end()
    return 1


async def _run(settings: Settings, servers: Servers, state: State, children: _Children) -> None:
    servers.prepare()
    await children.start("etcd", servers.etcd())
    await children.start("kube-apiserver", servers.apiserver())
    ended = asyncio.ensure_future(children.first_to_end())
    client = await _unless(ended, _connect(servers, state))
    try:
        await children.start("kube-controller-manager", servers.controller_manager())
        if settings.kube_scheduler:
            await children.start("kube-scheduler", servers.scheduler())
        ended.cancel()
        kubelets = Kubelets(client, settings.nodes)
        ready = replace(state, server=servers.server, ready=True)
        await asyncio.gather(children.first_to_end(), kubelets.run(ready.save))
    finally:
        await client.close()


async def _unless(ended: asyncio.Future[None], work: Coroutine[Any, Any, T]) -> T:
    """The result of the work, unless a server ends before."""
    task = asyncio.ensure_future(work)
    waiting: set[asyncio.Future[Any]] = {ended, task}
    await asyncio.wait(waiting, return_when=asyncio.FIRST_COMPLETED)
    if not task.done():
        task.cancel()
        ended.result()
    return task.result()


async def _connect(servers: Servers, state: State) -> Client:
    """A client, as soon as the API server answers."""
    while not servers.ca_file.exists():
        await asyncio.sleep(0.05)
    servers.write_kubeconfig(state.kubeconfig)
    client = Client(Credentials(state.kubeconfig))
    while True:
        try:
            await client.get_raw("/readyz")
            return client
        except BayplanError:
            await asyncio.sleep(0.1)

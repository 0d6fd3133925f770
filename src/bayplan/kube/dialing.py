"""
Reaching a server by name: a name may stand for several addresses, and some of them may be dead.

``kube.connections`` calls it.  The loop's own way to connect tries one address after the other too, but waits for the
first until the time is up, so that a name whose first address swallows everything could never be reached.
"""

from __future__ import annotations

import asyncio
import ipaddress
import os
import socket
import ssl
from collections.abc import Callable
from typing import TypeVar

P = TypeVar("P", bound=asyncio.Protocol)

# The other machine is asked for a sign of life after this long without one, so often, and then the connection breaks.
QUIET_S = 30
ASK_EVERY_S = 10
ASK_TIMES = 3


class Server:
    """Where to connect; remembers which address answered last.  Without ``context`` nothing is encrypted."""

    def __init__(self, host: str, port: int, context: ssl.SSLContext | None, certified_name: str | None) -> None:
        self._host = host
        self._port = port
        self._context = context
        self._certified_name = (certified_name or host) if context is not None else None
        self._is_address = _is_address(host)
        self._reached = ""

    async def dial(self, make: Callable[[], P], timeout_s: float) -> P:
        """A connection with a protocol from ``make``; ``ConnectionError`` if there is none in time."""
        loop = asyncio.get_running_loop()
        ends_at = loop.time() + timeout_s
        try:
            async with asyncio.timeout_at(ends_at):
                addresses = await self._addresses()
            for left in range(len(addresses), 0, -1):
                address = addresses[-left]
                try:
                    # The time that is left is for those that are left, in equal parts.
                    async with asyncio.timeout((ends_at - loop.time()) / left):
                        made = await self._dial(make, address)
                except (OSError, TimeoutError):
                    if left == 1:
                        raise
                else:
                    self._reached = address
                    return made
            raise OSError("the name has no address")
        except (OSError, TimeoutError) as error:
            why = reason(error) if isinstance(error, OSError) else "no answer"
            raise ConnectionError(f"cannot connect to {self._host}:{self._port}: {why}") from error

    async def _addresses(self) -> list[str]:
        if self._is_address:
            return [self._host]
        found = await asyncio.get_running_loop().getaddrinfo(self._host, self._port, type=socket.SOCK_STREAM)
        addresses = dict.fromkeys(str(address[0]) for *_, address in found)
        return sorted(addresses, key=lambda each: each != self._reached)

    async def _dial(self, make: Callable[[], P], address: str) -> P:
        transport, made = await asyncio.get_running_loop().create_connection(
            make, address, self._port, ssl=self._context, server_hostname=self._certified_name
        )
        stay_in_touch(transport.get_extra_info("socket"))
        return made


def stay_in_touch(connected: socket.socket) -> None:
    """Let the system notice a peer that is gone without a word, also while the connection lies idle."""
    connected.setsockopt(socket.SOL_SOCKET, socket.SO_KEEPALIVE, 1)
    lost_ms = (QUIET_S + ASK_EVERY_S * ASK_TIMES) * 1000
    for name, value in (
        ("TCP_KEEPIDLE", QUIET_S),
        ("TCP_KEEPINTVL", ASK_EVERY_S),
        ("TCP_KEEPCNT", ASK_TIMES),
        ("TCP_USER_TIMEOUT", lost_ms),  # the same for what was sent and never confirmed
    ):
        if hasattr(socket, name):  # not every system has all of them
            connected.setsockopt(socket.IPPROTO_TCP, getattr(socket, name), value)


def reason(error: OSError) -> str:
    """Why there is no connection, in the words of the system: asyncio's own are addresses in brackets."""
    number = error.errno or 0
    if number > 0 and not isinstance(error, ssl.SSLError):
        return os.strerror(number)
    return error.strerror or str(error) or "no answer"


def _is_address(host: str) -> bool:
    try:
        ipaddress.ip_address(host)
    except ValueError:
        return False
    return True

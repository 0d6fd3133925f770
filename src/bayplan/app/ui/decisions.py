"""A pod's attempts as its scheduler remembers them: what ``/decisions`` of a live scheduler says."""

from __future__ import annotations

import ssl
from collections.abc import Callable, Mapping
from typing import Any

import msgspec
import structlog

from bayplan.app.ui.picture import Attempts
from bayplan.errors import BayplanError, InputError, TransportError
from bayplan.kube.transport import Endpoint, HttpTransport

log = structlog.get_logger()

TIMEOUT_S = 3.0
MOST = 50


class Decisions:
    """Asks one scheduler."""

    def __init__(self, url: str, headers: Callable[[], Mapping[str, str]], ca: str | None, insecure: bool) -> None:
        """``headers`` say who asks; ``ca`` is the file with the certificate that the scheduler's is checked against."""
        if not url.startswith("https://"):
            raise InputError(f'"{url}" is no https address', field="--scheduler", fix="write https://HOST:10259")
        try:
            context = ssl.create_default_context(cafile=ca)
        except (OSError, ssl.SSLError) as error:
            raise InputError(f"cannot be used: {error}", source=ca or "", field="--scheduler-ca") from error
        if insecure:
            context.check_hostname, context.verify_mode = False, ssl.CERT_NONE
        self._transport = HttpTransport(Endpoint(url.rstrip("/"), context))
        self._headers = headers

    async def attempts(self, key: str) -> Attempts:
        """The attempts of one pod, the newest first; none if the scheduler does not answer."""
        try:
            answer = await self._transport.request(
                "GET",
                "/decisions",
                params={"pod": key, "limit": str(MOST)},
                headers=dict(self._headers()),
                timeout_s=TIMEOUT_S,
            )
            if answer.status != 200:
                raise TransportError(f"it answered {answer.status}")
            told: list[dict[str, Any]] = msgspec.json.decode(answer.body)["decisions"]
        except (BayplanError, msgspec.MsgspecError, KeyError) as error:
            log.warning("the scheduler does not tell its decisions", error=str(error))
            return ()
        return [{name: each[name] for name in ("at", "result", "node", "message")} for each in told]

    async def close(self) -> None:
        await self._transport.close()

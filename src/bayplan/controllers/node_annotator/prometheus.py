"""Instant queries to Prometheus, or to whatever speaks its HTTP API: Thanos, VictoriaMetrics, Mimir.

`app.annotator.live` makes one client of the command line's flags. Tokens, passwords and certificates are read from
their files again as they change, so that rotated ones need no restart.
"""

from __future__ import annotations

import base64
import os
import ssl
from dataclasses import dataclass
from urllib.parse import urlsplit

import msgspec

from bayplan.controllers.node_annotator.queries import Answer, Sample
from bayplan.errors import ConfigError, InputError, MetricsError, TransportError
from bayplan.kube.tls import TlsFiles, client_context
from bayplan.kube.transport import Endpoint, HttpTransport, Response, Transport
from bayplan.objects.files.file_reading import text_of

TIMEOUT_S = 10.0
_PATH = "/api/v1/query"
_MAX_WORDS = 200


@dataclass(frozen=True, slots=True, kw_only=True)
class PrometheusAccess:
    """Where Prometheus is, and who we are to it."""

    address: str
    bearer_token_file: str = ""
    username: str = ""
    password_file: str = ""
    ca_file: str = ""
    cert_file: str = ""
    key_file: str = ""
    server_name: str = ""
    insecure: bool = False
    timeout_s: float = TIMEOUT_S

    def check(self) -> str:
        """The address with its scheme; ``ConfigError`` with the flag in front if something cannot work."""
        url = base_url(self.address)
        if self.bearer_token_file and self.username:
            raise ConfigError("--prometheus-username: there is a bearer token already; remove one of the two")
        if bool(self.username) != bool(self.password_file):
            missing = "--prometheus-password-file" if self.username else "--prometheus-username"
            raise ConfigError(f"{missing}: is missing, but a name and a password belong together")
        for flag, path in (("bearer-token", self.bearer_token_file), ("password", self.password_file)):
            if path:
                _secret(f"--prometheus-{flag}-file", path)
        is_tls = url.startswith("https://")
        if not is_tls and any((self.ca_file, self.cert_file, self.key_file, self.server_name, self.insecure)):
            raise ConfigError(f"--prometheus-address: {url} uses no TLS; write https:// or remove the flags for it")
        if is_tls:
            self._context()
        return url

    def headers(self) -> dict[str, str]:
        if self.bearer_token_file:
            return {"Authorization": f"Bearer {_secret('--prometheus-bearer-token-file', self.bearer_token_file)}"}
        if self.username:
            password = _secret("--prometheus-password-file", self.password_file)
            pair = base64.b64encode(f"{self.username}:{password}".encode()).decode()
            return {"Authorization": f"Basic {pair}"}
        return {}

    def endpoint(self) -> Endpoint:
        url = base_url(self.address)
        context = self._context() if url.startswith("https://") else None
        return Endpoint(url, context, self.server_name or None, None, self.fingerprint())

    def fingerprint(self) -> str:
        """Changes whenever one of the certificates' files does."""
        return ",".join(_version(path) for path in (self.ca_file, self.cert_file, self.key_file))

    def _context(self) -> ssl.SSLContext:
        files = TlsFiles(ca_file=self.ca_file, cert_file=self.cert_file, key_file=self.key_file)
        try:
            return client_context(files, insecure=self.insecure)
        except ConfigError as error:
            raise ConfigError(_as_flags(str(error))) from error


class PrometheusClient:
    """Implements ``queries.MetricSource``."""

    def __init__(self, access: PrometheusAccess, transport: Transport | None = None) -> None:
        access.check()
        self._access = access
        self._fingerprint = access.fingerprint()
        self._transport: Transport = transport or HttpTransport(access.endpoint())
        self._decoder = msgspec.json.Decoder(_Body)

    async def query(self, expression: str) -> Answer:
        """All series of an expression at this moment."""
        timeout = self._access.timeout_s
        params = {"query": expression, "timeout": f"{max(1, round(timeout))}s"}
        try:
            await self._keep_fresh()
            headers = {"Accept": "application/json", **self._access.headers()}
            # A little longer than Prometheus is told to take, so that its own words reach us.
            answer = await self._transport.request("GET", _PATH, params=params, headers=headers, timeout_s=timeout + 1)
        except (TransportError, ConfigError) as error:
            raise MetricsError(f"{self._access.address}: {error}") from error
        return self._answer(answer)

    async def close(self) -> None:
        await self._transport.close()

    async def _keep_fresh(self) -> None:
        fingerprint = self._access.fingerprint()
        if fingerprint != self._fingerprint:
            endpoint = self._access.endpoint()
            self._fingerprint = fingerprint
            await self._transport.use(endpoint)

    def _answer(self, answer: Response) -> Answer:
        where = self._access.address
        if answer.status in (401, 403):
            raise MetricsError(f"{where}: {answer.status}: not allowed; check the bearer token or name and password")
        try:
            body = self._decoder.decode(answer.body)
        except msgspec.MsgspecError as error:
            words = answer.body[:_MAX_WORDS].decode(errors="replace")
            problem = f"answered {answer.status} with what is no answer to a query: {words} ({error})"
            raise MetricsError(f"{where}: {' '.join(problem.split())}") from None
        if body.status != "success" or answer.status >= 400:
            raise MetricsError(f"{where}: {answer.status}: {body.error_type or 'error'}: {body.error}")
        if body.data is None or body.data.result_type != "vector":
            kind = body.data.result_type if body.data else "nothing"
            raise MetricsError(f"{where}: answered with {kind} where a vector was expected")
        try:
            samples = [Sample(each.metric, float(each.value[1])) for each in body.data.result or ()]
        except ValueError as error:
            raise MetricsError(f"{where}: answered with a value that is no number: {error}") from None
        return Answer(samples, tuple(body.warnings or ()))


class _Series(msgspec.Struct):
    metric: dict[str, str]
    value: tuple[float, str]


class _Data(msgspec.Struct, rename="camel"):
    result_type: str
    result: list[_Series] | None = None


class _Body(msgspec.Struct, rename="camel"):
    status: str
    data: _Data | None = None
    error_type: str = ""
    error: str = ""
    warnings: list[str] | None = None


def base_url(address: str) -> str:
    """An address as a person writes it, with a scheme and without a slash at its end."""
    flag = "--prometheus-address"
    example = "write one like http://prometheus.monitoring:9090"
    if not address.strip():
        raise ConfigError(f"{flag}: is missing; {example}")
    url = address.strip() if "://" in address else f"http://{address.strip()}"
    try:
        parts = urlsplit(url)
        is_good = parts.scheme in ("http", "https") and bool(parts.hostname) and (parts.port is None or parts.port > 0)
    except ValueError:
        is_good = False
    if is_good and "://" not in address and parts.port is None:
        is_good = False  # any word would do
    if not is_good or parts.query or parts.fragment:
        raise ConfigError(f'{flag}: "{address}" is not the address of a Prometheus; {example}')
    if parts.username or parts.password:
        raise ConfigError(f"{flag}: holds a name or password; give --prometheus-username and a file instead")
    return url.rstrip("/")


def _secret(flag: str, path: str) -> str:
    try:
        secret = text_of(path).strip()
    except InputError as error:
        raise ConfigError(f"{flag}: {error}") from None
    if not secret:
        raise ConfigError(f"{flag}: {path}: is empty")
    return secret


def _version(path: str) -> str:
    try:
        found = os.stat(path) if path else None
    except OSError:
        return "gone"
    return f"{found.st_mtime_ns}-{found.st_size}-{found.st_ino}" if found else ""


def _as_flags(text: str) -> str:
    """Fields of a configuration file by the names of the flags."""
    for name, flag in (
        ("keyFile or keyData", "--prometheus-key-file"),
        ("certFile or certData", "--prometheus-cert-file"),
        ("caFile", "--prometheus-ca-file"),
        ("certFile", "--prometheus-cert-file"),
        ("insecure", "--prometheus-insecure-skip-tls-verify"),
    ):
        if text.startswith(name):
            return flag + text.removeprefix(name)
    return text

"""
Who we are to the API server: kubeconfig, contexts, exec plugins, in-cluster tokens, client certificates.

Reading credentials is left to the ``kubernetes`` package's ``config`` module; it is imported only when a
cluster is really contacted.  ``kube.client`` uses it: ``headers`` is cheap and asked for on every request,
``refresh`` and ``reload`` may read files and start programs, so the client calls them in a thread.
"""

from __future__ import annotations

import logging
import os
import ssl
import time
from collections.abc import Mapping
from hashlib import sha256
from pathlib import Path
from typing import Any
from urllib.parse import urlsplit
from urllib.request import proxy_bypass

from bayplan.errors import ConfigError, InputError
from bayplan.kube.tls import checking_context
from bayplan.kube.transport import Endpoint
from bayplan.objects.files import nesting
from bayplan.objects.files.file_reading import check_file, text_of

IN_CLUSTER_TOKEN = Path("/var/run/secrets/kubernetes.io/serviceaccount/token")
# Tokens last for an hour or more and are replaced well before they end.
REFRESH_S = 30.0


class Credentials:
    """The endpoint and headers of one cluster; both may change while we run."""

    def __init__(self, kubeconfig: str | None = None, context: str | None = None) -> None:
        self._kubeconfig = kubeconfig
        self._context = context
        self.namespace = "default"
        self.reload()

    def reload(self) -> None:
        """Read everything anew: the API server did not accept what we had."""
        self._configuration = self._load()
        self._take()

    def refresh(self) -> None:
        """Get the next token where one is due: a rotated in-cluster token, an exec plugin's that expires."""
        hook = self._configuration.refresh_api_key_hook
        if hook is not None:
            try:
                hook(self._configuration)
            except Exception as error:
                raise ConfigError(self._advice(error)) from error
        self._take()

    def is_due(self) -> bool:
        """Is it time for ``refresh``?"""
        return time.monotonic() - self._taken_at > REFRESH_S

    def endpoint(self) -> Endpoint:
        """Where to connect, with the certificates as their files are now."""
        configuration = self._configuration
        return Endpoint(
            configuration.host.rstrip("/"),
            _ssl_context(configuration) if configuration.host.startswith("https") else None,
            configuration.tls_server_name or None,
            _proxy(configuration),
            _fingerprint(configuration.ssl_ca_cert, configuration.cert_file, configuration.key_file),
            "the service account" if self._in_cluster() else self._where(),
        )

    def headers(self) -> Mapping[str, str]:
        """The authorization of this moment."""
        return self._headers

    def _take(self) -> None:
        keys = self._configuration.api_key
        # The key's name differs between releases of the package; files often end in a newline.
        token = (keys.get("BearerToken") or keys.get("authorization") or "").strip()
        self._headers = {"Authorization": token} if token else {}
        self._taken_at = time.monotonic()

    # -- reading --

    def _load(self) -> Any:
        from kubernetes import client, config

        configuration = client.Configuration()
        try:
            if self._in_cluster():
                # The library has no types.
                config.load_incluster_config(client_configuration=configuration)  # type: ignore[no-untyped-call]
            else:
                self._load_file(config, configuration)
        except Exception as error:  # the package raises whatever a file leads it to
            raise ConfigError(self._advice(error)) from error
        return configuration

    def _in_cluster(self) -> bool:
        if self._kubeconfig or self._context or os.environ.get("KUBECONFIG"):
            return False
        return IN_CLUSTER_TOKEN.exists() and "KUBERNETES_SERVICE_HOST" in os.environ

    def _load_file(self, config: Any, configuration: Any) -> None:
        if self._kubeconfig and not Path(self._kubeconfig).expanduser().exists():
            raise ValueError("no such file")
        path = str(Path(self._kubeconfig).expanduser()) if self._kubeconfig else None
        named = path or os.environ.get("KUBECONFIG") or str(Path("~/.kube/config").expanduser())
        for each in named.split(os.pathsep):
            if each and Path(each).exists():  # the package leaves out those that are not there
                _check_bounds(each)
        with _Complaints() as complaints:
            config.load_kube_config(path, self._context, client_configuration=configuration, persist_config=False)
        if complaints.lines:
            # The package logs that an exec plugin failed and goes on without credentials.
            raise ValueError("; ".join(complaints.lines))
        contexts, active = config.list_kube_config_contexts(path)
        chosen = next((c for c in contexts if c["name"] == self._context), active) if self._context else active
        self.namespace = str(chosen["context"].get("namespace") or "default")

    def _advice(self, error: Exception) -> str:
        if self._in_cluster():
            return f"cannot read the service account's credentials: {' '.join(str(error).split())}"
        context = f" (context {self._context})" if self._context else ""
        what = " ".join(str(error).split())
        return f"{self._where()}{context}: cannot read the kubeconfig: {what}; pass --kubeconfig FILE or set KUBECONFIG"

    def _where(self) -> str:
        return self._kubeconfig or os.environ.get("KUBECONFIG") or "~/.kube/config"


def _check_bounds(kubeconfig: str) -> None:
    """The package reads whatever there is, to its end and as deep as it goes."""
    try:
        nesting.check_yaml(text_of(kubeconfig), "")
    except InputError as error:
        raise ValueError(error.problem) from None


class _Complaints(logging.Handler):
    """Catches what is logged as an error on the root logger meanwhile."""

    def __init__(self) -> None:
        super().__init__(logging.ERROR)
        self.lines: list[str] = []

    def emit(self, record: logging.LogRecord) -> None:
        self.lines.append(record.getMessage())

    def __enter__(self) -> _Complaints:
        logging.getLogger().addHandler(self)
        return self

    def __exit__(self, *_: object) -> None:
        logging.getLogger().removeHandler(self)


def _ssl_context(configuration: Any) -> ssl.SSLContext:
    for file in filter(None, (configuration.ssl_ca_cert, configuration.cert_file, configuration.key_file)):
        try:
            check_file(file)
        except InputError as error:
            raise ConfigError(str(error)) from None
    # The CA comes from the kubeconfig alone: the machine's bundle knows nothing of a cluster's own CA.
    context = checking_context(configuration.ssl_ca_cert or None)
    if not configuration.verify_ssl:
        context.check_hostname = False
        context.verify_mode = ssl.CERT_NONE
    if configuration.cert_file:
        try:
            context.load_cert_chain(configuration.cert_file, configuration.key_file)
        except (OSError, ssl.SSLError) as error:
            raise ConfigError(f"cannot use the client certificate {configuration.cert_file}: {error}") from error
    return context


def _fingerprint(*files: str | None) -> str:
    return sha256(b"\0".join(Path(file).read_bytes() if file else b"" for file in files)).hexdigest()


def _proxy(configuration: Any) -> str | None:
    """The proxy of the kubeconfig, or that of the environment unless it exempts this host."""
    proxy = configuration.proxy
    if not proxy:
        return None
    if not str(proxy).startswith(("http://", "https://")):
        raise ConfigError(f"proxy {proxy}: only http:// and https:// proxies are supported")
    from_environment = getattr(configuration, "_proxy_from_env", False)
    host = urlsplit(configuration.host).hostname or ""
    if from_environment and proxy_bypass(host):
        return None
    return str(proxy)

"""
Who we are to the API server: kubeconfig, contexts, exec plugins, in-cluster tokens, client certificates.

Reading credentials is left to the ``kubernetes`` package's ``config`` module; it is imported only when a
cluster is really contacted.  Used by ``kube.client``.
"""

from __future__ import annotations

import os
import ssl
from collections.abc import Mapping
from pathlib import Path
from typing import Any

from bayplan.errors import ConfigError
from bayplan.kube.transport import Endpoint

IN_CLUSTER_TOKEN = Path("/var/run/secrets/kubernetes.io/serviceaccount/token")


class Credentials:
    """The endpoint and headers of one cluster; tokens are asked for on each request, since they rotate."""

    def __init__(self, kubeconfig: str | None = None, context: str | None = None) -> None:
        self._kubeconfig = kubeconfig
        self._context = context
        self._configuration = self._load()

    @property
    def namespace(self) -> str:
        """The namespace of the chosen context."""
        return str(getattr(self._configuration, "bayplan_namespace", "") or "default")

    def reload(self) -> None:
        """Read everything anew: the API server did not accept what we had."""
        self._configuration = self._load()

    def endpoint(self) -> Endpoint:
        configuration = self._configuration
        return Endpoint(
            configuration.host.rstrip("/"),
            _ssl_context(configuration) if configuration.host.startswith("https") else None,
            configuration.tls_server_name or None,
            configuration.proxy or None,
        )

    def headers(self) -> dict[str, str]:
        """The authorization of this moment."""
        # The key's name differs between releases of the package; reading it runs the refresh hook.
        token = self._configuration.get_api_key_with_prefix("BearerToken", alias="authorization")
        if token:
            return {"Authorization": token}
        if self._configuration.username:
            return {"Authorization": self._configuration.get_basic_auth_token()}
        return {}

    def _load(self) -> Any:
        from kubernetes import client, config
        from kubernetes.config.config_exception import ConfigException

        configuration = client.Configuration()
        try:
            if self._in_cluster():
                config.load_incluster_config(client_configuration=configuration)  # type: ignore[no-untyped-call]
            else:
                self._load_file(config, configuration)
        except (ConfigException, OSError, ValueError, TypeError, KeyError) as error:
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
        config.load_kube_config(path, self._context, client_configuration=configuration, persist_config=False)
        contexts, active = config.list_kube_config_contexts(path)
        chosen = next((c for c in contexts if c["name"] == self._context), active) if self._context else active
        configuration.bayplan_namespace = chosen["context"].get("namespace", "default")

    def _advice(self, error: Exception) -> str:
        where = self._kubeconfig or os.environ.get("KUBECONFIG") or "~/.kube/config"
        context = f" (context {self._context})" if self._context else ""
        what = " ".join(str(error).split())
        return f"{where}{context}: cannot read the kubeconfig: {what}; pass --kubeconfig FILE or set KUBECONFIG"


def _ssl_context(configuration: Any) -> ssl.SSLContext:
    # The CA comes from the kubeconfig alone: the machine's bundle knows nothing of a cluster's own CA.
    context = ssl.create_default_context(cafile=configuration.ssl_ca_cert or None)
    if not configuration.verify_ssl:
        context.check_hostname = False
        context.verify_mode = ssl.CERT_NONE
    if configuration.cert_file:
        context.load_cert_chain(configuration.cert_file, configuration.key_file)
    return context


class FixedCredentials:
    """A known endpoint and token, for tests and tools."""

    namespace = "default"

    def __init__(self, endpoint: Endpoint, headers: Mapping[str, str] | None = None) -> None:
        self._endpoint = endpoint
        self._headers = dict(headers or {})

    def reload(self) -> None:
        return None

    def endpoint(self) -> Endpoint:
        return self._endpoint

    def headers(self) -> dict[str, str]:
        return self._headers

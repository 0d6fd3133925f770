"""
Plugins that name a kubeconfig of their own: the Kosmos scheduler reads policies with it, and Bayplan does not.

As long as it names the cluster that the scheduler serves, that makes no difference.  ``app.scheduler.process`` and
``app.rebalancer.live`` have it looked at when they start.
"""

from __future__ import annotations

import base64
import ssl
from collections.abc import Iterable, Mapping
from pathlib import Path
from typing import Any, NamedTuple
from urllib.parse import urlsplit

import structlog

from bayplan.framework.profile import Profile
from bayplan.kube.transport import Endpoint
from bayplan.objects.files import yaml_reading
from bayplan.objects.files.file_reading import check_file, text_of

log = structlog.get_logger(__name__)

KUBECONFIG = "kube_config_path"
"""The field of a plugin's args."""


class _Cluster(NamedTuple):
    server: str
    authorities: frozenset[bytes]
    """The certificates that vouch for it."""


def warn_of_others(profiles: Iterable[Profile], own: Endpoint) -> None:
    """A line in the log for each plugin whose kubeconfig does not name the cluster at ``own``, or cannot be read."""
    ours = _Cluster(own.base_url, _authorities(own.ssl))
    plugins = (plugin for profile in profiles for plugin in profile.instances.values())
    named = {(plugin.name, getattr(plugin.args, KUBECONFIG, "")) for plugin in plugins}
    for plugin, path in sorted(named):
        if path:
            _compare(f"{plugin}: kubeConfigPath {path}", path, ours)


def _compare(who: str, path: str, ours: _Cluster) -> None:
    try:
        named = _read(Path(path).expanduser())
    except Exception as error:  # whatever a file leads to; nothing depends on it
        why = " ".join(str(error).split()) or type(error).__name__
        log.info("configuration", text=f"{who} has no effect, and cannot be read: {why}")
        return
    if _address(named.server) == _address(ours.server) or named.authorities & ours.authorities:
        return
    text = f"{who} names {named.server} and has no effect: policies are read from {ours.server}, which is scheduled"
    log.warning("configuration", text=f"{text}; if these are two clusters, apply the policies there")


def _read(path: Path) -> _Cluster:
    """The cluster of the current context.  Credentials are not looked at, so no program is started for them."""
    document: Any = next((each.value for each in yaml_reading.documents(text_of(path), str(path))), None)
    if not isinstance(document, Mapping):
        raise ValueError("this is no kubeconfig")
    context = _named(document, "contexts", str(document.get("current-context", "")))["context"]
    cluster = _named(document, "clusters", str(context["cluster"]))["cluster"]
    context_of = None
    if data := cluster.get("certificate-authority-data"):
        context_of = ssl.create_default_context(cadata=base64.b64decode(data).decode())
    elif file := cluster.get("certificate-authority"):
        check_file(path.parent / file)
        context_of = ssl.create_default_context(cafile=str(path.parent / file))
    return _Cluster(str(cluster["server"]), _authorities(context_of))


def _named(document: Mapping[str, Any], part: str, name: str) -> Mapping[str, Any]:
    for each in document.get(part) or ():
        if each.get("name") == name:
            found: Mapping[str, Any] = each
            return found
    raise ValueError(f'"{name}" is not among its {part}')


def _authorities(context: ssl.SSLContext | None) -> frozenset[bytes]:
    return frozenset(context.get_ca_certs(binary_form=True)) if context is not None else frozenset()


def _address(server: str) -> tuple[str, int | None]:
    parts = urlsplit(server)
    return (parts.hostname or server).lower(), parts.port or {"https": 443, "http": 80}.get(parts.scheme)

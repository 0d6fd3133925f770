"""
Extenders from the configuration: how to reach each one, and what it must be shown.

``app.scheduler.live`` calls ``make_extenders`` once at the start; a certificate that cannot be read stops the start.
"""

from __future__ import annotations

from collections.abc import Sequence
from ipaddress import ip_address
from urllib.parse import urlsplit
from urllib.request import getproxies, proxy_bypass

from bayplan.errors import ConfigError
from bayplan.framework.config.model import Extender, ExtenderTls, SchedulerConfig
from bayplan.kube.extender import ExtenderSettings, HttpExtender
from bayplan.kube.originals import Originals
from bayplan.kube.tls import TlsFiles, client_context
from bayplan.kube.transport import Endpoint, HttpTransport


def make_extenders(config: SchedulerConfig) -> tuple[list[HttpExtender], Originals | None]:
    """The extenders in the order of the configuration, and the place where informers keep what they want to see."""
    if not config.extenders:
        return [], None
    originals = _originals(config.extenders)
    made = []
    for index, extender in enumerate(config.extenders):
        try:
            transport = HttpTransport(endpoint_of(extender))
        except ConfigError as error:
            source = f"{config.source}: " if config.source else ""
            raise ConfigError(f"{source}extenders[{index}].{error}") from error
        made.append(HttpExtender(_settings(extender), transport, originals))
    return made, originals


def endpoint_of(extender: Extender) -> Endpoint:
    """Where it is.  ``enableHTTPS`` without a CA means that its certificate is not checked."""
    url = extender.url_prefix.rstrip("/")
    parts = urlsplit(url)
    if parts.scheme not in ("http", "https") or not parts.hostname:
        raise ConfigError(f'urlPrefix: "{url}" is not an address; write one such as "http://host:port/path"')
    tls = extender.tls_config or ExtenderTls()
    if parts.scheme == "http":
        return Endpoint(url, proxy=proxy_for(url))
    files = TlsFiles(tls.ca_file, tls.ca_data, tls.cert_file, tls.cert_data, tls.key_file, tls.key_data)
    insecure = tls.insecure or (extender.enable_https and not files.has_ca)
    try:
        context = client_context(files, insecure=insecure)
    except ConfigError as error:
        raise ConfigError(f"tlsConfig.{error}") from error
    return Endpoint(url, context, tls.server_name or None, proxy_for(url))


def proxy_for(url: str) -> str | None:
    """The proxy of the environment, unless it exempts this host; this machine is never asked through one."""
    parts = urlsplit(url)
    host = parts.hostname or ""
    if _is_this_machine(host) or proxy_bypass(host):
        return None
    return getproxies().get(parts.scheme)


def _is_this_machine(host: str) -> bool:
    try:
        return ip_address(host).is_loopback
    except ValueError:
        return host == "localhost"


def _originals(extenders: Sequence[Extender]) -> Originals:
    """Whole nodes and running pods are kept only if an extender is shown them."""
    ignorant = [extender for extender in extenders if not extender.node_cache_capable]
    return Originals(
        nodes=any(extender.filter_verb or extender.prioritize_verb for extender in ignorant),
        placed_pods=any(extender.preempt_verb for extender in ignorant),
    )


def _settings(extender: Extender) -> ExtenderSettings:
    return ExtenderSettings(
        url_prefix=extender.url_prefix,
        filter_verb=extender.filter_verb,
        prioritize_verb=extender.prioritize_verb,
        preempt_verb=extender.preempt_verb,
        bind_verb=extender.bind_verb,
        weight=extender.weight,
        timeout_s=extender.http_timeout_s,
        node_cache_capable=extender.node_cache_capable,
        managed_resources=frozenset(resource.name for resource in extender.managed_resources),
        is_ignorable=extender.ignorable,
    )

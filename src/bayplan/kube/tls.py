"""
TLS to a server: which certificates are good, and what a configuration file says of its CA and our certificate.

``kube.auth`` and ``kube.transport`` take their contexts here, ``app.scheduler.extenders`` and the annotator those for
extenders and Prometheus.  Files are read once, at the start, so that a wrong one stops the start and not a pod.
"""

from __future__ import annotations

import os
import ssl
import tempfile
from dataclasses import dataclass

from bayplan.errors import ConfigError, InputError
from bayplan.objects.files.file_reading import check_file


@dataclass(frozen=True, slots=True)
class TlsFiles:
    """PEM in files or directly; directly wins."""

    ca_file: str = ""
    ca_data: bytes = b""
    cert_file: str = ""
    cert_data: bytes = b""
    key_file: str = ""
    key_data: bytes = b""

    @property
    def has_ca(self) -> bool:
        return bool(self.ca_file or self.ca_data)

    @property
    def has_certificate(self) -> bool:
        return bool(self.cert_file or self.cert_data)

    @property
    def has_key(self) -> bool:
        return bool(self.key_file or self.key_data)


def checking_context(ca_file: str | None = None, ca_data: str | None = None) -> ssl.SSLContext:
    """
    A context that trusts these CAs, or else the machine's own, and judges as kubectl and Go do with every Python.

    Strict checking, the default from Python 3.13 on, refuses the CAs that kubeadm and many people make: they have no
    key identifiers.  A CA that was itself signed by another is enough, which before 3.13 was not so.
    """
    context = ssl.create_default_context(cafile=ca_file, cadata=ca_data)
    context.verify_flags &= ~ssl.VERIFY_X509_STRICT
    context.verify_flags |= ssl.VERIFY_X509_PARTIAL_CHAIN
    return context


def client_context(files: TlsFiles, *, insecure: bool) -> ssl.SSLContext:
    """The context; ``ConfigError`` with the field at its start if the files do not make one."""
    if insecure and files.has_ca:
        raise ConfigError("insecure: checks nothing, so the CA has no use; remove one of the two")
    if files.has_certificate != files.has_key:
        missing = "keyFile or keyData" if files.has_certificate else "certFile or certData"
        raise ConfigError(f"{missing}: is missing, but certificate and key belong together")
    for name, file in (("caFile", files.ca_file), ("certFile", files.cert_file), ("keyFile", files.key_file)):
        try:
            check_file(file)
        except InputError as error:
            raise ConfigError(f"{name}: {error}") from None
    context = _checked_by(files) if files.has_ca else checking_context()
    if insecure:
        context.check_hostname = False
        context.verify_mode = ssl.CERT_NONE
    if files.has_certificate:
        _identify(context, files)
    return context


def _checked_by(files: TlsFiles) -> ssl.SSLContext:
    """The CA given is the only one that counts."""
    try:
        if files.ca_data:
            return checking_context(ca_data=files.ca_data.decode())
        return checking_context(files.ca_file)
    except (OSError, ValueError) as error:  # ssl.SSLError is an OSError
        where = "caData" if files.ca_data else f"caFile: {files.ca_file}"
        raise ConfigError(f"{where}: cannot be used as a CA: {error}") from error


def _identify(context: ssl.SSLContext, files: TlsFiles) -> None:
    """Our certificate.  The library reads it from files only, so what was given directly becomes one for a moment."""
    paths = []
    try:
        for path, data in ((files.cert_file, files.cert_data), (files.key_file, files.key_data)):
            paths.append(_as_file(data) if data else path)
        context.load_cert_chain(paths[0], paths[1])
    except (OSError, ValueError) as error:
        where = "certData" if files.cert_data else f"certFile: {files.cert_file}"
        raise ConfigError(f"{where}: cannot be used as a client certificate: {error}") from error
    finally:
        for path, given in zip(paths, (files.cert_data, files.key_data), strict=False):
            if given:
                os.unlink(path)


def _as_file(data: bytes) -> str:
    number, path = tempfile.mkstemp(prefix="bayplan-")  # readable by us alone
    with os.fdopen(number, "wb") as file:
        file.write(data)
    return path

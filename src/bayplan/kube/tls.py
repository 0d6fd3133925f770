"""
TLS to a server that a configuration file describes: its CA, our certificate, or no checking at all.

``app.extending`` calls it for extenders.  Everything is read once, at the start, so that a wrong file stops the
start and not a pod.
"""

from __future__ import annotations

import os
import ssl
import tempfile
from dataclasses import dataclass

from bayplan.errors import ConfigError, InputError
from bayplan.objects.file_reading import check_file


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
    context = ssl.create_default_context()
    if files.has_ca:
        context = _checked_by(files)
    # Strict checking, the default from Python 3.13 on, refuses many CAs that people make themselves.
    context.verify_flags &= ~getattr(ssl, "VERIFY_X509_STRICT", 0)
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
            return ssl.create_default_context(cadata=files.ca_data.decode())
        return ssl.create_default_context(cafile=files.ca_file)
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

"""
The serving certificate: the one given, or a self-signed one made on the spot.  Used by ``app.shell.http_server``.
"""

from __future__ import annotations

import datetime as dt
import ipaddress
import socket
import ssl
import tempfile
from pathlib import Path

from bayplan.errors import ConfigError, InputError
from bayplan.objects.files.file_reading import check_file

VALID = dt.timedelta(days=365)


def server_context(cert_dir: str | None) -> ssl.SSLContext:
    """TLS for the health and metrics port; ``cert_dir`` holds tls.crt and tls.key."""
    context = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
    context.minimum_version = ssl.TLSVersion.TLSv1_2
    if cert_dir:
        crt, key = Path(cert_dir) / "tls.crt", Path(cert_dir) / "tls.key"
        try:
            check_file(crt)
            check_file(key)
            context.load_cert_chain(crt, key)
        except (InputError, OSError, ssl.SSLError) as error:
            raise ConfigError(f"--cert-dir {cert_dir}: cannot use tls.crt and tls.key there: {error}") from error
        return context
    with tempfile.TemporaryDirectory() as folder:
        crt, key = Path(folder) / "tls.crt", Path(folder) / "tls.key"
        crt_bytes, key_bytes = self_signed()
        crt.write_bytes(crt_bytes)
        key.touch(mode=0o600)
        key.write_bytes(key_bytes)
        context.load_cert_chain(crt, key)
    return context


def self_signed() -> tuple[bytes, bytes]:
    """A certificate and key for this host, in PEM."""
    from cryptography import x509
    from cryptography.hazmat.primitives import hashes, serialization
    from cryptography.hazmat.primitives.asymmetric import ec

    key = ec.generate_private_key(ec.SECP256R1())
    host = socket.gethostname()
    name = x509.Name([x509.NameAttribute(x509.NameOID.COMMON_NAME, f"{host[:40]}@bayplan")])
    now = dt.datetime.now(dt.UTC)
    names = [
        x509.DNSName(host),
        x509.DNSName("localhost"),
        x509.IPAddress(ipaddress.ip_address("127.0.0.1")),
    ]
    certificate = (
        x509.CertificateBuilder()
        .subject_name(name)
        .issuer_name(name)
        .public_key(key.public_key())
        .serial_number(x509.random_serial_number())
        .not_valid_before(now - dt.timedelta(hours=1))
        .not_valid_after(now + VALID)
        .add_extension(x509.SubjectAlternativeName(names), critical=False)
        .sign(key, hashes.SHA256())
    )
    return (
        certificate.public_bytes(serialization.Encoding.PEM),
        key.private_bytes(serialization.Encoding.PEM, serialization.PrivateFormat.PKCS8, serialization.NoEncryption()),
    )

"""A certificate authority for tests, and certificates it signs. Tests of TLS use it."""

from __future__ import annotations

import datetime as dt
from pathlib import Path

from cryptography import x509
from cryptography.hazmat.primitives import hashes, serialization
from cryptography.hazmat.primitives.asymmetric import ec
from cryptography.x509.oid import NameOID

DAY = dt.timedelta(days=1)


class Authority:
    """Signs certificates for names, good for a day; not ``identified``, without the key identifiers strict checks ask for."""

    def __init__(self, *, identified: bool = True, signed_by: Authority | None = None) -> None:
        self._key = ec.generate_private_key(ec.SECP256R1())
        self._identified = identified
        self._name = _name("test authority" if signed_by is None else "signed authority")
        constraints = x509.BasicConstraints(ca=True, path_length=None)
        signing = signed_by or self
        self._certificate = signing._signed(self._name, self._key.public_key(), constraints, critical=True)

    def ca_file(self, folder: Path) -> Path:
        path = folder / "ca.crt"
        path.write_bytes(_pem(self._certificate))
        return path

    def files(self, folder: Path, name: str) -> tuple[Path, Path]:
        """Certificate and key for a host name."""
        key = ec.generate_private_key(ec.SECP256R1())
        names = x509.SubjectAlternativeName([x509.DNSName(name)])
        cert_path, key_path = folder / f"{name}.crt", folder / f"{name}.key"
        cert_path.write_bytes(_pem(self._signed(_name(name), key.public_key(), names, critical=False)))
        key_path.write_bytes(
            key.private_bytes(
                serialization.Encoding.PEM, serialization.PrivateFormat.PKCS8, serialization.NoEncryption()
            )
        )
        return cert_path, key_path

    def _signed(
        self, subject: x509.Name, key: ec.EllipticCurvePublicKey, extension: x509.ExtensionType, *, critical: bool
    ) -> x509.Certificate:
        now = dt.datetime.now(dt.UTC)
        made = (
            x509.CertificateBuilder()
            .subject_name(subject)
            .issuer_name(self._name)
            .public_key(key)
            .serial_number(x509.random_serial_number())
            .not_valid_before(now - DAY)
            .not_valid_after(now + DAY)
            .add_extension(extension, critical)
        )
        if critical:
            made = made.add_extension(_signs_certificates(), critical=True)
        if self._identified:
            signer = x509.AuthorityKeyIdentifier.from_issuer_public_key(self._key.public_key())
            made = made.add_extension(x509.SubjectKeyIdentifier.from_public_key(key), critical=False)
            made = made.add_extension(signer, critical=False)
        return made.sign(self._key, hashes.SHA256())


def _signs_certificates() -> x509.KeyUsage:
    return x509.KeyUsage(
        key_cert_sign=True,
        crl_sign=True,
        digital_signature=True,
        content_commitment=False,
        key_encipherment=False,
        data_encipherment=False,
        key_agreement=False,
        encipher_only=False,
        decipher_only=False,
    )


def _name(text: str) -> x509.Name:
    return x509.Name([x509.NameAttribute(NameOID.COMMON_NAME, text)])


def _pem(certificate: x509.Certificate) -> bytes:
    return certificate.public_bytes(serialization.Encoding.PEM)

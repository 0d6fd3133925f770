"""The serving certificate: the one given, a self-signed one, and one that cannot be used."""

from __future__ import annotations

import ssl
from pathlib import Path

import pytest
import trustme
from cryptography import x509

from bayplan.app.shell.certificates import self_signed, server_context
from bayplan.errors import ConfigError


def test_a_self_signed_certificate_is_made_for_this_host_and_for_a_year() -> None:
    certificate = x509.load_pem_x509_certificate(self_signed()[0])
    names = certificate.extensions.get_extension_for_class(x509.SubjectAlternativeName).value
    assert "localhost" in names.get_values_for_type(x509.DNSName)
    assert (certificate.not_valid_after_utc - certificate.not_valid_before_utc).days >= 365
    assert isinstance(server_context(None), ssl.SSLContext)


def test_a_given_certificate_is_used(tmp_path: Path) -> None:
    issued = trustme.CA().issue_cert("localhost")
    (tmp_path / "tls.crt").write_bytes(issued.cert_chain_pems[0].bytes())
    (tmp_path / "tls.key").write_bytes(issued.private_key_pem.bytes())
    assert server_context(str(tmp_path)).minimum_version == ssl.TLSVersion.TLSv1_2


@pytest.mark.parametrize("content", [None, "not a certificate"])
def test_one_that_cannot_be_used_is_one_clear_line(tmp_path: Path, content: str | None) -> None:
    if content is not None:
        (tmp_path / "tls.crt").write_text(content)
        (tmp_path / "tls.key").write_text(content)
    with pytest.raises(ConfigError, match=f"^--cert-dir {tmp_path}: cannot use tls.crt and tls.key there: "):
        server_context(str(tmp_path))

"""Stores and revocation lists: what is refused, and what is warned about."""

from __future__ import annotations

import logging
import ssl
from pathlib import Path

import pytest

from ottla.configs.listener_security import TlsSettings
from ottla.runtime.tls.contexts import client_context, server_context
from ottla.runtime.tls.stores import StoreError
from tests.support.security.certificates import Authority, PemFiles, tls_settings


@pytest.fixture
def authority(tmp_path: Path) -> Authority:
    return Authority(tmp_path)


def settings(authority: Authority, lists: str, directory: Path) -> TlsSettings:
    path = directory / "revoked.pem"
    path.write_text(lists)
    return tls_settings(authority.issue("broker"), client_auth="required", crl_location=str(path))


def refusal_of(server: ssl.SSLContext, authority: Authority, client: PemFiles) -> str | None:
    """Why the server refuses a client; None if it accepts it."""
    trusting = ssl.create_default_context(cafile=str(authority.truststore))
    trusting.load_cert_chain(client.keystore)
    to_server, to_client = ssl.MemoryBIO(), ssl.MemoryBIO()
    ends = (
        trusting.wrap_bio(to_client, to_server, server_hostname="localhost"),
        server.wrap_bio(to_server, to_client, server_side=True),
    )
    for _ in range(3):
        for end in ends:
            try:
                end.do_handshake()
            except ssl.SSLWantReadError:
                continue
            except ssl.SSLCertVerificationError as error:
                return error.verify_message
    return None


def test_revoked_certificates_are_refused_and_others_are_not(
    authority: Authority, tmp_path: Path
) -> None:
    alice, mallory = authority.issue("alice"), authority.issue("mallory")
    lists = authority.revocation_list([mallory])
    server = server_context(settings(authority, lists, tmp_path))
    assert refusal_of(server, authority, alice) is None
    assert refusal_of(server, authority, mallory) == "certificate revoked"


def test_an_expired_list_accepts_no_certificate(authority: Authority, tmp_path: Path) -> None:
    lists = authority.revocation_list(is_expired=True)
    server = server_context(settings(authority, lists, tmp_path))
    assert refusal_of(server, authority, authority.issue("alice")) == "CRL has expired"


def test_a_list_of_another_authority_accepts_no_certificate(
    authority: Authority, tmp_path: Path
) -> None:
    lists = Authority(tmp_path, "other").revocation_list()
    server = server_context(settings(authority, lists, tmp_path))
    refused = refusal_of(server, authority, authority.issue("alice"))
    assert refused == "unable to get certificate CRL"


def test_certificates_among_revocation_lists_are_not_trusted(
    authority: Authority, tmp_path: Path
) -> None:
    """OpenSSL would trust them like those of the trust store."""
    lists = authority.revocation_list() + Authority(tmp_path, "other").pem
    unsafe = settings(authority, lists, tmp_path)
    for make in (server_context, client_context):
        with pytest.raises(StoreError, match=r"also has a certificate; remove"):
            make(unsafe)


@pytest.mark.parametrize(
    ("lists", "message"),
    [
        ("", "no certificate revocation list"),
        ("-----BEGIN X509 CRL-----\nAAAA\n-----END X509 CRL-----\n", "cannot be read"),
        ("-----BEGIN TRUSTED CERTIFICATE-----\n", "has a trusted certificate"),
    ],
)
def test_what_is_no_list_is_refused(
    authority: Authority, tmp_path: Path, lists: str, message: str
) -> None:
    with pytest.raises(StoreError, match=message) as refused:
        server_context(settings(authority, lists, tmp_path))
    assert "revoked.pem" in str(refused.value)


def warnings_of(caplog: pytest.LogCaptureFixture) -> list[str]:
    return [each.getMessage() for each in caplog.records if each.levelno == logging.WARNING]


@pytest.mark.parametrize("mode", [0o644, 0o604, 0o620, 0o602, 0o666])
def test_key_stores_that_others_can_read_or_replace_are_warned_about(
    authority: Authority, caplog: pytest.LogCaptureFixture, mode: int
) -> None:
    files = authority.issue("broker")
    files.keystore.chmod(mode)
    server_context(tls_settings(files))
    (warning,) = warnings_of(caplog)
    assert warning.endswith(f"key store {files.keystore}; run: chmod 600 {files.keystore}")


@pytest.mark.parametrize("which", ["trust store", "revocation list"])
def test_files_of_trust_that_others_can_replace_are_warned_about(
    authority: Authority, caplog: pytest.LogCaptureFixture, tmp_path: Path, which: str
) -> None:
    safe = settings(authority, authority.revocation_list(), tmp_path)
    server_context(safe)
    assert warnings_of(caplog) == []
    path = authority.truststore if which == "trust store" else tmp_path / "revoked.pem"
    path.chmod(0o666)
    server_context(safe)
    (warning,) = warnings_of(caplog)
    assert warning.endswith(f"replace the {which} {path}; run: chmod o-w {path}")

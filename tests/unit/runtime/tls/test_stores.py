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


class Handshake:
    """Of a client of the authority with a server, in memory."""

    def __init__(
        self,
        server: ssl.SSLContext,
        client: ssl.SSLContext,
        session: ssl.SSLSession | None = None,
    ) -> None:
        to_server, to_client = ssl.MemoryBIO(), ssl.MemoryBIO()
        self.client = client.wrap_bio(
            to_client, to_server, server_hostname="localhost", session=session
        )
        self._ends = (self.client, server.wrap_bio(to_server, to_client, server_side=True))

    def refusal(self) -> str | None:
        """Why the server refuses the client; None if it accepts it."""
        for _ in range(3):
            for end in self._ends:
                try:
                    end.do_handshake()
                except ssl.SSLWantReadError:
                    continue
                except ssl.SSLCertVerificationError as error:
                    return error.verify_message
        # With TLS 1.3, tickets to resume the session come after the handshake.
        self._ends[1].write(b"!")
        self.client.read()
        return None


def client_of(authority: Authority, files: PemFiles) -> ssl.SSLContext:
    context = ssl.create_default_context(cafile=str(authority.truststore))
    context.load_cert_chain(files.keystore)
    return context


def refusal_of(server: ssl.SSLContext, authority: Authority, client: PemFiles) -> str | None:
    return Handshake(server, client_of(authority, client)).refusal()


def test_revoked_certificates_are_refused_and_others_are_not(
    authority: Authority, tmp_path: Path
) -> None:
    alice, mallory = authority.issue("alice"), authority.issue("mallory")
    lists = authority.revocation_list([mallory])
    server = server_context(settings(authority, lists, tmp_path))
    assert refusal_of(server, authority, alice) is None
    assert refusal_of(server, authority, mallory) == "certificate revoked"


def test_sessions_from_before_a_revocation_are_not_resumed(
    authority: Authority, tmp_path: Path
) -> None:
    """Without a certificate to check, a resumed session would go around the list."""
    mallory = authority.issue("mallory")
    client = client_of(authority, mallory)
    before = server_context(settings(authority, authority.revocation_list(), tmp_path))
    first = Handshake(before, client)
    assert first.refusal() is None
    resumed = Handshake(before, client, first.client.session)
    assert resumed.refusal() is None
    assert resumed.client.session_reused
    # As `TlsEndpoint` does when the file has changed.
    after = server_context(settings(authority, authority.revocation_list([mallory]), tmp_path))
    assert Handshake(after, client, first.client.session).refusal() == "certificate revoked"


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

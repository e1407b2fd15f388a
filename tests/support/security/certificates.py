"""Certificates of tests: an authority, and PEM files signed by it."""

from __future__ import annotations

from collections.abc import Iterable
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import NamedTuple

import trustme
from cryptography import x509
from cryptography.hazmat.primitives.asymmetric.ec import EllipticCurvePrivateKey
from cryptography.hazmat.primitives.hashes import SHA256
from cryptography.hazmat.primitives.serialization import Encoding, load_pem_private_key

from ottla.configs.listener_security import ClientAuth, Store, TlsSettings

ORGANIZATION = "Ottla tests"


class PemFiles(NamedTuple):
    """A key with its certificate chain in one file, and the trusted authority in another."""

    keystore: Path
    truststore: Path


class Authority:
    """Signs certificates for this host."""

    def __init__(self, directory: Path, name: str = "authority") -> None:
        self._directory = directory
        self._authority = trustme.CA(organization_name=ORGANIZATION, key_type=trustme.KeyType.ECDSA)
        self.truststore = directory / f"{name}.pem"
        self._authority.cert_pem.write_to_path(self.truststore)

    @property
    def pem(self) -> str:
        return self._authority.cert_pem.bytes().decode()

    def revocation_list(self, revoked: Iterable[PemFiles] = (), *, is_expired: bool = False) -> str:
        """The text of a list of these certificates, in PEM."""
        key = load_pem_private_key(self._authority.private_key_pem.bytes(), None)
        assert isinstance(key, EllipticCurvePrivateKey)
        own = x509.load_pem_x509_certificate(self._authority.cert_pem.bytes())
        now = datetime.now(UTC)  # noqa: TID251
        begin = now - timedelta(days=30)
        until = now + timedelta(days=-1 if is_expired else 1)
        builder = x509.CertificateRevocationListBuilder(own.subject, begin, until)
        for files in revoked:
            certificate = x509.load_pem_x509_certificate(files.keystore.read_bytes())
            entry = x509.RevokedCertificateBuilder(certificate.serial_number, begin).build()
            builder = builder.add_revoked_certificate(entry)
        return builder.sign(key, SHA256()).public_bytes(Encoding.PEM).decode()

    def issue(
        self, name: str, *, is_expired: bool = False, valid_for: timedelta | None = None
    ) -> PemFiles:
        """A certificate with the common name, valid for localhost and its addresses."""
        valid_for = timedelta(days=-1) if is_expired else valid_for
        expiry = None if valid_for is None else datetime.now(UTC) + valid_for  # noqa: TID251
        issued = self._authority.issue_cert(
            "localhost",
            "127.0.0.1",
            common_name=name,
            organization_name=ORGANIZATION,
            key_type=trustme.KeyType.ECDSA,
            not_after=expiry,
        )
        keystore = self._directory / f"{name}.pem"
        issued.private_key_and_cert_chain_pem.write_to_path(keystore)
        keystore.chmod(0o600)
        return PemFiles(keystore, self.truststore)


def tls_settings(
    files: PemFiles | None,
    *,
    truststore: Path | None = None,
    client_auth: ClientAuth = "none",
    protocols: tuple[str, ...] = ("TLSv1.2", "TLSv1.3"),
    cipher_suites: tuple[str, ...] = (),
    endpoint_identification: bool = True,
    crl_location: str | None = None,
) -> TlsSettings:
    trusted = truststore or (None if files is None else files.truststore)
    return TlsSettings(
        keystore=None if files is None else Store("PEM", str(files.keystore)),
        truststore=None if trusted is None else Store("PEM", str(trusted)),
        client_auth=client_auth,
        enabled_protocols=protocols,
        client_protocols=protocols,
        cipher_suites=cipher_suites,
        endpoint_identification=endpoint_identification,
        crl_location=crl_location,
    )

"""Makes certificates: of a development authority, and those that it signs.

Needs the package cryptography. Nothing here touches files or prints.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field
from datetime import datetime, timedelta
from ipaddress import ip_address
from typing import Final, TypeAlias

from cryptography import x509
from cryptography.hazmat.primitives import hashes
from cryptography.hazmat.primitives.asymmetric import ec, rsa
from cryptography.hazmat.primitives.asymmetric.types import CertificateIssuerPrivateKeyTypes
from cryptography.hazmat.primitives.serialization import (
    BestAvailableEncryption,
    Encoding,
    NoEncryption,
    PrivateFormat,
    load_pem_private_key,
    pkcs12,
)
from cryptography.x509.oid import ExtendedKeyUsageOID, NameOID

Key: TypeAlias = CertificateIssuerPrivateKeyTypes

_RSA_BITS: Final = 3072
_RSA_EXPONENT: Final = 65_537
# Clocks of other hosts may be behind.
_BACKDATED: Final = timedelta(minutes=5)


@dataclass(frozen=True, slots=True)
class KeyPair:
    """A certificate with its private key, and the certificate of the authority that signed it."""

    certificate: x509.Certificate
    key: Key = field(repr=False)
    issuer: x509.Certificate | None = None

    @property
    def certificate_pem(self) -> str:
        """The chain: the certificate first."""
        chain = [self.certificate, *([] if self.issuer is None else [self.issuer])]
        return "".join(each.public_bytes(Encoding.PEM).decode() for each in chain)

    @property
    def key_pem(self) -> str:
        """In PKCS#8, unencrypted."""
        return self.key.private_bytes(Encoding.PEM, PrivateFormat.PKCS8, NoEncryption()).decode()

    @property
    def keystore_pem(self) -> str:
        """Both in one file, as ssl.keystore.location of a PEM store has them."""
        return self.key_pem + self.certificate_pem

    def pkcs12(self, name: str, password: str) -> bytes:
        issuers = None if self.issuer is None else [self.issuer]
        return pkcs12.serialize_key_and_certificates(
            name.encode(),
            self.key,  # type: ignore[arg-type]  # any key that signs
            self.certificate,
            issuers,
            BestAvailableEncryption(password.encode()),
        )


@dataclass(frozen=True, slots=True)
class Validity:
    """From a few minutes before `now`."""

    now: datetime
    days: int

    @property
    def begin(self) -> datetime:
        return self.now - _BACKDATED

    @property
    def end(self) -> datetime:
        return self.now + timedelta(days=self.days)


def load_pair(certificate_pem: bytes, key_pem: bytes) -> KeyPair:
    """Raises a ValueError unless they are a certificate and its unencrypted private key."""
    certificate = x509.load_pem_x509_certificate(certificate_pem)
    key = load_pem_private_key(key_pem, None)
    if not isinstance(key, ec.EllipticCurvePrivateKey | rsa.RSAPrivateKey):
        raise TypeError("the private key is neither ECDSA nor RSA")
    if key.public_key() != certificate.public_key():
        raise ValueError("the private key is not that of the certificate")
    return KeyPair(certificate, key)


def make_authority(name: str, validity: Validity, *, is_rsa: bool = False) -> KeyPair:
    """A certificate that signs others, and itself."""
    key, subject = _new_key(is_rsa=is_rsa), _subject(name)
    certificate = (
        _unsigned(subject, subject, key, validity)
        .add_extension(x509.BasicConstraints(ca=True, path_length=0), critical=True)
        .add_extension(_usage(is_authority=True, is_rsa=is_rsa), critical=True)
        .sign(key, hashes.SHA256())
    )
    return KeyPair(certificate, key)


def make_server(
    authority: KeyPair,
    name: str,
    hosts: Sequence[str],
    validity: Validity,
    *,
    is_rsa: bool = False,
) -> KeyPair:
    """For a node: others connect to it by these names and addresses, and it connects to others."""
    purposes = [ExtendedKeyUsageOID.SERVER_AUTH, ExtendedKeyUsageOID.CLIENT_AUTH]
    names = x509.SubjectAlternativeName([_alternative_name(host) for host in hosts])
    key = _new_key(is_rsa=is_rsa)
    builder = _signed_by(authority, name, key, validity, purposes, is_rsa=is_rsa)
    return _sign(authority, builder.add_extension(names, critical=False), key)


def make_client(
    authority: KeyPair, name: str, validity: Validity, *, is_rsa: bool = False
) -> KeyPair:
    key = _new_key(is_rsa=is_rsa)
    purposes = [ExtendedKeyUsageOID.CLIENT_AUTH]
    builder = _signed_by(authority, name, key, validity, purposes, is_rsa=is_rsa)
    return _sign(authority, builder, key)


def _new_key(*, is_rsa: bool) -> Key:
    if is_rsa:
        return rsa.generate_private_key(_RSA_EXPONENT, _RSA_BITS)
    return ec.generate_private_key(ec.SECP256R1())


def _subject(name: str) -> x509.Name:
    """Only a common name, so that the principal is `User:CN=NAME`."""
    return x509.Name([x509.NameAttribute(NameOID.COMMON_NAME, name)])


def _alternative_name(host: str) -> x509.GeneralName:
    try:
        return x509.IPAddress(ip_address(host.strip("[]")))
    except ValueError:
        return x509.DNSName(host)


def _unsigned(
    subject: x509.Name, issuer: x509.Name, key: Key, validity: Validity
) -> x509.CertificateBuilder:
    public = key.public_key()
    return (
        x509.CertificateBuilder()
        .subject_name(subject)
        .issuer_name(issuer)
        .public_key(public)
        .serial_number(x509.random_serial_number())
        .not_valid_before(validity.begin)
        .not_valid_after(validity.end)
        .add_extension(x509.SubjectKeyIdentifier.from_public_key(public), critical=False)
    )


def _signed_by(
    authority: KeyPair,
    name: str,
    key: Key,
    validity: Validity,
    purposes: Sequence[x509.ObjectIdentifier],
    *,
    is_rsa: bool,
) -> x509.CertificateBuilder:
    issuer = authority.certificate
    key_id = x509.AuthorityKeyIdentifier.from_issuer_public_key(authority.key.public_key())
    return (
        _unsigned(_subject(name), issuer.subject, key, validity)
        .add_extension(x509.BasicConstraints(ca=False, path_length=None), critical=True)
        .add_extension(_usage(is_authority=False, is_rsa=is_rsa), critical=True)
        .add_extension(x509.ExtendedKeyUsage(purposes), critical=False)
        .add_extension(key_id, critical=False)
    )


def _sign(authority: KeyPair, builder: x509.CertificateBuilder, key: Key) -> KeyPair:
    return KeyPair(builder.sign(authority.key, hashes.SHA256()), key, authority.certificate)


def _usage(*, is_authority: bool, is_rsa: bool) -> x509.KeyUsage:
    return x509.KeyUsage(
        digital_signature=not is_authority,
        content_commitment=False,
        key_encipherment=is_rsa and not is_authority,
        data_encipherment=False,
        key_agreement=False,
        key_cert_sign=is_authority,
        crl_sign=is_authority,
        encipher_only=False,
        decipher_only=False,
    )

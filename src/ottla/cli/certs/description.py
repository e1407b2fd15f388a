"""What a certificate says: its subject, names, validity, and the principal of its owner."""

from __future__ import annotations

from collections.abc import Iterator
from datetime import datetime
from pathlib import Path
from typing import Any, Final, NamedTuple

from cryptography import x509
from cryptography.hazmat.primitives.asymmetric import ec, rsa
from cryptography.hazmat.primitives.serialization import Encoding, pkcs12

from ottla.cli.arguments.input_file import unreadable
from ottla.cli.exit_codes import CommandError, ExitCode
from ottla.security.der import InvalidCertificateError
from ottla.security.distinguished_name import subject_of
from ottla.security.principal import USER, Principal
from ottla.security.principal_mapping import PrincipalMapping
from ottla.security.sasl.mechanism import AuthenticationError

_PEM_BEGIN: Final = b"-----BEGIN "
_PEM_CERTIFICATE: Final = b"-----BEGIN CERTIFICATE-----"


class CertificateView(NamedTuple):
    """`principal` is None if no mapping rule matches."""

    subject: str
    issuer: str
    names: tuple[str, ...]
    key: str
    is_authority: bool
    begins: datetime
    expires: datetime
    principal: str | None

    def to_json(self, now: datetime) -> dict[str, Any]:
        return {
            "subject": self.subject,
            "issuer": self.issuer,
            "names": list(self.names),
            "key": self.key,
            "is_authority": self.is_authority,
            "begins": self.begins.isoformat(),
            "expires": self.expires.isoformat(),
            "is_valid": self.begins <= now <= self.expires,
            "principal": self.principal,
        }


def describe(file: Path, rules: str, password: str | None) -> list[CertificateView]:
    """The certificates of a PEM or PKCS#12 file. Raises CommandError."""
    try:
        mapping = PrincipalMapping.parse(rules)
    except ValueError as error:
        raise _usage(f"{error}.") from None
    try:
        content = file.read_bytes()
    except OSError as error:
        remedy = "name a PEM or PKCS#12 file"
        raise unreadable(file, error, remedy=remedy) from None
    try:
        return [_view(each, mapping) for each in _certificates(file, content, password)]
    except (ValueError, InvalidCertificateError):
        raise _usage(
            f"{file} has no certificates that can be read.",
            "It must be PEM, or PKCS#12 with its password (--password-file).",
        ) from None


def _certificates(file: Path, content: bytes, password: str | None) -> list[x509.Certificate]:
    if _PEM_CERTIFICATE in content:
        return x509.load_pem_x509_certificates(content)
    if _PEM_BEGIN in content:
        raise _usage(f"{file} has no certificate; it may be the private key of one.")
    store = pkcs12.load_pkcs12(content, None if password is None else password.encode())
    entries = (store.cert, *store.additional_certs)
    return [each.certificate for each in entries if each is not None]


def _view(certificate: x509.Certificate, mapping: PrincipalMapping) -> CertificateView:
    subject = subject_of(certificate.public_bytes(Encoding.DER))
    try:
        principal: str | None = str(Principal(USER, mapping.name_of(subject)))
    except AuthenticationError:
        principal = None
    return CertificateView(
        subject=subject,
        issuer=certificate.issuer.rfc4514_string(),
        names=tuple(_names(certificate)),
        key=_key(certificate),
        is_authority=_is_authority(certificate),
        begins=certificate.not_valid_before_utc,
        expires=certificate.not_valid_after_utc,
        principal=principal,
    )


def _names(certificate: x509.Certificate) -> Iterator[str]:
    try:
        found = certificate.extensions.get_extension_for_class(x509.SubjectAlternativeName).value
    except x509.ExtensionNotFound:
        return
    for name in found:
        kind = "IP" if isinstance(name, x509.IPAddress) else "DNS"
        yield f"{kind}:{name.value}"


def _is_authority(certificate: x509.Certificate) -> bool:
    try:
        found = certificate.extensions.get_extension_for_class(x509.BasicConstraints)
    except x509.ExtensionNotFound:
        return False
    return bool(found.value.ca)


def _key(certificate: x509.Certificate) -> str:
    key = certificate.public_key()
    if isinstance(key, rsa.RSAPublicKey):
        return f"RSA {key.key_size}"
    if isinstance(key, ec.EllipticCurvePublicKey):
        return f"ECDSA {key.curve.name}"
    return type(key).__name__.strip("_").removesuffix("PublicKey")


def _usage(message: str, *hints: str) -> CommandError:
    return CommandError(message, *hints, exit_code=ExitCode.USAGE)

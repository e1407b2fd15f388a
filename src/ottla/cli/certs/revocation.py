"""The revocation list of a development authority: the certificates that it takes back.

Needs the package cryptography. Nothing here touches files or prints.
"""

from __future__ import annotations

from collections.abc import Iterable

from cryptography import x509
from cryptography.hazmat.primitives import hashes
from cryptography.hazmat.primitives.serialization import Encoding

from ottla.cli.certs.authority import KeyPair, Validity


def make_revocation_list(
    authority: KeyPair,
    certificates: Iterable[bytes],
    validity: Validity,
    *,
    previous: bytes | None = None,
) -> bytes:
    """The first certificate of each PEM text, and those of the previous list, in PEM form. Raises
    ValueError for what is not a certificate of this authority."""
    revoked = {} if previous is None else _entries(previous)
    number = 1 if previous is None else _number(previous) + 1
    for pem in certificates:
        certificate = x509.load_pem_x509_certificates(pem)[0]
        try:
            certificate.verify_directly_issued_by(authority.certificate)
        except Exception:  # Of several types, one for each reason.
            name = certificate.subject.rfc4514_string()
            raise ValueError(f"the certificate of {name} is not signed by this authority") from None
        serial = certificate.serial_number
        if serial not in revoked:
            revoked[serial] = _revoked(serial, validity)
    builder = (
        x509.CertificateRevocationListBuilder()
        .issuer_name(authority.certificate.subject)
        .last_update(validity.begin)
        .next_update(validity.end)
        .add_extension(
            x509.AuthorityKeyIdentifier.from_issuer_public_key(authority.key.public_key()),
            critical=False,
        )
        .add_extension(x509.CRLNumber(number), critical=False)
    )
    for entry in revoked.values():
        builder = builder.add_revoked_certificate(entry)
    return builder.sign(authority.key, hashes.SHA256()).public_bytes(Encoding.PEM)


def _revoked(serial: int, validity: Validity) -> x509.RevokedCertificate:
    builder = x509.RevokedCertificateBuilder().serial_number(serial)
    return builder.revocation_date(validity.now).build()


def _entries(previous: bytes) -> dict[int, x509.RevokedCertificate]:
    return {each.serial_number: each for each in x509.load_pem_x509_crl(previous)}


def _number(previous: bytes) -> int:
    found = x509.load_pem_x509_crl(previous).extensions.get_extension_for_class(x509.CRLNumber)
    return found.value.crl_number

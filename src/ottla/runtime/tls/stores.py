"""Reads key stores and trust stores, PEM or PKCS#12, from a file or from the settings, and
certificate revocation lists.

OpenSSL loads a private key only from a file. Decoded keys are shown to it as a file in memory,
never on disk.
"""

from __future__ import annotations

import os
import re
import ssl
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Final

from ottla.configs.listener_security import Store
from ottla.configs.pem import with_line_breaks
from ottla.configs.value import Password
from ottla.runtime.exposed_files import warn_if_readable, warn_if_replaceable

_PEM_CERTIFICATE: Final = "-----BEGIN CERTIFICATE-----"
_PEM_CERTIFICATE_END: Final = "-----END CERTIFICATE-----"
_PEM_KIND: Final = re.compile("-----BEGIN ([^-]*)-----")
_PEM_REVOCATION_LIST: Final = "X509 CRL"


class StoreError(OSError):
    """A store that cannot be used. The message names the store and says what to do."""


def load_keystore(context: ssl.SSLContext, store: Store) -> None:
    """Loads the private key and its certificate chain. Raises StoreError."""
    if store.location is not None:
        warn_if_readable(store.location, what="key store")
    if store.type == "PKCS12":
        password: str | None = None
        pem = _decoded(store).key_and_certificates
    else:
        password = _text(store.key_password)
        pem = _pem_text(store)
    with _file_in_memory(pem.encode()) as path:
        try:
            # Without a callback OpenSSL would ask for a password on the terminal.
            context.load_cert_chain(path, password=lambda: password or "")
        except (ssl.SSLError, ValueError) as error:
            reason = getattr(error, "reason", None) or str(error)
            raise StoreError(
                f"the key store {name_of(store)} cannot be used ({reason}); it needs a private "
                "key in PKCS#8 form and its certificate chain, and the right key password if the "
                "key is encrypted"
            ) from None


def own_certificate(store: Store) -> bytes | None:
    """The certificate of a key store in DER form: the first of its chain. Raises StoreError."""
    pem = _decoded(store).certificates if store.type == "PKCS12" else _pem_text(store)
    begin, end = pem.find(_PEM_CERTIFICATE), pem.find(_PEM_CERTIFICATE_END)
    if not 0 <= begin < end:
        return None
    return ssl.PEM_cert_to_DER_cert(pem[begin : end + len(_PEM_CERTIFICATE_END)])


def load_truststore(context: ssl.SSLContext, store: Store) -> None:
    """Trusts the certificates of the store. Raises StoreError."""
    if store.location is not None:
        warn_if_replaceable(store.location, what="trust store")
    pem = _decoded(store).certificates if store.type == "PKCS12" else _pem_text(store)
    if _PEM_CERTIFICATE not in pem:
        raise StoreError(f"the trust store {name_of(store)} has no certificates")
    try:
        context.load_verify_locations(cadata=pem)
    except ssl.SSLError as error:
        raise StoreError(
            f"the trust store {name_of(store)} cannot be read: {error.reason}"
        ) from None


def load_revocation_lists(context: ssl.SSLContext, location: str) -> None:
    """Refuses the certificates in the lists. Raises StoreError, also for a file with other things
    than lists: OpenSSL would trust certificates in it, and such files are often copied from other
    hosts."""
    warn_if_replaceable(location, what="revocation list")
    name = f"the revocation list {location} (ottla.ssl.crl.location)"
    try:
        text = Path(location).read_text()
    except (OSError, UnicodeDecodeError) as error:
        raise StoreError(f"{name} cannot be read: {error}") from error
    kinds = set(_PEM_KIND.findall(text))
    if not kinds:
        raise StoreError(f"{location} has no certificate revocation list in PEM form")
    if others := sorted(kinds - {_PEM_REVOCATION_LIST}):
        raise StoreError(
            f"{name} also has a {others[0].lower()}; remove everything from it but revocation lists"
        )
    with _file_in_memory(text.encode()) as path:
        try:
            context.load_verify_locations(path)
        except ssl.SSLError as error:
            raise StoreError(f"{name} cannot be read: {error.reason}") from None
    context.verify_flags |= ssl.VERIFY_CRL_CHECK_LEAF


def _pem_text(store: Store) -> str:
    if store.location is None:
        parts = [_text(store.key), _text(store.certificates)]
        return with_line_breaks("\n".join(part for part in parts if part))
    try:
        return with_line_breaks(_read(store).decode())
    except UnicodeDecodeError:
        raise StoreError(
            f"{store.location} is not a PEM file; for PKCS#12, set the store's type to PKCS12"
        ) from None


def _read(store: Store) -> bytes:
    assert store.location is not None
    try:
        return Path(store.location).read_bytes()
    except OSError as error:
        reason = (error.strerror or str(error)).lower()
        raise StoreError(f"the store {store.location} cannot be read: {reason}") from error


class _Decoded:
    def __init__(self, key_and_certificates: str, certificates: str) -> None:
        self.key_and_certificates = key_and_certificates
        self.certificates = certificates


def _decoded(store: Store) -> _Decoded:
    """A PKCS#12 store as PEM text."""
    try:
        from cryptography.hazmat.primitives.serialization import (
            Encoding,
            NoEncryption,
            PrivateFormat,
        )
        from cryptography.hazmat.primitives.serialization.pkcs12 import load_pkcs12
    except ImportError:
        raise StoreError(
            f"{name_of(store)} is a PKCS#12 store: install ottla[security], which reads it, or "
            "convert it to PEM"
        ) from None
    data, password = _read(store), _text(store.password)
    try:
        loaded = load_pkcs12(data, None if password is None else password.encode())
    except ValueError:
        raise StoreError(
            f"the PKCS#12 store {store.location} cannot be opened; check its password and type"
        ) from None
    certificates = [each.certificate for each in (loaded.cert, *loaded.additional_certs) if each]
    texts = [each.public_bytes(Encoding.PEM).decode() for each in certificates]
    key = ""
    if loaded.key is not None:
        private = loaded.key.private_bytes(Encoding.PEM, PrivateFormat.PKCS8, NoEncryption())
        key = private.decode()
    return _Decoded(key + "".join(texts), "".join(texts))


@contextmanager
def _file_in_memory(data: bytes) -> Iterator[str]:
    descriptor = os.memfd_create("store")
    try:
        os.write(descriptor, data)
        yield f"/proc/self/fd/{descriptor}"
    finally:
        os.close(descriptor)


def _text(password: Password | None) -> str | None:
    return None if password is None else password.value


def name_of(store: Store) -> str:
    return store.location or "in the settings"

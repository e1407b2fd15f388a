"""Kafka's trust stores and key stores, as librdkafka's properties.

A PEM file is named as it is. A PKCS#12 key store as well, but a PKCS#12 trust store is converted to
PEM in memory, because librdkafka reads certificates of authorities from PEM only. Java's own format
is refused with the command that converts it.
"""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from typing import Final

from ottla.client_security.errors import ClientPropertyError, unreadable
from ottla.configs.pem import with_line_breaks

CA_LOCATION: Final = "ssl.ca.location"
CA_PEM: Final = "ssl.ca.pem"
CERTIFICATE_LOCATION: Final = "ssl.certificate.location"
CERTIFICATE_PEM: Final = "ssl.certificate.pem"
KEY_LOCATION: Final = "ssl.key.location"
KEY_PEM: Final = "ssl.key.pem"
KEY_PASSWORD: Final = "ssl.key.password"  # noqa: S105 - the name
KEYSTORE_LOCATION: Final = "ssl.keystore.location"
KEYSTORE_PASSWORD: Final = "ssl.keystore.password"  # noqa: S105 - the name
CRL_LOCATION: Final = "ssl.crl.location"
_OWN_CRL_LOCATION: Final = "ottla.ssl.crl.location"
_TRUSTSTORE: Final = "ssl.truststore"
_KEYSTORE: Final = "ssl.keystore"
_CHAIN: Final = "ssl.keystore.certificate.chain"
_KEY: Final = "ssl.keystore.key"
_TRUSTED: Final = "ssl.truststore.certificates"
_PEM: Final = "PEM"
_PKCS12: Final = "PKCS12"
_JKS: Final = "JKS"
_JKS_MAGIC: Final = b"\xfe\xed\xfe\xed"
_PEM_BEGIN: Final = b"-----BEGIN "
# In front of the first certificate a PEM file may have a text that describes it.
_SNIFFED_BYTES: Final = 64 << 10

# Ways to set one thing: no two of a group may be given.
_ALTERNATIVES: Final = (
    ("ssl.truststore.location", _TRUSTED, CA_LOCATION, CA_PEM),
    (KEYSTORE_LOCATION, _CHAIN, CERTIFICATE_LOCATION, CERTIFICATE_PEM),
    (KEYSTORE_LOCATION, _KEY, KEY_LOCATION, KEY_PEM),
    (_OWN_CRL_LOCATION, CRL_LOCATION),
)
# Each makes sense only with one of the others.
_NEEDS: Final[Mapping[str, tuple[str, ...]]] = {
    "ssl.truststore.password": ("ssl.truststore.location",),
    "ssl.keystore.password": (KEYSTORE_LOCATION,),
    _CHAIN: (_KEY, KEY_LOCATION, KEY_PEM),
    _KEY: (_CHAIN, CERTIFICATE_LOCATION, CERTIFICATE_PEM),
    KEY_PASSWORD: (KEYSTORE_LOCATION, _KEY, KEY_LOCATION, KEY_PEM),
}


def store_properties(given: Mapping[str, str]) -> dict[str, str]:
    """Raises ClientPropertyError for stores that contradict each other or cannot be read."""
    for group in _ALTERNATIVES:
        several = [name for name in group if name in given]
        if len(several) > 1:
            names = " and ".join(several)
            raise _usage(f"{names} set the same thing: leave one of them out.")
    for name, others in _NEEDS.items():
        if name in given and not any(other in given for other in others):
            raise _usage(f"{name} needs {' or '.join(others)}.")
    found = {**_trusted(given), **_own_certificate(given)}
    if _OWN_CRL_LOCATION in given:
        found[CRL_LOCATION] = given[_OWN_CRL_LOCATION]
    return found


def _trusted(given: Mapping[str, str]) -> dict[str, str]:
    if _TRUSTED in given:
        _require_pem_type(given, _TRUSTSTORE, _TRUSTED)
        return {CA_PEM: with_line_breaks(given[_TRUSTED])}
    location = given.get("ssl.truststore.location")
    if location is None:
        return {}
    password = given.get("ssl.truststore.password")
    if _store_type(given, _TRUSTSTORE, location) == _PKCS12:
        return {CA_PEM: trusted_pem(location, password)}
    _refuse_password(_TRUSTSTORE, password)
    return {CA_LOCATION: location}


def _own_certificate(given: Mapping[str, str]) -> dict[str, str]:
    key_password = {KEY_PASSWORD: given[KEY_PASSWORD]} if KEY_PASSWORD in given else {}
    if _CHAIN in given:
        _require_pem_type(given, _KEYSTORE, _CHAIN)
    inline = {}
    if _CHAIN in given:
        inline[CERTIFICATE_PEM] = with_line_breaks(given[_CHAIN])
    if _KEY in given:
        inline[KEY_PEM] = with_line_breaks(given[_KEY])
    location = given.get(KEYSTORE_LOCATION)
    if location is None:
        return {**inline, **key_password}
    password = given.get(KEYSTORE_PASSWORD)
    if _store_type(given, _KEYSTORE, location) == _PEM:
        _refuse_password(_KEYSTORE, password)
        return {CERTIFICATE_LOCATION: location, KEY_LOCATION: location, **key_password}
    if key_password and key_password[KEY_PASSWORD] != password:
        raise _usage(
            f"{KEY_PASSWORD} differs from {KEYSTORE_PASSWORD}.",
            "A PKCS#12 store has one password for the store and its key; leave "
            f"{KEY_PASSWORD} out.",
        )
    return {
        KEYSTORE_LOCATION: location,
        **({} if password is None else {KEYSTORE_PASSWORD: password}),
    }


def _store_type(given: Mapping[str, str], store: str, location: str) -> str:
    """PEM or PKCS12. As Java's JKS type also reads PKCS#12, the file decides if none is given."""
    config = f"{store}.type"
    named = given.get(config, _JKS).upper()
    if named not in (_PEM, _PKCS12, _JKS):
        raise _usage(f"{config} {given[config]!r} must be PEM or PKCS12.")
    try:
        with Path(location).open("rb") as file:
            begin = file.read(_SNIFFED_BYTES)
    except OSError as error:
        remedy = f"correct the path of {store}.location"
        raise unreadable(location, error, remedy=remedy) from None
    if begin.startswith(_JKS_MAGIC):
        raise _usage(
            f"{location} ({store}.location) is a store in Java's own format, which is not "
            "supported.",
            f"Convert it: keytool -importkeystore -srckeystore {location} -destkeystore "
            f"{Path(location).with_suffix('.p12')} -deststoretype PKCS12",
            f"Then write {store}.location with the new file, and {config}=PKCS12.",
        )
    found = _PEM if _PEM_BEGIN in begin else _PKCS12
    if named not in (found, _JKS):
        raise _usage(
            f"{location} ({store}.location) is not a {named} file, but {config} says so.",
            f"It seems to be {found}: write {config}={found}.",
        )
    return found


def trusted_pem(location: str, password: str | None) -> str:
    """The certificates of a PKCS#12 store, as PEM. Raises ClientPropertyError."""
    try:
        from cryptography.hazmat.primitives.serialization import Encoding
        from cryptography.hazmat.primitives.serialization.pkcs12 import load_pkcs12
    except ImportError:
        raise no_security_package(f"{location} is a PKCS#12 store.") from None
    try:
        store = load_pkcs12(
            Path(location).read_bytes(), None if password is None else password.encode()
        )
    except ValueError:
        raise _usage(
            f"Cannot open {location} (ssl.truststore.location).",
            "Is it a PKCS#12 store, and is ssl.truststore.password right?",
        ) from None
    certificates = [
        each.certificate for each in (store.cert, *store.additional_certs) if each is not None
    ]
    if not certificates:
        raise _usage(f"{location} (ssl.truststore.location) has no certificates.")
    return "".join(each.public_bytes(Encoding.PEM).decode() for each in certificates)


def no_security_package(reason: str) -> ClientPropertyError:
    return _usage(
        f"{reason} The package cryptography, which reads and writes it, is not installed.",
        "Install it with: pip install 'ottla[security]'",
    )


def _require_pem_type(given: Mapping[str, str], store: str, name: str) -> None:
    config = f"{store}.type"
    if given.get(config, _PEM).upper() != _PEM:
        raise _usage(f"{name} is PEM text, but {config} is not PEM: write {config}=PEM.")


def _refuse_password(store: str, password: str | None) -> None:
    if password is not None:
        hint = "The password of a PEM file's private key is ssl.key.password."
        raise _usage(
            f"{store}.password has no effect, because {store}.location is a PEM file.",
            hint if store == _KEYSTORE else f"Leave {store}.password out.",
        )


def _usage(message: str, *hints: str) -> ClientPropertyError:
    return ClientPropertyError(message, *hints)

"""Builds a listener's key store and trust store from its configs.

The combinations that Kafka refuses are refused here too, and JKS files, which only Java reads.
"""

from __future__ import annotations

from typing import Final

from ottla.configs.errors import InvalidConfigError
from ottla.configs.listener_security import Store, StoreType
from ottla.configs.listener_values import ListenerValues

_PEM: Final[StoreType] = "PEM"
_PKCS12: Final[StoreType] = "PKCS12"
_JKS: Final = "JKS"
_PKCS12_SUFFIXES: Final = (".p12", ".pfx", ".pkcs12")


def keystore_of(listener: ListenerValues) -> Store | None:
    """None without a key store. Raises InvalidConfigError for configs that exclude each other."""
    location, password = listener.ssl_keystore_location, listener.ssl_keystore_password
    chain, key = listener.ssl_keystore_certificate_chain, listener.ssl_keystore_key
    if location is None and chain is None and key is None:
        if password is not None:
            raise listener.error("ssl.keystore.password is set without ssl.keystore.location")
        return None
    if (chain is None) != (key is None):
        raise listener.error(
            "ssl.keystore.key and ssl.keystore.certificate.chain must be set together"
        )
    if key is not None and location is not None:
        raise listener.error("set either ssl.keystore.location or ssl.keystore.key, not both")
    store_type = _type_of(listener, "keystore", listener.ssl_keystore_type, location)
    if store_type == _PEM and password is not None:
        raise listener.error(
            "ssl.keystore.password does not apply to PEM; the password of the private key is "
            "ssl.key.password"
        )
    if store_type == _PKCS12 and password is None:
        raise listener.error("ssl.keystore.location needs ssl.keystore.password")
    return Store(
        store_type,
        location=location,
        certificates=chain,
        key=key,
        password=password,
        key_password=listener.ssl_key_password,
    )


def truststore_of(listener: ListenerValues) -> Store | None:
    """None without a trust store. Raises InvalidConfigError for configs that exclude each other."""
    location, password = listener.ssl_truststore_location, listener.ssl_truststore_password
    certificates = listener.ssl_truststore_certificates
    if location is None and certificates is None:
        if password is not None:
            raise listener.error("ssl.truststore.password is set without ssl.truststore.location")
        return None
    if certificates is not None and location is not None:
        raise listener.error(
            "set either ssl.truststore.location or ssl.truststore.certificates, not both"
        )
    store_type = _type_of(listener, "truststore", listener.ssl_truststore_type, location)
    if store_type == _PEM and password is not None:
        raise listener.error("ssl.truststore.password does not apply to PEM; remove it")
    return Store(store_type, location=location, certificates=certificates, password=password)


def _type_of(listener: ListenerValues, kind: str, text: str, location: str | None) -> StoreType:
    written = text.upper()
    config = f"ssl.{kind}.type"
    if location is None and written != _PEM:
        raise listener.error(
            f"certificates and keys in the properties are PEM, and {config} is {text}; "
            f"set {config}=PEM"
        )
    if written == _PEM:
        return _PEM
    if written == _PKCS12:
        return _PKCS12
    if written == _JKS:
        assert location is not None, "texts in the properties are PEM"
        raise _jks_refused(listener, kind, location)
    raise listener.error(f"{config} is {text}; it must be PEM or PKCS12")


def _jks_refused(listener: ListenerValues, kind: str, location: str) -> InvalidConfigError:
    config = f"ssl.{kind}.type"
    if location.lower().endswith(_PKCS12_SUFFIXES):
        return listener.error(
            f"{config} is JKS, which is Kafka's default, and ssl.{kind}.location seems to be a "
            f"PKCS#12 file; set {config}=PKCS12"
        )
    converted = f"{location.removesuffix('.jks')}.p12"
    return listener.error(
        f"{config} is JKS, which is Kafka's default and which only Java can read. Convert the file "
        f"with: keytool -importkeystore -srckeystore {location} -srcstoretype JKS -destkeystore "
        f"{converted} -deststoretype PKCS12; then set {config}=PKCS12 and "
        f"ssl.{kind}.location={converted}. If the file is PEM, set {config}=PEM"
    )

"""The security of the connections of clients."""

from __future__ import annotations

import ssl
from collections.abc import Callable
from pathlib import Path
from typing import Final

from ottla.channels.channel_security import PLAINTEXT, ChannelSecurity
from ottla.client_security import tls_stores
from ottla.client_security.bearer_login import BearerLogin
from ottla.client_security.client_security import ClientSecurity
from ottla.client_security.errors import ClientPropertyError, unreadable
from ottla.client_security.property_names import is_only_of_librdkafka
from ottla.client_security.sasl_login import MECHANISM, PASSWORD, USERNAME
from ottla.configs.listener_security import Store, TlsSettings
from ottla.configs.value import Password
from ottla.runtime.dice import Dice, SystemDice
from ottla.runtime.system_clock import SystemClock
from ottla.runtime.tls.contexts import client_context
from ottla.runtime.tls.endpoint import TlsEndpoint
from ottla.security.sasl.mechanism import ClientMechanism, Mechanism
from ottla.security.sasl.plain import PlainClient
from ottla.security.sasl.scram import ScramClient
from ottla.security.sasl.scram_credential import SCRAM_BY_NAME, random_text

_IDENTIFICATION: Final = "ssl.endpoint.identification.algorithm"


def channel_security(security: ClientSecurity, dice: Dice | None = None) -> ChannelSecurity:
    """Raises ClientPropertyError for stores that cannot be used, and for what this client cannot
    do."""
    for name in security.properties:
        if is_only_of_librdkafka(name):
            raise _usage(
                f"The client property {name} is librdkafka's, which is not used here.",
                f"Leave {name} out.",
            )
    if security.protocol == "PLAINTEXT":
        return PLAINTEXT
    login = None
    if security.has_sasl and security.bearer is not None:
        login = BearerLogin(security.bearer, tls_context(security), SystemClock())
        mechanism: Callable[[], ClientMechanism] | None = login.mechanism
    else:
        mechanism = _mechanism(security, dice or SystemDice()) if security.has_sasl else None
    prepare = None if login is None else login.prepare
    if not security.has_tls:
        return ChannelSecurity(mechanism=mechanism, prepare=prepare)
    try:
        endpoint = TlsEndpoint(_tls_settings(security), is_server=False)
    except OSError as error:
        raise _unusable(error) from None
    return ChannelSecurity(tls=endpoint, mechanism=mechanism, prepare=prepare)


def tls_context(security: ClientSecurity) -> ssl.SSLContext:
    """For HTTPS: to a token endpoint, as in Kafka with the client's own stores, and to a schema
    registry. Raises ClientPropertyError."""
    try:
        return client_context(_tls_settings(security))
    except OSError as error:
        raise _unusable(error) from None


def _mechanism(security: ClientSecurity, dice: Dice) -> Callable[[], ClientMechanism]:
    name = security.properties[MECHANISM]
    if name not in (Mechanism.PLAIN, *SCRAM_BY_NAME):
        raise _usage(
            f"sasl.mechanism={name} is supported only by librdkafka, which is not used here.",
            f"Use one of {', '.join(Mechanism)}.",
        )
    user, password = security.properties[USERNAME], Password(security.properties[PASSWORD])
    if name == Mechanism.PLAIN:
        return lambda: PlainClient(user, password)
    return lambda: ScramClient(
        SCRAM_BY_NAME[Mechanism(name)],
        user,
        password,
        nonce=random_text(dice.below),
        is_token=security.is_token,
    )


def _tls_settings(security: ClientSecurity) -> TlsSettings:
    given = security.properties
    return TlsSettings(
        keystore=_keystore(security),
        truststore=_truststore(security),
        client_auth="none",
        enabled_protocols=security.tls_versions,
        client_protocols=security.tls_versions,
        cipher_suites=(),
        endpoint_identification=given.get(_IDENTIFICATION, "https") == "https",
        crl_location=given.get(tls_stores.CRL_LOCATION),
    )


def _truststore(security: ClientSecurity) -> Store | None:
    given = security.properties
    if tls_stores.CA_PEM in given:
        return Store("PEM", certificates=Password(given[tls_stores.CA_PEM]))
    if tls_stores.CA_LOCATION in given:
        return Store("PEM", location=given[tls_stores.CA_LOCATION])
    return None


def _keystore(security: ClientSecurity) -> Store | None:
    given = security.properties
    if tls_stores.KEYSTORE_LOCATION in given:
        return Store(
            "PKCS12",
            location=given[tls_stores.KEYSTORE_LOCATION],
            password=_password(given.get(tls_stores.KEYSTORE_PASSWORD)),
        )
    certificates = _pem(security, tls_stores.CERTIFICATE_PEM, tls_stores.CERTIFICATE_LOCATION)
    key = _pem(security, tls_stores.KEY_PEM, tls_stores.KEY_LOCATION)
    if certificates is None and key is None:
        return None
    if certificates is None or key is None:
        missing = tls_stores.KEY_LOCATION if key is None else tls_stores.CERTIFICATE_LOCATION
        raise _usage(f"A certificate and its private key belong together: {missing} is missing.")
    key_password = _password(given.get(tls_stores.KEY_PASSWORD))
    location = given.get(tls_stores.CERTIFICATE_LOCATION)
    if location is not None and location == given.get(tls_stores.KEY_LOCATION):
        return Store("PEM", location=location, key_password=key_password)
    return Store("PEM", certificates=certificates, key=key, key_password=key_password)


def _pem(security: ClientSecurity, text_name: str, location_name: str) -> Password | None:
    given = security.properties
    if text_name in given:
        return Password(given[text_name])
    if location_name not in given:
        return None
    path = given[location_name]
    try:
        return Password(Path(path).read_text())
    except OSError as error:
        raise unreadable(path, error, remedy=f"correct {location_name}") from None
    except UnicodeDecodeError:
        raise _usage(f"{path} ({location_name}) is not a PEM file.") from None


def _password(text: str | None) -> Password | None:
    return None if text is None else Password(text)


def _unusable(error: OSError) -> ClientPropertyError:
    return _usage(f"The certificates of this client cannot be used: {error}.")


def _usage(message: str, *hints: str) -> ClientPropertyError:
    return ClientPropertyError(message, *hints)

"""The security of a client's connections, parsed from its properties.

The result has librdkafka's names for everything that librdkafka can do; `node_channel.py` makes the
security of a channel of it.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Final, cast

from ottla.client_security.bearer_token import BearerTokenSource
from ottla.client_security.errors import ClientPropertyError
from ottla.client_security.property_names import (
    COMMON_NAMES,
    check_names,
    is_ignored,
    is_of_security,
    is_only_of_librdkafka,
)
from ottla.client_security.sasl_login import login_properties
from ottla.client_security.tls_stores import store_properties
from ottla.configs.listener_security import SecurityProtocol

SECURITY_PROTOCOL: Final = "security.protocol"
_PROTOCOLS: Final = ("PLAINTEXT", "SSL", "SASL_PLAINTEXT", "SASL_SSL")
_TLS_VERSIONS: Final = ("TLSv1.2", "TLSv1.3")
_IDENTIFICATION: Final = "ssl.endpoint.identification.algorithm"
_IDENTIFICATIONS: Final = {"": "none", "none": "none", "https": "https"}


@dataclass(frozen=True, slots=True)
class ClientSecurity:
    """`properties` have librdkafka's names. `is_token` means that the user is a delegation token's
    id and the password its HMAC."""

    protocol: SecurityProtocol = "PLAINTEXT"
    properties: Mapping[str, str] = field(default_factory=dict, repr=False)
    is_token: bool = False
    tls_versions: tuple[str, ...] = _TLS_VERSIONS
    bearer: BearerTokenSource | None = None

    @property
    def has_tls(self) -> bool:
        return self.protocol.endswith("SSL")

    @property
    def has_sasl(self) -> bool:
        return self.protocol.startswith("SASL")


def parse_client_security(properties: Mapping[str, str]) -> ClientSecurity:
    """From all properties of a client. Raises ClientPropertyError for those that cannot be."""
    given = {
        name: value.strip()
        for name, value in properties.items()
        if is_of_security(name) and not is_ignored(name)
    }
    check_names(given)
    protocol = _protocol(given.pop(SECURITY_PROTOCOL, "PLAINTEXT"))
    tls_versions = _tls_versions(given)
    login = login_properties(given, has_sasl=protocol.startswith("SASL"))
    uses_tls = protocol.endswith("SSL") or (login is not None and login.bearer is not None)
    _refuse_without_tls(given, protocol, uses_tls=uses_tls)
    found = {
        name: value
        for name, value in given.items()
        if is_only_of_librdkafka(name) or name in COMMON_NAMES
    }
    found |= store_properties(given)
    if _IDENTIFICATION in given:
        found[_IDENTIFICATION] = _identification(given[_IDENTIFICATION])
    if login is None:
        return ClientSecurity(protocol, found, tls_versions=tls_versions)
    return ClientSecurity(
        protocol, {**found, **login.properties}, login.is_token, tls_versions, login.bearer
    )


def _protocol(text: str) -> SecurityProtocol:
    protocol = text.upper()
    if protocol not in _PROTOCOLS:
        raise _usage(f"security.protocol {text!r} must be one of {', '.join(_PROTOCOLS)}.")
    return cast("SecurityProtocol", protocol)


def _tls_versions(given: dict[str, str]) -> tuple[str, ...]:
    """Of ssl.enabled.protocols; Kafka's ssl.protocol does not limit them."""
    given.pop("ssl.protocol", None)
    text = given.pop("ssl.enabled.protocols", "")
    named = [part.strip() for part in text.split(",") if part.strip()]
    if unknown := [name for name in named if name not in _TLS_VERSIONS]:
        raise _usage(
            f"ssl.enabled.protocols has {unknown[0]}, which is not supported.",
            "Write TLSv1.2, TLSv1.3 or both.",
        )
    return tuple(version for version in _TLS_VERSIONS if version in named) or _TLS_VERSIONS


def _refuse_without_tls(given: Mapping[str, str], protocol: str, *, uses_tls: bool) -> None:
    if uses_tls:
        return
    for name in given:
        if name.startswith(("ssl.", "ottla.ssl.")):
            instead = "SASL_SSL" if protocol.startswith("SASL") else "SSL"
            raise _usage(
                f"{name} has no effect, because security.protocol is {protocol}.",
                f"Write security.protocol={instead}, or leave {name} out.",
            )


def _identification(text: str) -> str:
    found = _IDENTIFICATIONS.get(text.lower())
    if found is None:
        raise _usage(
            f"{_IDENTIFICATION} {text!r} is not supported.",
            "Write https, or nothing to accept certificates of other hosts.",
        )
    return found


def _usage(message: str, *hints: str) -> ClientPropertyError:
    return ClientPropertyError(message, *hints)

"""How the clients of one listener prove who they are, and what they may do then.

| protocol | principal |
|---|---|
| PLAINTEXT | User:ANONYMOUS |
| SSL | the mapped subject of the client's certificate; User:ANONYMOUS without a certificate |
| SASL_PLAINTEXT, SASL_SSL | the user of the SASL exchange |
"""

from __future__ import annotations

from collections.abc import Callable
from typing import NamedTuple

from ottla.broker.control.authentication import Authentication
from ottla.configs.listener_security import ListenerSecurity
from ottla.model import KafkaError
from ottla.security.acls.rights import Rights
from ottla.security.der import InvalidCertificateError
from ottla.security.distinguished_name import subject_of
from ottla.security.principal import ANONYMOUS, USER, Principal
from ottla.security.principal_mapping import PrincipalMapping
from ottla.security.sasl.mechanism import ServerMechanism
from ottla.security.sasl.session import SaslSession

Mechanisms = dict[str, Callable[[], ServerMechanism]]


class AuthenticationLimits(NamedTuple):
    """What a connection may use before its client has authenticated."""

    frame_bytes_max: int
    seconds_max: float
    failure_delay_seconds: float


class ListenerAccess:
    """Created for a listener with the settings that it has now; replaced when they change. Open
    connections keep theirs."""

    def __init__(
        self,
        security: ListenerSecurity,
        mechanisms: Mechanisms,
        rights_of: Callable[[Principal, str], Rights],
        on_authentication: Callable[[Authentication], None],
        *,
        listener: str,
        seconds_max: float,
    ) -> None:
        """`mechanisms` makes the server's side of each enabled SASL mechanism. `on_authentication`
        is called with each success and each failure. Raises ValueError for mapping rules that
        cannot be parsed."""
        self.listener = listener
        self.on_authentication = on_authentication
        self.security = security
        self.rights_of = rights_of
        self._mechanisms = mechanisms
        self._mapping = PrincipalMapping.parse(security.principal_mapping_rules)
        sasl = security.sasl
        self.limits = (
            None
            if sasl is None
            else AuthenticationLimits(
                frame_bytes_max=sasl.server_max_receive_bytes,
                seconds_max=seconds_max,
                failure_delay_seconds=sasl.failed_authentication_delay_ms / 1_000,
            )
        )

    def sasl_session(self) -> SaslSession | None:
        """The authentication of a new connection; None if the listener does not use SASL."""
        sasl = self.security.sasl
        if sasl is None:
            return None
        return SaslSession(
            self._mechanisms,
            max_reauth_ms=sasl.max_reauth_ms,
            message_bytes_max=sasl.server_max_receive_bytes,
        )

    def principal_of(self, certificate: bytes | None) -> Principal:
        """The principal of a client with this certificate (DER). Raises ConnectionAbortedError if
        no mapping rule applies to its subject."""
        if certificate is None:
            return ANONYMOUS
        try:
            return Principal(USER, self._mapping.name_of(subject_of(certificate)))
        except (InvalidCertificateError, KafkaError, ValueError) as error:
            raise ConnectionAbortedError(f"its certificate names no principal: {error}") from None

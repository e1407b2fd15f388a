"""Who the client of one connection is, and what it may do.

    PLAINTEXT, SSL:  identified from the start
    SASL:            unknown ──SaslHandshake, SaslAuthenticate──▶ identified ──expired──▶ closed
                        └──refused, late──▶ closed

Before the client is identified, a connection serves ApiVersions and the two SASL requests, takes
small frames only, and is closed after a deadline.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Final

from ottla.broker.control.authentication import Authentication
from ottla.broker.network.listener_access import AuthenticationLimits, ListenerAccess
from ottla.broker.network.pending import Pending
from ottla.model import KafkaError
from ottla.runtime.clock import Clock, Timer
from ottla.runtime.network import Connection
from ottla.security.acls.rights import Rights
from ottla.security.principal import ANONYMOUS, Principal
from ottla.security.sasl.session import SaslSession
from ottla.wire.messages.sasl_authenticate import SaslAuthenticateRequest, SaslAuthenticateResponse
from ottla.wire.messages.sasl_handshake import SaslHandshakeRequest, SaslHandshakeResponse
from ottla.wire.schema import Message

_UNKNOWN_SOFTWARE: Final = ("unknown", "unknown")


class NotAuthenticatedError(ConnectionAbortedError):
    """The connection is closed, because its client is not authenticated. Was reported already."""


class ClientSession:
    """Belongs to one connection. `on_identified` is called after each successful SASL exchange,
    `on_late` when the client has not authenticated in time, `on_refused` after the response to a
    failed authentication is sent."""

    def __init__(
        self,
        access: ListenerAccess,
        clock: Clock,
        *,
        on_identified: Callable[[], None],
        on_late: Callable[[], None],
        on_refused: Callable[[], None],
    ) -> None:
        self._access = access
        self._clock = clock
        self._on_identified = on_identified
        self._on_late = on_late
        self._on_refused = on_refused
        self._connection: Connection | None = None
        self._deadline: Timer | None = None
        self._rights: Rights | None = None
        # A failure ends the connection. Its end may have a reason of its own.
        self.has_failed = False
        self.sasl: SaslSession | None = access.sasl_session()
        # The name and version of the client's software, as ApiVersions has them (KIP-511).
        self.software = _UNKNOWN_SOFTWARE

    @property
    def port(self) -> int:
        """Of the client."""
        assert self._connection is not None
        return self._connection.peer_address.port

    @property
    def is_identified(self) -> bool:
        return self.sasl is None or self.sasl.is_complete

    @property
    def host(self) -> str:
        """The client's address."""
        assert self._connection is not None
        return self._connection.peer_address.host

    @property
    def limits(self) -> AuthenticationLimits | None:
        """The limits that hold until the client is identified; None without SASL."""
        return self._access.limits

    def frame_bytes_max(self, identified: int) -> int:
        """The largest frame until the client is identified; `identified` is that of others."""
        return identified if self.limits is None else self.limits.frame_bytes_max

    def begin(self, connection: Connection) -> None:
        self._connection = connection
        if self.limits is not None:
            self._deadline = self._clock.call_later(self.limits.seconds_max, self._late)

    def end(self) -> None:
        if self._deadline is not None:
            self._deadline.cancel()
            self._deadline = None

    def check(self, api_key: int) -> None:
        """Raises NotAuthenticatedError if the client may not send this request now."""
        assert self.sasl is not None
        try:
            self.sasl.check_request(api_key, now_ms=self._clock.now_ms())
        except KafkaError as error:
            self.report_failure(error.message)
            raise NotAuthenticatedError(error.message) from None

    @property
    def rights(self) -> Rights:
        """What the client may do. Before it is identified, what everybody may."""
        if self._rights is None:
            self._rights = self._rights_now()
        return self._rights

    def handshake(
        self, request: SaslHandshakeRequest, version: int
    ) -> SaslHandshakeResponse | Pending:
        assert self.sasl is not None
        response = self.sasl.handshake(request, version, now_ms=self._clock.now_ms())
        return self._refused(response) if self.sasl.has_failed else response

    def authenticate(
        self, request: SaslAuthenticateRequest, version: int
    ) -> SaslAuthenticateResponse | Pending:
        assert self.sasl is not None
        response = self.sasl.authenticate(request, version, now_ms=self._clock.now_ms())
        if self.sasl.has_failed:
            return self._refused(response)
        if self.sasl.is_complete and not response.error_code:
            self.end()
            self._rights = None
            self._report(self.sasl.principal, None)
            self._on_identified()
        return response

    def report_failure(self, failure: str) -> None:
        """Reports a failed authentication, once. `failure` has nothing that the client sent."""
        if not self.has_failed:
            self.has_failed = True
            self._report(None, failure)

    def _report(self, principal: Principal | None, failure: str | None) -> None:
        mechanism = "TLS" if self.sasl is None else self.sasl.requested_mechanism
        self._access.on_authentication(
            Authentication(self._access.listener, self.host, mechanism, principal, failure)
        )

    def _late(self) -> None:
        if self.sasl is not None and self.sasl.failure is None:
            self.report_failure("the client did not authenticate in time")
        self._on_late()

    def _principal_of(self, certificate: bytes | None) -> Principal:
        """Of a client that does not use SASL. Raises NotAuthenticatedError."""
        try:
            principal = self._access.principal_of(certificate)
        except ConnectionAbortedError as error:
            self.report_failure(str(error))
            raise NotAuthenticatedError(str(error)) from None
        if certificate is not None:
            self._report(principal, None)
        return principal

    def _refused(self, response: Message) -> Pending:
        """Delays the response, so that guessing takes long, and closes the connection after it."""
        assert self.limits is not None
        assert self.sasl is not None
        assert self.sasl.failure is not None
        # Not its reason, which reveals more than the client may know.
        self.report_failure(self.sasl.failure.message)

        def refuse() -> None:
            pending.resolve(response)
            self._on_refused()

        timer = self._clock.call_later(self.limits.failure_delay_seconds, refuse)
        pending = Pending(on_abandoned=timer.cancel)
        return pending

    def _rights_now(self) -> Rights:
        assert self._connection is not None
        if self.sasl is None:
            principal = self._principal_of(self._connection.peer_certificate)
        elif self.sasl.is_complete:
            principal = self.sasl.principal
        else:
            principal = ANONYMOUS
        return self._access.rights_of(principal, self.host)

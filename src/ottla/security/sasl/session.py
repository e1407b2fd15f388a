"""The server's state machine of one connection's authentication (SaslServerAuthenticator).

    VERSIONS_OR_HANDSHAKE --ApiVersions--> VERSIONS_OR_HANDSHAKE (at most twice)
    VERSIONS_OR_HANDSHAKE --SaslHandshake--> EXCHANGE --SaslAuthenticate, once or more--> COMPLETE
    COMPLETE --SaslHandshake--> EXCHANGE (re-authentication, KIP-368)
    any but COMPLETE --anything else, or an error--> FAILED

Owner: the connection. Before it serves a request it calls `check_request`; it closes after sending
the response that made `has_failed` true. Invariants:

- A FAILED session stays so. No message is evaluated twice, and none after its exchange has ended.
- Until the first exchange is complete there is no principal. Re-authentication changes neither the
  principal nor the mechanism, and the old session goes on until it succeeds.
- The client's tokens come in SaslAuthenticate requests. Kafka also takes tokens without headers,
  after SaslHandshake version 0; that is refused here, since clients use version 1 since Kafka 1.0.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from enum import Enum, auto
from typing import Final

from ottla.model import ErrorCode, KafkaError
from ottla.security.principal import USER, Principal
from ottla.security.sasl.mechanism import (
    AuthenticationError,
    Identity,
    InvalidCredentialsError,
    ServerMechanism,
    ServerReply,
)
from ottla.wire.apis import ApiKey
from ottla.wire.messages.sasl_authenticate import SaslAuthenticateRequest, SaslAuthenticateResponse
from ottla.wire.messages.sasl_handshake import SaslHandshakeRequest, SaslHandshakeResponse

# `sasl.server.max.receive.size`.
MESSAGE_BYTES_MAX: Final = 524_288
# A client retries ApiVersions once, in version 0, if it sent a version that is too high.
_API_VERSIONS_MAX: Final = 2
# More messages than any exchange has; bounds a mechanism that never ends.
_EXCHANGE_MESSAGES_MAX: Final = 8
# Begins the error of a client that authenticates again with another mechanism.
OTHER_MECHANISM: Final = "the mechanism of re-authentication must be"
_REAUTHENTICATION_INTERVAL_MS: Final = 1_000


class SaslState(Enum):
    VERSIONS_OR_HANDSHAKE = auto()
    EXCHANGE = auto()
    COMPLETE = auto()
    FAILED = auto()


class SaslSession:
    """Authenticates one connection with one of several mechanisms, and again before the session
    ends. `mechanisms` makes the server's side of an exchange for each enabled mechanism;
    `max_reauth_ms` has `connections.max.reauth.ms` of each (0 or absent: no limit)."""

    __slots__ = (
        "_exchange",
        "_exchange_messages",
        "_max_reauth_ms",
        "_mechanism",
        "_mechanisms",
        "_message_bytes_max",
        "_principal",
        "_reauthentication_at_ms",
        "_requested",
        "_versions_requests",
        "expires_at_ms",
        "failure",
        "state",
        "supports_reauthentication",
    )

    def __init__(
        self,
        mechanisms: Mapping[str, Callable[[], ServerMechanism]],
        *,
        max_reauth_ms: Mapping[str, int],
        message_bytes_max: int = MESSAGE_BYTES_MAX,
    ) -> None:
        assert mechanisms
        self.state = SaslState.VERSIONS_OR_HANDSHAKE
        # When the session ends, by the wall clock; None if it does not end.
        self.expires_at_ms: int | None = None
        # Why the session failed, for this node's log. Contains no secret.
        self.failure: KafkaError | None = None
        # Whether the client has read the session's lifetime (SaslAuthenticate version 1).
        self.supports_reauthentication = False
        self._mechanisms = mechanisms
        self._max_reauth_ms = max_reauth_ms
        self._message_bytes_max = message_bytes_max
        self._versions_requests = 0
        self._exchange: ServerMechanism | None = None
        self._exchange_messages = 0
        # What the running exchange uses, and what the complete one used.
        self._requested: str | None = None
        self._mechanism: str | None = None
        self._principal: Principal | None = None
        self._reauthentication_at_ms: int | None = None

    @property
    def is_complete(self) -> bool:
        """Whether requests are served now; false during re-authentication."""
        return self.state is SaslState.COMPLETE

    @property
    def has_failed(self) -> bool:
        """Whether the connection closes after its last response."""
        return self.state is SaslState.FAILED

    @property
    def principal(self) -> Principal:
        """Raises a KafkaError if the client has not authenticated."""
        if self._principal is None:
            raise _illegal_state("the client has not authenticated yet")
        return self._principal

    @property
    def mechanism(self) -> str | None:
        """The mechanism with which the client authenticated, if it has."""
        return self._mechanism

    @property
    def requested_mechanism(self) -> str | None:
        """The mechanism of the exchange in progress or of the one that failed."""
        return self._requested or self._mechanism

    def is_expired(self, *, now_ms: int) -> bool:
        return self.expires_at_ms is not None and now_ms > self.expires_at_ms

    def check_request(self, api_key: int, *, now_ms: int) -> None:
        """Call before any request is decoded. Raises a KafkaError with ILLEGAL_SASL_STATE if it may
        not be served now; the session has then failed. Kafka answers with that error in place of
        SaslAuthenticate, and otherwise closes the connection without an answer."""
        if self.is_complete:
            if api_key != ApiKey.SASL_HANDSHAKE and self.is_expired(now_ms=now_ms):
                self._fail(_illegal_state("the session has expired"))
        elif not self._is_expected(api_key):
            self._fail(_illegal_state("authenticate first: another request was expected"))

    def handshake(
        self, request: SaslHandshakeRequest, version: int, *, now_ms: int
    ) -> SaslHandshakeResponse:
        """Chooses the mechanism. Errors: UNSUPPORTED_SASL_MECHANISM with the enabled mechanisms,
        ILLEGAL_SASL_STATE, UNSUPPORTED_VERSION (version 0)."""
        if self.is_complete and not self._may_reauthenticate(now_ms):
            # As in Kafka, the session goes on.
            return SaslHandshakeResponse(error_code=ErrorCode.ILLEGAL_SASL_STATE)
        if self.state not in (SaslState.VERSIONS_OR_HANDSHAKE, SaslState.COMPLETE):
            return self._refused_handshake(_illegal_state("the handshake was done already"))
        make = self._mechanisms.get(request.mechanism)
        if make is None:
            return self._refused_handshake(_unsupported_mechanism())
        if version == 0:
            return self._refused_handshake(_unsupported_version())
        if self.is_complete:
            self._reauthentication_at_ms = now_ms
        self.state = SaslState.EXCHANGE
        self._exchange, self._exchange_messages = make(), 0
        self._requested = request.mechanism
        return SaslHandshakeResponse(mechanisms=list(self._mechanisms))

    def authenticate(
        self, request: SaslAuthenticateRequest, version: int, *, now_ms: int
    ) -> SaslAuthenticateResponse:
        """Takes one token. Errors: SASL_AUTHENTICATION_FAILED, ILLEGAL_SASL_STATE."""
        if self.is_complete:
            # As in Kafka, the session goes on.
            return _refused(_illegal_state("the client has authenticated already"))
        try:
            reply = self._evaluate(bytes(request.auth_bytes), now_ms)
            if reply.identity is not None:
                self._complete(reply.identity, now_ms)
        except AuthenticationError as error:
            self._become_failed(error)
            return _refused(self._for_the_client(error))
        except KafkaError as error:
            self._become_failed(error)
            return _refused(error)
        except BaseException:
            self._become_failed(_illegal_state("the authentication ended with an exception"))
            raise
        self.supports_reauthentication |= version > 0
        lifetime_ms = 0
        if reply.identity is not None and self.expires_at_ms is not None:
            lifetime_ms = self.expires_at_ms - now_ms
        return SaslAuthenticateResponse(
            error_message=None, auth_bytes=reply.data, session_lifetime_ms=lifetime_ms
        )

    def _is_expected(self, api_key: int) -> bool:
        if self.state is SaslState.EXCHANGE:
            return api_key == ApiKey.SASL_AUTHENTICATE
        if self.state is not SaslState.VERSIONS_OR_HANDSHAKE:
            return False
        if api_key == ApiKey.API_VERSIONS:
            self._versions_requests += 1
            return self._versions_requests <= _API_VERSIONS_MAX
        return api_key == ApiKey.SASL_HANDSHAKE

    def _may_reauthenticate(self, now_ms: int) -> bool:
        """As in Kafka: if the session ends at some time, and at most once a second."""
        if self.expires_at_ms is None:
            return False
        before = self._reauthentication_at_ms
        # The wall clock may have been set back in between.
        return before is None or abs(now_ms - before) >= _REAUTHENTICATION_INTERVAL_MS

    def _evaluate(self, message: bytes, now_ms: int) -> ServerReply:
        if self.state is not SaslState.EXCHANGE or self._exchange is None:
            raise _illegal_state("choose a mechanism with SaslHandshake first")
        if self._mechanism not in (None, self._requested):
            raise AuthenticationError(f"{OTHER_MECHANISM} {self._mechanism}, as before")
        self._exchange_messages += 1
        if self._exchange_messages > _EXCHANGE_MESSAGES_MAX:
            raise InvalidCredentialsError("too many messages in one exchange")
        if len(message) > self._message_bytes_max:
            raise InvalidCredentialsError(
                f"a message of {len(message)} bytes; the limit is {self._message_bytes_max}"
            )
        return self._exchange.evaluate(message, now_ms=now_ms)

    def _complete(self, identity: Identity, now_ms: int) -> None:
        principal = Principal(USER, identity.name, identity.is_from_token)
        if self._principal is not None and principal != self._principal:
            raise AuthenticationError(
                f"re-authentication must keep the principal {self._principal}, not change to "
                f"{principal}"
            )
        self._principal, self._mechanism = principal, self._requested
        self._exchange = self._requested = None
        limits = [self._max_reauth_ms.get(self._mechanism or "", 0)]
        ends = [now_ms + limit for limit in limits if limit > 0]
        if identity.expires_at_ms is not None:
            ends.append(max(identity.expires_at_ms, now_ms))
        self.expires_at_ms = min(ends, default=None)
        self.state = SaslState.COMPLETE

    def _for_the_client(self, error: AuthenticationError) -> KafkaError:
        """One text for everything that could reveal whether a user exists."""
        if not isinstance(error, InvalidCredentialsError):
            return error
        kind = "authentication" if self._mechanism is None else "re-authentication"
        return AuthenticationError(
            f"{kind} with SASL mechanism {self._requested} failed: invalid credentials"
        )

    def _refused_handshake(self, error: KafkaError) -> SaslHandshakeResponse:
        self._become_failed(error)
        return SaslHandshakeResponse(error_code=error.code, mechanisms=list(self._mechanisms))

    def _fail(self, error: KafkaError) -> None:
        self._become_failed(error)
        raise error

    def _become_failed(self, error: KafkaError) -> None:
        if self.failure is None:
            self.failure = error
        self.state = SaslState.FAILED
        self._exchange = None


def _refused(error: KafkaError) -> SaslAuthenticateResponse:
    return SaslAuthenticateResponse(error_code=error.code, error_message=error.message)


def _illegal_state(message: str) -> KafkaError:
    return KafkaError(ErrorCode.ILLEGAL_SASL_STATE, message)


def _unsupported_mechanism() -> KafkaError:
    return KafkaError(
        ErrorCode.UNSUPPORTED_SASL_MECHANISM, "the client asked for a mechanism that is not enabled"
    )


def _unsupported_version() -> KafkaError:
    return KafkaError(
        ErrorCode.UNSUPPORTED_VERSION,
        "the client sent SaslHandshake version 0: use version 1 and SaslAuthenticate",
    )

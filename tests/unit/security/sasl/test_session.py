"""The server's session: which request may come when, and what ends it."""

from __future__ import annotations

from collections.abc import Callable, Mapping

import pytest

from ottla.configs.value import Password
from ottla.model import ErrorCode, KafkaError
from ottla.security.principal import Principal
from ottla.security.sasl.mechanism import (
    Identity,
    InvalidCredentialsError,
    ServerMechanism,
    ServerReply,
)
from ottla.security.sasl.oauthbearer import OAuthBearerServer, VerifiedToken, make_bearer_message
from ottla.security.sasl.plain import PlainServer
from ottla.security.sasl.session import MESSAGE_BYTES_MAX, SaslSession, SaslState
from ottla.wire.apis import ApiKey
from ottla.wire.messages.sasl_authenticate import SaslAuthenticateRequest, SaslAuthenticateResponse
from ottla.wire.messages.sasl_handshake import SaslHandshakeRequest, SaslHandshakeResponse

NOW_MS = 1_700_000_000_000
USERS = {"alice": Password("a-secret"), "bob": Password("b-secret")}
ALICE, BOB = b"\0alice\0a-secret", b"\0bob\0b-secret"


class Endless:
    """A mechanism that never completes."""

    def evaluate(self, message: bytes, *, now_ms: int) -> ServerReply:
        return ServerReply(message)


class Broken:
    def evaluate(self, message: bytes, *, now_ms: int) -> ServerReply:
        raise RuntimeError("broken")


class Expiring:
    """Authenticates alice until a time that the message contains."""

    def evaluate(self, message: bytes, *, now_ms: int) -> ServerReply:
        return ServerReply(b"", Identity("alice", expires_at_ms=int(message), is_from_token=True))


class AnyToken:
    def verify(self, token: str, *, now_ms: int) -> VerifiedToken:
        if token != "good":
            raise InvalidCredentialsError("the token is bad")
        return VerifiedToken("alice", now_ms + 60_000)


MECHANISMS: Mapping[str, Callable[[], ServerMechanism]] = {
    "PLAIN": lambda: PlainServer(USERS),
    "OAUTHBEARER": lambda: OAuthBearerServer(AnyToken()),
    "ENDLESS": Endless,
    "BROKEN": Broken,
    "EXPIRING": Expiring,
}


def new_session(**max_reauth_ms: int) -> SaslSession:
    return SaslSession(MECHANISMS, max_reauth_ms=max_reauth_ms)


def handshake(
    session: SaslSession, mechanism: str = "PLAIN", version: int = 1, *, now_ms: int = NOW_MS
) -> SaslHandshakeResponse:
    session.check_request(ApiKey.SASL_HANDSHAKE, now_ms=now_ms)
    return session.handshake(SaslHandshakeRequest(mechanism=mechanism), version, now_ms=now_ms)


def authenticate(
    session: SaslSession, token: bytes = ALICE, version: int = 2, *, now_ms: int = NOW_MS
) -> SaslAuthenticateResponse:
    session.check_request(ApiKey.SASL_AUTHENTICATE, now_ms=now_ms)
    return session.authenticate(SaslAuthenticateRequest(auth_bytes=token), version, now_ms=now_ms)


def authenticated(**max_reauth_ms: int) -> SaslSession:
    session = new_session(**max_reauth_ms)
    assert handshake(session).error_code == 0
    assert authenticate(session).error_code == 0
    assert session.is_complete
    return session


def assert_refused(session: SaslSession, api: ApiKey, *, now_ms: int = NOW_MS) -> None:
    with pytest.raises(KafkaError) as caught:
        session.check_request(api, now_ms=now_ms)
    assert caught.value.code is ErrorCode.ILLEGAL_SASL_STATE
    assert session.has_failed


def test_client_authenticates_and_is_served() -> None:
    session = new_session()
    session.check_request(ApiKey.API_VERSIONS, now_ms=NOW_MS)
    assert handshake(session) == SaslHandshakeResponse(mechanisms=list(MECHANISMS))
    assert not session.is_complete
    assert authenticate(session) == SaslAuthenticateResponse(error_message=None)
    assert session.principal == Principal("User", "alice")
    assert session.mechanism == "PLAIN"
    session.check_request(ApiKey.PRODUCE, now_ms=NOW_MS * 2)


@pytest.mark.parametrize("api", [ApiKey.PRODUCE, ApiKey.METADATA, ApiKey.SASL_AUTHENTICATE])
def test_nothing_is_served_before_authentication(api: ApiKey) -> None:
    session = new_session()
    with pytest.raises(KafkaError, match="has not authenticated"):
        _ = session.principal
    assert_refused(session, api)
    assert_refused(session, ApiKey.SASL_HANDSHAKE)


@pytest.mark.parametrize("api", [ApiKey.PRODUCE, ApiKey.API_VERSIONS, ApiKey.SASL_HANDSHAKE])
def test_nothing_but_tokens_is_served_during_an_exchange(api: ApiKey) -> None:
    session = new_session()
    handshake(session)
    assert_refused(session, api)


def test_versions_are_answered_twice() -> None:
    session = new_session()
    session.check_request(ApiKey.API_VERSIONS, now_ms=NOW_MS)
    session.check_request(ApiKey.API_VERSIONS, now_ms=NOW_MS)
    assert_refused(session, ApiKey.API_VERSIONS)


def test_calls_in_the_wrong_state_are_refused_without_the_check() -> None:
    session = new_session()
    answer = session.authenticate(SaslAuthenticateRequest(auth_bytes=ALICE), 2, now_ms=NOW_MS)
    assert answer.error_code == ErrorCode.ILLEGAL_SASL_STATE
    assert session.has_failed
    again = session.handshake(SaslHandshakeRequest(mechanism="PLAIN"), 1, now_ms=NOW_MS)
    assert again.error_code == ErrorCode.ILLEGAL_SASL_STATE


def test_unknown_mechanism_is_refused_with_the_enabled_ones() -> None:
    session = new_session()
    answer = handshake(session, "GSSAPI")
    assert answer.error_code == ErrorCode.UNSUPPORTED_SASL_MECHANISM
    assert answer.mechanisms == list(MECHANISMS)
    assert session.has_failed
    assert_refused(session, ApiKey.SASL_HANDSHAKE)


def test_tokens_without_headers_are_refused() -> None:
    session = new_session()
    assert handshake(session, version=0).error_code == ErrorCode.UNSUPPORTED_VERSION
    assert session.has_failed
    session = new_session()
    answer = handshake(session, "GSSAPI", version=0)
    assert answer.error_code == ErrorCode.UNSUPPORTED_SASL_MECHANISM


def test_all_wrong_credentials_have_one_text() -> None:
    texts = set()
    for token in (b"\0alice\0wrong", b"\0nobody\0wrong", b"rubbish", b"", b"\xff\0\0"):
        session = new_session()
        handshake(session)
        answer = authenticate(session, token)
        assert answer.error_code == ErrorCode.SASL_AUTHENTICATION_FAILED
        assert (answer.auth_bytes, session.state) == (b"", SaslState.FAILED)
        texts.add(answer.error_message)
    assert texts == {"authentication with SASL mechanism PLAIN failed: invalid credentials"}


def test_authorization_id_of_another_user_is_refused() -> None:
    session = new_session()
    handshake(session)
    answer = authenticate(session, b"bob" + ALICE)
    assert answer.error_code == ErrorCode.SASL_AUTHENTICATION_FAILED
    assert "authorization id" in (answer.error_message or "")
    assert session.has_failed


def test_failed_session_stays_so() -> None:
    session = new_session()
    handshake(session)
    authenticate(session, b"rubbish")
    assert_refused(session, ApiKey.SASL_AUTHENTICATE)
    answer = session.authenticate(SaslAuthenticateRequest(auth_bytes=ALICE), 2, now_ms=NOW_MS)
    assert answer.error_code == ErrorCode.ILLEGAL_SASL_STATE
    assert session.has_failed
    assert session.failure is not None
    assert session.failure.code is ErrorCode.SASL_AUTHENTICATION_FAILED


def test_message_and_exchange_have_limits() -> None:
    session = new_session()
    handshake(session, "ENDLESS")
    assert authenticate(session, bytes(MESSAGE_BYTES_MAX + 1)).error_code
    session = new_session()
    handshake(session, "ENDLESS")
    answers = [authenticate(session) for _ in range(9)]
    assert [answer.error_code for answer in answers] == [0] * 8 + [58]
    assert session.has_failed


def test_exception_in_a_mechanism_ends_the_session() -> None:
    session = new_session()
    handshake(session, "BROKEN")
    with pytest.raises(RuntimeError):
        authenticate(session)
    assert session.has_failed


def test_refused_token_is_explained_and_then_refused() -> None:
    session = new_session()
    handshake(session, "OAUTHBEARER")
    answer = authenticate(session, make_bearer_message("bad", extensions={}))
    assert (answer.error_code, answer.auth_bytes) == (0, b'{"status":"invalid_token"}')
    assert not session.is_complete
    answer = authenticate(session, b"\x01")
    assert answer.error_code == ErrorCode.SASL_AUTHENTICATION_FAILED
    assert answer.error_message == '{"status":"invalid_token"}'
    assert session.has_failed


def test_second_token_in_one_exchange_is_refused() -> None:
    session = new_session()
    handshake(session, "OAUTHBEARER")
    authenticate(session, make_bearer_message("bad", extensions={}))
    answer = authenticate(session, make_bearer_message("good", extensions={}))
    assert answer.error_code == ErrorCode.SASL_AUTHENTICATION_FAILED
    assert session.has_failed


@pytest.mark.parametrize(
    ("max_reauth_ms", "expires_in_ms", "lifetime_ms"),
    [(0, 5_000, 5_000), (3_000, 5_000, 3_000), (9_000, 5_000, 5_000), (0, -5_000, 0)],
)
def test_session_ends_with_the_credential_or_earlier(
    max_reauth_ms: int, expires_in_ms: int, lifetime_ms: int
) -> None:
    session = new_session(EXPIRING=max_reauth_ms)
    handshake(session, "EXPIRING")
    answer = authenticate(session, str(NOW_MS + expires_in_ms).encode())
    assert answer.session_lifetime_ms == lifetime_ms
    assert session.expires_at_ms == NOW_MS + lifetime_ms
    assert session.principal.is_from_token
    session.check_request(ApiKey.PRODUCE, now_ms=NOW_MS + lifetime_ms)
    assert_refused(session, ApiKey.PRODUCE, now_ms=NOW_MS + lifetime_ms + 1)


def test_lifetime_of_a_mechanism_without_limit_is_zero() -> None:
    session = new_session(EXPIRING=5_000)
    handshake(session)
    assert authenticate(session).session_lifetime_ms == 0
    assert session.expires_at_ms is None


def test_client_that_reads_the_lifetime_supports_reauthentication() -> None:
    session = new_session()
    handshake(session)
    authenticate(session, version=0)
    assert not session.supports_reauthentication
    assert authenticated().supports_reauthentication


def test_second_authentication_of_a_session_without_end_is_refused_and_it_goes_on() -> None:
    session = authenticated()
    assert handshake(session).error_code == ErrorCode.ILLEGAL_SASL_STATE
    assert authenticate(session).error_code == ErrorCode.ILLEGAL_SASL_STATE
    assert session.is_complete
    session.check_request(ApiKey.FETCH, now_ms=NOW_MS)


def test_reauthentication_extends_the_session() -> None:
    session = authenticated(PLAIN=10_000)
    for round_ in range(1, 4):
        # Also after the session has ended.
        now_ms = NOW_MS + round_ * 20_000
        assert handshake(session, now_ms=now_ms).error_code == 0
        assert session.principal == Principal("User", "alice")
        answer = authenticate(session, now_ms=now_ms)
        assert answer.session_lifetime_ms == 10_000
        assert session.expires_at_ms == now_ms + 10_000
        assert session.is_complete


def test_nothing_else_is_served_during_reauthentication() -> None:
    session = authenticated(PLAIN=10_000)
    handshake(session)
    assert_refused(session, ApiKey.PRODUCE)


def test_reauthentication_is_at_most_once_a_second() -> None:
    session = authenticated(PLAIN=10_000)
    assert handshake(session, now_ms=NOW_MS).error_code == 0
    authenticate(session)
    assert handshake(session, now_ms=NOW_MS + 999).error_code == ErrorCode.ILLEGAL_SASL_STATE
    assert session.is_complete
    assert handshake(session, now_ms=NOW_MS + 1_000).error_code == 0


def test_reauthentication_must_keep_the_principal() -> None:
    session = authenticated(PLAIN=10_000)
    handshake(session)
    answer = authenticate(session, BOB)
    assert answer.error_code == ErrorCode.SASL_AUTHENTICATION_FAILED
    assert "must keep the principal User:alice" in (answer.error_message or "")
    assert session.has_failed
    assert session.principal == Principal("User", "alice")


def test_reauthentication_must_keep_the_mechanism() -> None:
    session = authenticated(PLAIN=10_000)
    # As in Kafka, the next request fails.
    assert handshake(session, "EXPIRING").error_code == 0
    answer = authenticate(session, str(NOW_MS * 2).encode())
    assert answer.error_code == ErrorCode.SASL_AUTHENTICATION_FAILED
    assert "must be PLAIN" in (answer.error_message or "")
    assert session.has_failed


def test_failed_reauthentication_ends_the_session() -> None:
    session = authenticated(PLAIN=10_000)
    handshake(session)
    answer = authenticate(session, b"\0alice\0wrong")
    assert answer.error_message == (
        "re-authentication with SASL mechanism PLAIN failed: invalid credentials"
    )
    assert session.has_failed


def test_no_answer_and_no_failure_contains_a_secret() -> None:
    for token in (b"\0alice\0topsecret", b"x\0alice\0a-secret", b"topsecret", b"\0topsecret\0x"):
        session = new_session()
        handshake(session)
        answer = authenticate(session, token)
        failure = session.failure
        assert failure is not None
        shown = f"{answer} {failure!r} {failure} {getattr(failure, 'reason', '')} {session!r}"
        assert "secret" not in shown

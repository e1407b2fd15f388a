"""OAUTHBEARER's messages, and the two sides of its exchange."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from ottla.configs.value import Password
from ottla.security.sasl.mechanism import AuthenticationError, Identity, InvalidCredentialsError
from ottla.security.sasl.oauthbearer import (
    OAuthBearerClient,
    OAuthBearerServer,
    VerifiedToken,
    make_bearer_message,
    parse_bearer_message,
)

NOW_MS = 1_000


class OneToken:
    """Knows the token `good`, which is alice's."""

    def verify(self, token: str, *, now_ms: int) -> VerifiedToken:
        if token != "good":
            raise InvalidCredentialsError("the signature is wrong")
        return VerifiedToken("alice", now_ms + 1_000)


def server() -> OAuthBearerServer:
    return OAuthBearerServer(OneToken())


def test_message_is_that_of_the_rfc() -> None:
    message = make_bearer_message("vF9dft4qmTc2Nvb3RlckBhbHRhdmlzdGEuY29tCg==", extensions={})
    assert message == b"n,,\x01auth=Bearer vF9dft4qmTc2Nvb3RlckBhbHRhdmlzdGEuY29tCg==\x01\x01"


def test_both_sides_agree() -> None:
    client = OAuthBearerClient(lambda: Password("good"), extensions={"traceId": "1 2"})
    reply = server().evaluate(client.first_message(), now_ms=NOW_MS)
    assert reply.data == b""
    assert reply.identity == Identity(
        "alice", expires_at_ms=NOW_MS + 1_000, extensions={"traceId": "1 2"}
    )
    assert client.evaluate(reply.data) is None
    assert client.is_complete


def test_client_asks_for_the_error_of_a_refused_token() -> None:
    client, tested = OAuthBearerClient(lambda: Password("bad")), server()
    reply = tested.evaluate(client.first_message(), now_ms=NOW_MS)
    assert (reply.data, reply.identity) == (b'{"status":"invalid_token"}', None)
    assert client.evaluate(reply.data) == b"\x01"
    assert not client.is_complete
    with pytest.raises(AuthenticationError) as caught:
        tested.evaluate(b"\x01", now_ms=NOW_MS)
    assert caught.value.message == '{"status":"invalid_token"}'
    assert caught.value.reason == "the signature is wrong"
    with pytest.raises(AuthenticationError, match="refused the token"):
        client.evaluate(b"")


@pytest.mark.parametrize("token", ["good", "bad"])
def test_server_takes_one_token(token: str) -> None:
    tested = server()
    tested.evaluate(make_bearer_message(token, extensions={}), now_ms=NOW_MS)
    with pytest.raises(AuthenticationError):
        tested.evaluate(make_bearer_message("good", extensions={}), now_ms=NOW_MS)
    with pytest.raises(InvalidCredentialsError):
        tested.evaluate(make_bearer_message("good", extensions={}), now_ms=NOW_MS)


def test_authorization_id_must_be_the_subject() -> None:
    own = make_bearer_message("good", authorization_id="alice", extensions={})
    assert server().evaluate(own, now_ms=NOW_MS).identity is not None
    other = make_bearer_message("good", authorization_id="a,b", extensions={})
    assert b"a=a=2Cb," in other
    with pytest.raises(AuthenticationError, match="authorization id"):
        server().evaluate(other, now_ms=NOW_MS)


@pytest.mark.parametrize(
    ("message", "reason"),
    [
        (b"", "cut short"),
        (b"\x01", "cut short"),
        (b"n,,\x01auth=Bearer good\x01", "cut short"),
        (b"n,,\x01\x01", "cut short"),
        (b"n,,\x01host=x\x01\x01", "no bearer token"),
        (b"n,,\x01auth=Basic good\x01\x01", "no bearer token"),
        (b"n,,\x01auth=Bearer \x01\x01", "no bearer token"),
        (b"n,,\x01auth=Bearergood\x01\x01", "no bearer token"),
        (b"n,,\x01auth=Bearer go od\x01\x01", "no bearer token"),
        (b"n,,\x01auth=Bearer good\x01auth=Bearer good\x01\x01", "repeated"),
        (b"n,,\x01auth=Bearer good\x011=x\x01\x01", "malformed"),
        (b"n,,\x01auth=Bearer good\x01x=\x01\x01", "malformed"),
        (b"n,,\x01auth=Bearer good\x01x\x01\x01", "malformed"),
        (b"n,,\x01\x01auth=Bearer good\x01\x01", "malformed"),
        (b"y,,\x01auth=Bearer good\x01\x01", "the GS2 header must be n"),
        (b"p=tls-exporter,,\x01auth=Bearer good\x01\x01", "the GS2 header must be n"),
        (b"n,,x\x01auth=Bearer good\x01\x01", "the GS2 header must be n"),
        (b"n\x01auth=Bearer good\x01\x01", "the GS2 header must be n"),
        (b"n,alice,\x01auth=Bearer good\x01\x01", "authorization id"),
        (b"n,a=,\x01auth=Bearer good\x01\x01", "SASL name"),
        (b"n,a==,\x01auth=Bearer good\x01\x01", "SASL name"),
        (b"n,,\x01auth=Bearer \xff\x01\x01", "not ASCII"),
    ],
)
def test_malformed_message_is_refused(message: bytes, reason: str) -> None:
    with pytest.raises(InvalidCredentialsError) as caught:
        server().evaluate(message, now_ms=NOW_MS)
    assert reason in caught.value.reason
    assert "good" not in caught.value.reason


def test_scheme_has_any_case() -> None:
    assert parse_bearer_message(b"n,,\x01auth=bEARER  good\x01\x01").token == "good"


@pytest.mark.parametrize("extensions", [{"auth": "x"}, {"a1": "x"}, {"a": ""}, {"a": "\x01"}])
def test_client_refuses_extensions_that_break_the_message(extensions: dict[str, str]) -> None:
    with pytest.raises(AuthenticationError, match="extension must have"):
        OAuthBearerClient(lambda: Password("good"), extensions=extensions).first_message()


def test_client_refuses_a_token_that_breaks_the_message() -> None:
    with pytest.raises(AuthenticationError, match="not allowed in a bearer token") as caught:
        OAuthBearerClient(lambda: Password("to\x01ken")).first_message()
    assert "to\x01ken" not in str(caught.value)


LETTERS = st.text(alphabet="abcXYZ", min_size=1).filter(lambda text: text != "auth")
PRINTABLE = st.text(alphabet=[chr(each) for each in range(0x21, 0x7F)] + list(" \t\r\n"))


@given(
    st.from_regex(r"[-_~+/.A-Za-z0-9]+=*", fullmatch=True),
    st.text(alphabet=[chr(each) for each in range(2, 0x80)]),
    st.dictionaries(LETTERS, PRINTABLE.filter(bool)),
)
def test_what_is_made_is_parsed(
    token: str, authorization_id: str, extensions: dict[str, str]
) -> None:
    message = make_bearer_message(token, authorization_id=authorization_id, extensions=extensions)
    parsed = parse_bearer_message(message)
    assert (parsed.token, parsed.authorization_id) == (token, authorization_id)
    assert parsed.extensions == extensions
    assert repr(parsed) == f"BearerMessage(authorization_id={authorization_id!r})"


@given(st.binary(max_size=80))
def test_any_bytes_raise_only_authentication_errors(message: bytes) -> None:
    with pytest.raises(AuthenticationError):
        server().evaluate(message, now_ms=NOW_MS)

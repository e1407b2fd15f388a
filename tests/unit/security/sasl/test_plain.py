"""SASL PLAIN: what the server accepts, and how it refuses everything else."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from ottla.configs.value import Password
from ottla.security.sasl.mechanism import AuthenticationError, Identity, InvalidCredentialsError
from ottla.security.sasl.plain import PlainClient, PlainServer, users_of

USERS = {"alice": Password("wonder"), "müller": Password("grüß")}


def refusal(message: bytes) -> AuthenticationError:
    with pytest.raises(AuthenticationError) as caught:
        PlainServer(USERS).evaluate(message, now_ms=0)
    return caught.value


@pytest.mark.parametrize("name", USERS)
def test_both_sides_agree(name: str) -> None:
    client = PlainClient(name, USERS[name])
    reply = PlainServer(USERS).evaluate(client.first_message(), now_ms=0)
    assert reply.identity == Identity(name)
    assert client.evaluate(reply.data) is None
    assert client.is_complete


def test_wrong_password_and_unknown_user_are_the_same() -> None:
    wrong, unknown = refusal(b"\0alice\0no"), refusal(b"\0bob\0no")
    assert isinstance(wrong, InvalidCredentialsError)
    assert (wrong.message, wrong.reason) == (unknown.message, unknown.reason)


def test_authorization_id_must_be_the_user() -> None:
    reply = PlainServer(USERS).evaluate(b"alice\0alice\0wonder", now_ms=0)
    assert reply.identity == Identity("alice")
    assert "authorization id" in refusal(b"admin\0alice\0wonder").message
    # It is checked after the password, so it reveals nothing about users.
    assert isinstance(refusal(b"admin\0alice\0no"), InvalidCredentialsError)


@pytest.mark.parametrize(
    ("message", "reason"),
    [
        (b"", "1 parts"),
        (b"alice\0wonder", "2 parts"),
        (b"\0alice\0wonder\0", "4 parts"),
        (b"\0" * 1000, "4 parts"),
        (b"\0\0wonder", "empty"),
        (b"\0alice\0", "empty"),
        (b"\0\xff\0wonder", "not UTF-8"),
        (b"\0alice\0\xff", "wrong password"),
    ],
)
def test_malformed_message_is_refused(message: bytes, reason: str) -> None:
    assert reason in refusal(message).reason


def test_second_message_is_refused() -> None:
    server = PlainServer(USERS)
    server.evaluate(b"\0alice\0wonder", now_ms=0)
    with pytest.raises(InvalidCredentialsError, match="invalid") as caught:
        server.evaluate(b"\0alice\0wonder", now_ms=0)
    assert "second message" in caught.value.reason


def test_client_refuses_what_no_server_sends() -> None:
    with pytest.raises(AuthenticationError, match="unexpected"):
        PlainClient("alice", USERS["alice"]).evaluate(b"x")
    client = PlainClient("alice", USERS["alice"])
    client.evaluate(b"")
    with pytest.raises(AuthenticationError, match="unexpected"):
        client.evaluate(b"")


def test_client_refuses_nul_in_a_password() -> None:
    with pytest.raises(AuthenticationError, match="NUL") as caught:
        PlainClient("alice", Password("a\0b"))
    assert "a\0b" not in str(caught.value)


def test_users_are_options_of_the_login_module() -> None:
    options = {"username": "u", "password": "p", "user_alice": "a", "user_bob": "b"}
    assert users_of(options) == {"alice": Password("a"), "bob": Password("b")}


@given(st.binary(max_size=60) | st.lists(st.binary(max_size=9), max_size=5).map(b"\0".join))
def test_any_bytes_raise_only_authentication_errors(message: bytes) -> None:
    assert refusal(message)

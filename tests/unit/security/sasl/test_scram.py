"""SCRAM: the RFCs' own exchanges, both sides against each other, and what each side refuses."""

from __future__ import annotations

import contextlib
import hashlib
import hmac
from base64 import b64decode, b64encode
from collections.abc import Callable
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from ottla.configs.value import Password
from ottla.security.sasl.mechanism import AuthenticationError, Identity, InvalidCredentialsError
from ottla.security.sasl.scram import (
    ScramClient,
    ScramServer,
    ScramUsers,
    TokenCredential,
)
from ottla.security.sasl.scram_credential import (
    ScramCredential,
    ScramMechanism,
    keys_of,
    make_credential,
    salt_password,
)
from ottla.security.sasl.scram_unknown_users import UnknownUsers

SHA_256, SHA_512 = ScramMechanism.SCRAM_SHA_256, ScramMechanism.SCRAM_SHA_512
NOW_MS = 1_000_000
# RFC 7677, section 3.
CLIENT_NONCE, SERVER_NONCE = "rOprNGfwEbeRWgbNEkqO", "%hvYDpWUa2RaTCAfuxFIlj)hNlF$k0"
SALT = b64decode("W22ZaJ0SNY7soEsUEjb6gQ==")
CLIENT_FIRST = b"n,,n=user,r=rOprNGfwEbeRWgbNEkqO"
SERVER_FIRST = (
    b"r=rOprNGfwEbeRWgbNEkqO%hvYDpWUa2RaTCAfuxFIlj)hNlF$k0,s=W22ZaJ0SNY7soEsUEjb6gQ==,i=4096"
)
CLIENT_FINAL = (
    b"c=biws,r=rOprNGfwEbeRWgbNEkqO%hvYDpWUa2RaTCAfuxFIlj)hNlF$k0,"
    b"p=dHzbZapWIk4jUhN+Ute9ytag9zjfMHgsqmmiz7AndVQ="
)
SERVER_FINAL = b"v=6rriTRBi23WpRR/wtup+mMhUZUn/dB5nLTJRsjl95G4="
CREDENTIAL = make_credential(SHA_256, Password("pencil"), salt=SALT)


def server(
    credentials: dict[str, ScramCredential] | None = None,
    tokens: dict[str, TokenCredential] | None = None,
    *,
    mechanism: ScramMechanism = SHA_256,
    secret: bytes = b"the server's secret",
) -> ScramServer:
    users = ScramUsers(
        ({"user": CREDENTIAL} if credentials is None else credentials).get,
        (tokens or {}).get,
        UnknownUsers(mechanism, secret),
    )
    return ScramServer(mechanism, users, nonce=lambda: SERVER_NONCE)


def client(name: str = "user", password: str = "pencil") -> ScramClient:
    return ScramClient(SHA_256, name, Password(password), nonce=CLIENT_NONCE)


def exchange(the_client: ScramClient, the_server: ScramServer) -> Identity | None:
    challenge = the_server.evaluate(the_client.first_message(), now_ms=NOW_MS)
    final = the_client.evaluate(challenge.data)
    assert final is not None
    reply = the_server.evaluate(final, now_ms=NOW_MS)
    assert the_client.evaluate(reply.data) is None
    assert the_client.is_complete
    return reply.identity


def refusal(the_server: ScramServer, *messages: bytes) -> InvalidCredentialsError:
    for message in messages[:-1]:
        the_server.evaluate(message, now_ms=NOW_MS)
    with pytest.raises(InvalidCredentialsError) as caught:
        the_server.evaluate(messages[-1], now_ms=NOW_MS)
    return caught.value


def test_server_does_the_exchange_of_rfc_7677() -> None:
    tested = server()
    assert tested.evaluate(CLIENT_FIRST, now_ms=NOW_MS).data == SERVER_FIRST
    reply = tested.evaluate(CLIENT_FINAL, now_ms=NOW_MS)
    assert reply.data == SERVER_FINAL
    assert reply.identity == Identity("user")


def test_client_does_the_exchange_of_rfc_7677() -> None:
    tested = client()
    assert tested.first_message() == CLIENT_FIRST
    assert tested.evaluate(SERVER_FIRST) == CLIENT_FINAL
    assert not tested.is_complete
    assert tested.evaluate(SERVER_FINAL) is None
    assert tested.is_complete


def test_keys_are_those_of_rfc_5802() -> None:
    # Its exchange is of SCRAM-SHA-1, with the same computation.
    salt = b64decode("QSXCR+Q6sek8bf92")
    salted = salt_password("sha1", Password("pencil"), salt=salt, iterations=4096)
    keys = keys_of("sha1", salted)
    message = (
        b"n=user,r=fyko+d2lbbFgONRv9qkxdawL,"
        b"r=fyko+d2lbbFgONRv9qkxdawL3rfcNHYJY1ZVvWVs7j,s=QSXCR+Q6sek8bf92,i=4096,"
        b"c=biws,r=fyko+d2lbbFgONRv9qkxdawL3rfcNHYJY1ZVvWVs7j"
    )
    signature = hmac.digest(keys.stored_key, message, "sha1")
    proof = bytes(a ^ b for a, b in zip(keys.client_key, signature, strict=True))
    assert b64encode(proof) == b"v0X8v3Bz2T0CJGbJQyF0X+HI4Ts="
    assert b64encode(hmac.digest(keys.server_key, message, "sha1")) == (
        b"rmF9pqV8S7suAoZWja4dJRkFsKQ="
    )
    assert keys.stored_key == hashlib.sha1(keys.client_key).digest()


@pytest.mark.parametrize("mechanism", ScramMechanism)
@pytest.mark.parametrize("name", ["alice", "a,b=c", "=2C", "with space"])
def test_both_sides_agree_with_every_name(mechanism: ScramMechanism, name: str) -> None:
    password = Password("pässwörd,=")
    credential = make_credential(mechanism, password, salt=b"salt")
    tested = ScramClient(mechanism, name, password, nonce="c")
    assert tested.name == mechanism.mechanism
    assert exchange(tested, server({name: credential}, mechanism=mechanism)) == Identity(name)


def test_wrong_password_and_unknown_user_are_the_same_to_the_client() -> None:
    errors = []
    for name, credentials in (("user", {"user": CREDENTIAL}), ("nobody", {})):
        tested, client_side = server(credentials), client(name, "guess")
        challenge = tested.evaluate(client_side.first_message(), now_ms=NOW_MS).data
        final = client_side.evaluate(challenge)
        assert final is not None
        errors.append(refusal(tested, final))
    assert [error.message for error in errors] == [errors[0].message] * 2
    assert [error.reason for error in errors] == [errors[0].reason] * 2
    assert "user or wrong password" in errors[0].reason


def test_unknown_user_takes_as_much_work_as_a_wrong_password(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    done: list[str] = []
    for module, name in ((hmac, "digest"), (hashlib, "pbkdf2_hmac")):
        monkeypatch.setattr(module, name, counted(done, name, getattr(module, name)))
    work = []
    for name in ("user", "nobody"):
        tested = server({"user": CREDENTIAL})
        done.clear()
        challenge = tested.evaluate(client(name, "guess").first_message(), now_ms=NOW_MS).data
        nonce = challenge.split(b",")[0]
        refusal(tested, b"c=biws," + nonce + b",p=" + b64encode(bytes(32)))
        work.append(list(done))
    assert work[0] == work[1]
    # A guess costs the server no hashing of passwords.
    assert set(work[0]) == {"digest"}


def counted(done: list[str], name: str, function: Callable[..., bytes]) -> Callable[..., bytes]:
    def count(*arguments: Any) -> bytes:
        done.append(name)
        return function(*arguments)

    return count


def test_unknown_user_has_a_salt_that_stays_the_same() -> None:
    first = client("nobody").first_message()
    challenges = [
        server({}, secret=secret).evaluate(first, now_ms=NOW_MS).data
        for secret in (b"one", b"one", b"other")
    ]
    assert challenges[0] == challenges[1] != challenges[2]
    assert challenges[0].endswith(b",i=4096")
    # As long as Kafka's own salts, and of the same characters.
    salt = b64decode(challenges[0].split(b",s=")[1].split(b",")[0])
    assert 20 <= len(salt) <= 26
    assert salt.isalnum()
    assert server({}).evaluate(client("other").first_message(), now_ms=0).data != challenges[0]


def test_credential_with_too_few_iterations_is_as_good_as_none() -> None:
    weak = ScramCredential(
        CREDENTIAL.salt, CREDENTIAL.stored_key, CREDENTIAL.server_key, iterations=4095
    )
    challenge = server({"user": weak}).evaluate(CLIENT_FIRST, now_ms=NOW_MS).data
    assert challenge == server({}).evaluate(CLIENT_FIRST, now_ms=NOW_MS).data


def test_authorization_id_of_another_user_is_refused() -> None:
    for credentials in ({"user": CREDENTIAL}, {}):
        with pytest.raises(AuthenticationError, match="authorization id"):
            server(credentials).evaluate(b"n,a=admin,n=user,r=x", now_ms=NOW_MS)


def test_own_authorization_id_is_accepted() -> None:
    tested = server()
    first = tested.evaluate(b"n,a=user,n=user,r=rOprNGfwEbeRWgbNEkqO", now_ms=NOW_MS)
    assert first.data == SERVER_FIRST
    # The header of the first message is part of the last one.
    assert "header" in refusal(tested, CLIENT_FINAL).reason


@pytest.mark.parametrize(
    ("message", "reason"),
    [
        (CLIENT_FIRST, "attribute c"),
        (b"", "too few"),
        (CLIENT_FINAL.replace(b"k0,p", b"k1,p"), "the nonce differs"),
        (CLIENT_FINAL.replace(b"c=biws", b"c=eSws"), "the GS2 header differs"),
        (CLIENT_FINAL.replace(b"p=dHzb", b"p=eHzb"), "wrong password"),
        (CLIENT_FINAL[:-1], "not Base64"),
        (CLIENT_FINAL[:-4], "wrong length"),
        (CLIENT_FINAL.split(b",p=")[0], "too few"),
        (CLIENT_FINAL.replace(b",p=", b",x=1,x=2,p="), "repeated"),
        (b"\xff" + CLIENT_FINAL, "not ASCII"),
    ],
)
def test_bad_final_message_is_refused(message: bytes, reason: str) -> None:
    assert reason in refusal(server(), CLIENT_FIRST, message).reason


def test_replayed_and_out_of_order_messages_are_refused() -> None:
    assert "the GS2 header" in refusal(server(), CLIENT_FINAL).reason
    assert "after the last" in refusal(server(), CLIENT_FIRST, CLIENT_FINAL, CLIENT_FINAL).reason
    failed = server()
    refusal(failed, b"rubbish")
    # An error ends the exchange, also for a good message.
    assert "after the last" in refusal(failed, CLIENT_FIRST).reason
    failed = server()
    refusal(failed, CLIENT_FIRST, CLIENT_FINAL.replace(b"p=d", b"p=e"))
    assert "after the last" in refusal(failed, CLIENT_FINAL).reason


def test_a_whole_exchange_cannot_be_replayed() -> None:
    users = ScramUsers({"user": CREDENTIAL}.get, lambda _: None, UnknownUsers(SHA_256, b"s"))
    later = ScramServer(SHA_256, users, nonce=lambda: "another")
    assert "the nonce differs" in refusal(later, CLIENT_FIRST, CLIENT_FINAL).reason


def test_token_authenticates_its_owner_until_it_expires() -> None:
    token = TokenCredential(CREDENTIAL, "alice", NOW_MS + 1)
    client_side = ScramClient(SHA_256, "id", Password("pencil"), nonce="c", is_token=True)
    assert client_side.first_message() == b"n,,n=id,r=c,tokenauth=true"
    identity = exchange(client_side, server({}, {"id": token}))
    assert identity == Identity("alice", expires_at_ms=NOW_MS + 1, is_from_token=True)


@pytest.mark.parametrize(
    "tokens", [{}, {"user": TokenCredential(CREDENTIAL, "alice", NOW_MS)}], ids=["none", "expired"]
)
def test_unknown_and_expired_token_are_refused(tokens: dict[str, TokenCredential]) -> None:
    # A user of the same name does not help.
    tested = server({"user": CREDENTIAL}, tokens)
    client_side = ScramClient(SHA_256, "user", Password("pencil"), nonce="c", is_token=True)
    challenge = tested.evaluate(client_side.first_message(), now_ms=NOW_MS)
    final = client_side.evaluate(challenge.data)
    assert final is not None
    assert "wrong password" in refusal(tested, final).reason


def test_token_is_no_user() -> None:
    token = TokenCredential(CREDENTIAL, "alice", NOW_MS + 1)
    tested = server({}, {"user": token})
    challenge = tested.evaluate(CLIENT_FIRST, now_ms=NOW_MS).data
    assert challenge == server({}).evaluate(CLIENT_FIRST, now_ms=NOW_MS).data


@pytest.mark.parametrize(
    ("message", "reason"),
    [
        (SERVER_FIRST.replace(b"i=4096", b"i=4095"), "4095 iterations"),
        (SERVER_FIRST.replace(b"i=4096", b"i=16385"), "accepts 4096 to 16384"),
        (SERVER_FIRST.replace(b"i=4096", b"i=999999999"), "accepts 4096 to 16384"),
        (SERVER_FIRST.replace(b"i=4096", b"i=" + b"9" * 1000), "not a number"),
        (SERVER_FIRST.replace(b"i=4096", b"i=-1"), "not a number"),
        (SERVER_FIRST.replace(b"r=rO", b"r=xO"), "does not continue"),
        (b"r=rOprNGfwEbeRWgbNEkqO,s=W22ZaJ0SNY7soEsUEjb6gQ==,i=4096", "does not continue"),
        (b"e=other-error", "too few"),
        (b"", "too few"),
        (b"\xff", "not ASCII"),
        (SERVER_FINAL, "too few"),
    ],
)
def test_client_refuses_a_bad_first_message_of_the_server(message: bytes, reason: str) -> None:
    with pytest.raises(AuthenticationError, match=reason):
        client().evaluate(message)


def test_client_takes_more_iterations_where_its_caller_allows_them() -> None:
    tested = ScramClient(
        SHA_256, "user", Password("pencil"), nonce=CLIENT_NONCE, iterations_max=20_000
    )
    assert tested.evaluate(SERVER_FIRST.replace(b"i=4096", b"i=20000"))


@pytest.mark.parametrize(
    ("message", "reason"),
    [
        (SERVER_FINAL.replace(b"v=6", b"v=7"), "does not know the password"),
        (b"v=", "does not know the password"),
        (b"e=invalid-proof", "reports an error"),
        (b"", "attribute v"),
        (SERVER_FIRST, "attribute v"),
    ],
)
def test_client_refuses_a_server_that_proves_nothing(message: bytes, reason: str) -> None:
    tested = client()
    tested.evaluate(SERVER_FIRST)
    with pytest.raises(AuthenticationError, match=reason):
        tested.evaluate(message)
    assert not tested.is_complete
    with pytest.raises(AuthenticationError, match="does not know"):
        tested.evaluate(SERVER_FINAL)


def test_client_refuses_messages_after_the_last() -> None:
    tested = client()
    tested.evaluate(SERVER_FIRST)
    tested.evaluate(SERVER_FINAL)
    with pytest.raises(AuthenticationError, match="after the last"):
        tested.evaluate(SERVER_FINAL)


@pytest.mark.parametrize("name", ["", "müller", "a\0b"])
def test_client_refuses_names_that_kafka_refuses(name: str) -> None:
    with pytest.raises(AuthenticationError, match="must be ASCII"):
        client(name)


def test_secrets_are_in_no_repr() -> None:
    token = TokenCredential(CREDENTIAL, "alice", NOW_MS)
    shown = repr([CREDENTIAL, token, client(), server(), keys_of("sha256", b"x")])
    for secret in (CREDENTIAL.stored_key, CREDENTIAL.server_key, CREDENTIAL.salt):
        assert repr(secret)[2:-1] not in shown
    assert "pencil" not in shown


@given(st.lists(st.binary(max_size=60) | st.just(CLIENT_FIRST), min_size=1, max_size=3))
def test_any_bytes_raise_only_authentication_errors_of_the_server(messages: list[bytes]) -> None:
    tested, replies = server(), []
    with contextlib.suppress(AuthenticationError):
        for message in messages:
            replies.append(tested.evaluate(message, now_ms=NOW_MS))
    assert [reply for reply in replies if reply.identity is not None] == []


@given(st.lists(st.binary(max_size=60), min_size=1, max_size=3), st.booleans())
def test_any_bytes_raise_only_authentication_errors_of_the_client(
    messages: list[bytes], has_begun: bool
) -> None:
    tested = client()
    if has_begun:
        tested.evaluate(SERVER_FIRST)
    with contextlib.suppress(AuthenticationError):
        for message in messages:
            tested.evaluate(message)
    assert not tested.is_complete

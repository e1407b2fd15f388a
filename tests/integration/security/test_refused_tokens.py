"""A real node refuses tokens that are not valid, of others or of another time, with Kafka's error.

It repeats CVE-2026-33557 and CVE-2026-110985, in which any token was accepted.
"""

from __future__ import annotations

import hmac
import json
import struct
import time
from base64 import b64encode, urlsafe_b64decode, urlsafe_b64encode
from collections.abc import Callable, Iterator
from typing import Any

import jwt
import pytest
from cryptography.hazmat.primitives.serialization import Encoding, PublicFormat

from ottla.model import ErrorCode
from ottla.wire.apis import ApiKey
from ottla.wire.messages.create_delegation_token import (
    CreatableRenewers,
    CreateDelegationTokenRequest,
)
from ottla.wire.messages.expire_delegation_token import ExpireDelegationTokenRequest
from tests.support.nodes.wire_connection import WireConnection, with_size
from tests.support.security.attacked_node import BOBS_PASSWORD, PASSWORD, AttackedNode
from tests.support.security.attacks import is_served, refused_quickly, under_attack
from tests.support.security.sasl_wire import (
    Refusal,
    choose,
    log_in,
    log_in_plainly,
    refused,
    say,
    scram,
)
from tests.support.security.tokens import Provider, bearer

FAILED = ErrorCode.SASL_AUTHENTICATION_FAILED
# What attackers send, and must be in no log.
PLANTED = "planted"
SECRETS = (PLANTED, PASSWORD, BOBS_PASSWORD)
INVALID = "authentication with SASL mechanism SCRAM-SHA-256 failed: invalid credentials"
TOKEN_REFUSED = '{"status":"invalid_token"}'


@pytest.fixture(scope="module")
def node(tmp_path_factory: pytest.TempPathFactory) -> Iterator[AttackedNode]:
    with under_attack(tmp_path_factory.mktemp("node"), secrets=SECRETS) as node:
        yield node


@pytest.fixture(autouse=True)
def _quickly_and_others_are_served(node: AttackedNode) -> Iterator[None]:
    with refused_quickly(node):
        yield


def now_ms() -> int:
    return time.time_ns() // 1_000_000


def encoded(value: dict[str, Any]) -> str:
    return urlsafe_b64encode(json.dumps(value).encode()).rstrip(b"=").decode()


def with_header(provider: Provider, **header: object) -> str:
    """A valid token with another header, and the signature of the old one."""
    _, payload, signature = provider.token(now_ms=now_ms()).split(".")
    named = {"alg": "ES256", "kid": provider.key_id, **header}
    kept = {name: value for name, value in named.items() if value is not None}
    return f"{encoded(kept)}.{payload}.{signature}"


def signed_with_public_key(provider: Provider) -> str:
    """HS256, whose secret is the key that everybody knows."""
    _, payload, _ = provider.token(now_ms=now_ms()).split(".")
    message = f"{encoded({'alg': 'HS256', 'kid': provider.key_id})}.{payload}"
    public = provider.key.public_key()
    secret = public.public_bytes(Encoding.PEM, PublicFormat.SubjectPublicKeyInfo)
    signature = hmac.digest(secret, message.encode(), "sha256")
    return f"{message}.{urlsafe_b64encode(signature).rstrip(b'=').decode()}"


def of_a_stranger(provider: Provider, **header: object) -> str:
    """Signed with a key of the attacker's own, under the provider's key id."""
    stranger = Provider()
    stranger.key_id = provider.key_id
    return stranger.token(now_ms=now_ms(), headers={"jwk": stranger.public_key, **header})


def without_key_id(_provider: Provider) -> str:
    """Signed with a key of the attacker's own: every key of the provider is tried."""
    stranger = Provider()
    _, payload, _ = stranger.token(now_ms=now_ms()).split(".")
    claims = urlsafe_b64decode(payload + "=" * (-len(payload) % 4))
    token: str = jwt.PyJWS().encode(claims, stranger.key, algorithm="ES256")
    return token


def with_claims(**claims: Any) -> Callable[[Provider], str]:
    return lambda provider: provider.token(now_ms=now_ms(), **claims)


def unsigned(algorithm: str) -> Callable[[Provider], str]:
    def forge(provider: Provider) -> str:
        _, payload, _ = provider.token(now_ms=now_ms()).split(".")
        return f"{encoded({'alg': algorithm, 'kid': provider.key_id})}.{payload}."

    return forge


TOKEN_ATTACKS: dict[str, Callable[[Provider], str]] = {
    "expired": with_claims(exp=now_ms() // 1_000 - 3_600),
    "not valid yet": with_claims(nbf=now_ms() // 1_000 + 3_600),
    "without an end": with_claims(exp=None),
    "of another audience": with_claims(aud="payments"),
    "without an audience": with_claims(aud=None),
    "of another issuer": with_claims(iss="https://evil.example"),
    "without a subject": with_claims(sub=None),
    "unsigned": unsigned("none"),
    "unsigned, written otherwise": unsigned("NoNe"),
    "without its signature": lambda provider: (
        provider.token(now_ms=now_ms()).rpartition(".")[0] + "."
    ),
    "without an algorithm": lambda provider: with_header(provider, alg=None),
    "of an algorithm of another kind of key": lambda provider: with_header(provider, alg="RS256"),
    "signed with the public key as a secret": signed_with_public_key,
    "signed by a stranger": of_a_stranger,
    "with an address of keys": lambda provider: of_a_stranger(
        provider, jku="http://127.0.0.1:1/keys"
    ),
    "with another key id": lambda provider: with_header(provider, kid="../../etc/passwd"),
    "without a key id, of another key": without_key_id,
    "with an extension that is demanded": lambda provider: with_header(provider, crit=["exp"]),
    "as long as a message may be": lambda _provider: f"{'a' * 250_000}.{'b' * 250_000}.c",
    "deeply nested": lambda _provider: (
        f"{urlsafe_b64encode(b'[' * 30_000).decode().rstrip('=')}.e30.AAAA"
    ),
    "no token": lambda _provider: "x",
}


@pytest.mark.parametrize("name", TOKEN_ATTACKS)
def test_forged_tokens_are_refused(node: AttackedNode, name: str) -> None:
    token = TOKEN_ATTACKS[name](node.provider)
    with node.connect("CLIENTS") as connection:
        assert choose(connection, "OAUTHBEARER").error_code == 0
        challenge = say(connection, bearer(token))
        assert (challenge.error_code, challenge.auth_bytes) == (0, TOKEN_REFUSED.encode())
        assert refused(say(connection, b"\x01")) == Refusal(FAILED, TOKEN_REFUSED)
        assert connection.receive_end() == b""


@pytest.mark.parametrize("second", ["a valid token", "a request"])
def test_nothing_follows_a_refused_token(node: AttackedNode, second: str) -> None:
    with node.connect("CLIENTS") as connection:
        choose(connection, "OAUTHBEARER")
        say(connection, bearer("a.b.c"))
        if second == "a valid token":
            valid = bearer(node.provider.token(now_ms=now_ms()))
            assert say(connection, valid).error_code == FAILED
        else:
            connection.send(with_size(struct.pack(">hhihi", ApiKey.METADATA, 1, 1, -1, 0)))
        assert connection.receive_end() == b""


def test_valid_tokens_are_those_of_their_subject_only(node: AttackedNode) -> None:
    token = node.provider.token(now_ms=now_ms())
    with node.connect("CLIENTS") as connection:
        choose(connection, "OAUTHBEARER")
        response = say(connection, bearer(token))
        assert response.error_code == 0
        assert 0 < response.session_lifetime_ms <= 600_000
        assert is_served(connection)
    with node.connect("CLIENTS") as connection:
        choose(connection, "OAUTHBEARER")
        text = "the authorization id must be empty or the token's subject"
        assert refused(say(connection, bearer(token, authorization_id="bob"))) == (FAILED, text)
        assert connection.receive_end() == b""


# ---- delegation tokens


def created_token(connection: WireConnection) -> Any:
    request = CreateDelegationTokenRequest(
        owner_principal_type=None,
        owner_principal_name=None,
        renewers=[CreatableRenewers(principal_type="User", principal_name="carol")],
    )
    return connection.send_request(request, 3)


def with_token(created: Any) -> Any:
    return scram(created.token_id, b64encode(created.hmac).decode(), is_token=True)


def test_delegation_tokens_are_those_of_their_owner_until_they_expire(node: AttackedNode) -> None:
    with node.connect("CLIENTS") as alice, node.connect("CLIENTS") as bob:
        log_in_plainly(alice, "alice", PASSWORD)
        log_in_plainly(bob, "bob", BOBS_PASSWORD)
        token = created_token(alice)
        assert token.error_code == 0
        expiry = ExpireDelegationTokenRequest(hmac=token.hmac, expiry_time_period_ms=-1)
        stolen = bob.send_request(expiry, 2)
        assert stolen.error_code == ErrorCode.DELEGATION_TOKEN_OWNER_MISMATCH
        with node.connect("CLIENTS") as connection:
            assert log_in(connection, with_token(token)).error_code == 0
            assert is_served(connection)
            # A token creates no tokens, so that it cannot outlive itself.
            again = created_token(connection)
            assert again.error_code == ErrorCode.DELEGATION_TOKEN_REQUEST_NOT_ALLOWED
        assert alice.send_request(expiry, 2).error_code == 0
    with node.connect("CLIENTS") as connection:
        refusal = refused(log_in(connection, with_token(token)))
        assert refusal == Refusal(FAILED, INVALID)
        assert connection.receive_end() == b""


def test_the_hmac_of_one_token_is_of_no_use_for_another(node: AttackedNode) -> None:
    with node.connect("CLIENTS") as alice, node.connect("CLIENTS") as bob:
        log_in_plainly(alice, "alice", PASSWORD)
        log_in_plainly(bob, "bob", BOBS_PASSWORD)
        of_alice, of_bob = created_token(alice), created_token(bob)
    password = b64encode(of_bob.hmac).decode()
    for client in (
        scram(of_alice.token_id, password, is_token=True),
        # A token's id is no user, and a user's name no token.
        scram(of_bob.token_id, password),
        scram("alice", PASSWORD, is_token=True),
    ):
        with node.connect("CLIENTS") as connection:
            assert refused(log_in(connection, client)).code == FAILED
            assert connection.receive_end() == b""


# ---- re-authentication (KIP-368)


def again_as_bob(connection: WireConnection) -> Any:
    return log_in_plainly(connection, "bob", BOBS_PASSWORD)


def again_with_scram(connection: WireConnection) -> Any:
    choose(connection, "SCRAM-SHA-256")
    return say(connection, scram("alice", PASSWORD).first_message())


def again_with_a_wrong_password(connection: WireConnection) -> Any:
    return log_in_plainly(connection, "alice", PLANTED)


REAUTHENTICATIONS: dict[str, tuple[Callable[[WireConnection], Any], str]] = {
    "as another user": (
        again_as_bob,
        "re-authentication must keep the principal User:alice, not change to User:bob",
    ),
    "with another mechanism": (
        again_with_scram,
        "the mechanism of re-authentication must be PLAIN, as before",
    ),
    "with a wrong password": (
        again_with_a_wrong_password,
        "re-authentication with SASL mechanism PLAIN failed: invalid credentials",
    ),
}


@pytest.mark.parametrize("name", REAUTHENTICATIONS)
def test_reauthentication_cannot_change_the_session(node: AttackedNode, name: str) -> None:
    again, text = REAUTHENTICATIONS[name]
    with node.connect("CLIENTS") as connection:
        assert log_in_plainly(connection, "alice", PASSWORD).error_code == 0
        assert is_served(connection)
        assert refused(again(connection)) == Refusal(FAILED, text)
        assert connection.receive_end() == b""

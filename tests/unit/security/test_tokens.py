"""Delegation tokens: lifetimes, rights of owners and renewers, and the credential."""

from __future__ import annotations

import hmac
from base64 import b64encode
from collections.abc import Iterable
from dataclasses import replace

import pytest

from ottla.configs.value import Password
from ottla.security.principal import Principal
from ottla.security.sasl.mechanism import Identity
from ottla.security.sasl.scram import ScramClient, ScramServer, ScramUsers
from ottla.security.sasl.scram_credential import ScramMechanism
from ottla.security.sasl.scram_unknown_users import UnknownUsers
from ottla.security.tokens import (
    DelegationToken,
    TokenCredentials,
    TokenLifetimes,
    hmac_of,
    new_token,
    token_of_hmac,
)

KEY = Password("the secret of all nodes")
NOW_MS = 1_700_000_000_000
LIFETIMES = TokenLifetimes(max_lifetime_ms=1_000, expiry_time_ms=100)
ALICE, BOB, CAROL, DAVE = (Principal("User", name) for name in ("alice", "bob", "carol", "dave"))


def token(
    token_id: str = "id",
    *,
    max_lifetime_ms: int = -1,
    lifetimes: TokenLifetimes = LIFETIMES,
    renewers: Iterable[Principal] = (BOB,),
) -> DelegationToken:
    return new_token(
        token_id,
        owner=ALICE,
        requester=CAROL,
        renewers=renewers,
        max_lifetime_ms=max_lifetime_ms,
        lifetimes=lifetimes,
        now_ms=NOW_MS,
    )


@pytest.mark.parametrize(
    ("requested_ms", "max_ms", "expires_ms"),
    [(-1, 1_000, 100), (0, 1_000, 100), (500, 500, 100), (50, 50, 50), (5_000, 1_000, 100)],
)
def test_lifetimes_are_limited_by_the_configured_ones(
    requested_ms: int, max_ms: int, expires_ms: int
) -> None:
    made = token(max_lifetime_ms=requested_ms)
    assert made.issued_at_ms == NOW_MS
    assert (made.max_at_ms, made.expires_at_ms) == (NOW_MS + max_ms, NOW_MS + expires_ms)


def test_timestamps_do_not_overflow() -> None:
    endless = TokenLifetimes(max_lifetime_ms=2**63 - 1, expiry_time_ms=2**63 - 1)
    made = token(lifetimes=endless)
    assert made.max_at_ms == made.expires_at_ms == 2**63 - 1
    assert made.renewed(0, lifetimes=endless, now_ms=NOW_MS).expires_at_ms == 2**63 - 1
    made.to_record().encode(0)


def test_token_expires_after_either_timestamp() -> None:
    made = token()
    assert not made.is_expired(now_ms=NOW_MS + 100)
    assert made.is_expired(now_ms=NOW_MS + 101)
    assert replace(made, expires_at_ms=2**62).is_expired(now_ms=NOW_MS + 1_001)


@pytest.mark.parametrize(
    ("period_ms", "now_ms", "expires_ms"),
    [(-1, 50, 150), (0, 50, 150), (20, 50, 70), (500, 50, 150), (100, 990, 1_000)],
)
def test_renewal_is_limited(period_ms: int, now_ms: int, expires_ms: int) -> None:
    renewed = token().renewed(period_ms, lifetimes=LIFETIMES, now_ms=NOW_MS + now_ms)
    assert renewed.expires_at_ms == NOW_MS + expires_ms
    assert renewed.max_at_ms == token().max_at_ms


def test_expiry_may_be_set_up_to_the_maximum() -> None:
    assert token().expiring(0, now_ms=NOW_MS + 7).expires_at_ms == NOW_MS + 7
    assert token().expiring(700, now_ms=NOW_MS).expires_at_ms == NOW_MS + 700
    assert token().expiring(2**63 - 1, now_ms=NOW_MS).expires_at_ms == NOW_MS + 1_000


def test_owner_and_renewers_may_renew_and_the_requester_may_see() -> None:
    made = token()
    assert [made.may_be_renewed_by(each) for each in (ALICE, BOB, CAROL, DAVE)] == [1, 1, 0, 0]
    assert [made.is_visible_to(each) for each in (ALICE, BOB, CAROL, DAVE)] == [1, 1, 1, 0]


def test_hmac_is_kafkas() -> None:
    assert hmac_of("id", KEY) == hmac.digest(KEY.value.encode(), b"id", "sha512")
    assert len(hmac_of("id", KEY)) == 64


def test_token_is_found_by_its_hmac_only() -> None:
    tokens = [token("one"), token("two")]
    assert token_of_hmac(tokens, hmac_of("two", KEY), secret_key=KEY) == tokens[1]
    for wrong in (b"", b"two", hmac_of("three", KEY), hmac_of("two", Password("other"))):
        assert token_of_hmac(tokens, wrong, secret_key=KEY) is None


def test_record_comes_back_without_the_hmac() -> None:
    made = token()
    record = made.to_record()
    assert (record.owner, record.requester, record.renewers) == (
        "User:alice",
        "User:carol",
        ["User:bob"],
    )
    assert DelegationToken.from_record(record) == made
    assert hmac_of("id", KEY) not in record.encode(0)


@pytest.mark.parametrize("mechanism", ScramMechanism)
def test_token_authenticates_with_its_hmac(mechanism: ScramMechanism) -> None:
    tokens = {"id": token()}
    credentials = TokenCredentials(mechanism, tokens.get, secret_key=KEY)
    users = ScramUsers(lambda _: None, credentials, UnknownUsers(mechanism, b"secret"))
    server = ScramServer(mechanism, users, nonce=lambda: "server")
    password = Password(b64encode(hmac_of("id", KEY)).decode())
    client = ScramClient(mechanism, "id", password, nonce="client", is_token=True)
    challenge = server.evaluate(client.first_message(), now_ms=NOW_MS).data
    final = client.evaluate(challenge)
    assert final is not None
    reply = server.evaluate(final, now_ms=NOW_MS)
    assert reply.identity == Identity("alice", expires_at_ms=NOW_MS + 100, is_from_token=True)
    client.evaluate(reply.data)
    assert client.is_complete


def test_credential_follows_the_token() -> None:
    tokens = {"id": token()}
    credentials = TokenCredentials(ScramMechanism.SCRAM_SHA_256, tokens.get, secret_key=KEY)
    first = credentials("id")
    assert first is not None
    tokens["id"] = token().expiring(700, now_ms=NOW_MS)
    second = credentials("id")
    assert second is not None
    # The keys are kept, the expiry is the current one.
    assert second.credential is first.credential
    assert second.expires_at_ms == NOW_MS + 700
    del tokens["id"]
    assert credentials("id") is None

"""The challenge of an unknown user cannot be told from that of a user that exists."""

from __future__ import annotations

from collections import Counter
from random import Random  # noqa: TID251 - the seed is the test's input

import pytest

from ottla.security.sasl.scram_credential import (
    SALT_TEXT,
    ScramCredential,
    ScramMechanism,
    random_text,
)
from ottla.security.sasl.scram_unknown_users import UnknownUsers

SHA_256 = ScramMechanism.SCRAM_SHA_256
SECRET = b"the secret of all nodes"
NAMES = [f"name-{number}" for number in range(400)]


def credential(*, iterations: int = 4_096, salt: bytes = b"") -> ScramCredential:
    salt = salt or random_text(Random(1).randrange).encode()
    return ScramCredential(salt, b"stored", b"server", iterations)


def unknown(*known: ScramCredential, secret: bytes = SECRET) -> UnknownUsers:
    return UnknownUsers(SHA_256, secret, lambda: known)


@pytest.mark.parametrize(
    "like",
    [
        credential(),
        credential(iterations=8_192),
        credential(iterations=16_384, salt=bytes(range(64))),
        credential(salt=bytes(200)),
        credential(salt=b"s"),
    ],
)
def test_challenge_is_like_that_of_all_users(like: ScramCredential) -> None:
    made = [unknown(like, like).credential_of(name) for name in NAMES]
    assert {each.iterations for each in made} == {like.iterations}
    if SALT_TEXT.fullmatch(like.salt):
        assert all(SALT_TEXT.fullmatch(each.salt) for each in made)
    else:
        assert {len(each.salt) for each in made} == {len(like.salt)}
    assert len({each.stored_key for each in made}) == len(NAMES)


def test_salts_that_differ_belong_to_different_names() -> None:
    salts = {unknown(credential(salt=bytes(64))).credential_of(name).salt for name in NAMES}
    assert len(salts) == len(NAMES)


def test_where_users_differ_so_do_unknown_ones() -> None:
    known = [credential(), credential(iterations=8_192), credential(salt=bytes(64))]
    made = Counter(
        (each.iterations, len(each.salt) == 64)
        for each in map(unknown(*known).credential_of, NAMES)
    )
    assert set(made) == {(4_096, False), (8_192, False), (4_096, True)}
    assert min(made.values()) > len(NAMES) / 6


def test_every_node_makes_the_same_challenge_in_any_order_of_users() -> None:
    known = [credential(), credential(iterations=8_192), credential(salt=bytes(64))]
    for name in NAMES[:20]:
        one, other = unknown(*known), unknown(*reversed(known))
        assert one.credential_of(name) == other.credential_of(name)
        assert one.credential_of(name) == one.credential_of(name)


def test_the_secret_decides_the_challenge() -> None:
    other = unknown(credential(), secret=b"another")
    assert all(
        unknown(credential()).credential_of(name).salt != other.credential_of(name).salt
        for name in NAMES[:20]
    )


def test_another_kind_of_user_leaves_most_challenges_as_they_were() -> None:
    users = [credential(), credential(iterations=8_192)]
    tested = UnknownUsers(SHA_256, SECRET, lambda: users)
    before = [tested.credential_of(name) for name in NAMES]
    users.append(credential(iterations=12_000))
    assert [tested.credential_of(name) for name in NAMES] == before
    tested.known_changed()
    after = [tested.credential_of(name) for name in NAMES]
    changed = [each for old, each in zip(before, after, strict=True) if old != each]
    assert {each.iterations for each in changed} == {12_000}
    assert len(changed) < len(NAMES) / 2


def test_credentials_that_no_client_accepts_are_not_imitated() -> None:
    weak = credential(iterations=1)
    assert unknown(weak).credential_of("a").iterations == 4_096
    assert unknown().credential_of("a").iterations == 4_096


def test_unknown_tokens_are_like_tokens() -> None:
    made = unknown(credential(iterations=8_192, salt=bytes(64))).token_credential_of("id")
    assert made.iterations == 4_096
    assert SALT_TEXT.fullmatch(made.salt)


def test_looking_at_many_users_is_done_once() -> None:
    looks = 0

    def known() -> list[ScramCredential]:
        nonlocal looks
        looks += 1
        return [credential()]

    tested = UnknownUsers(SHA_256, SECRET, known)
    for name in NAMES:
        tested.credential_of(name)
    assert looks == 1

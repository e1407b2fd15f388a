"""What a server stores of a SCRAM user: keys derived from the password, never the password.

    salted password = PBKDF2-HMAC(password, salt, iterations)
    stored key = H(HMAC(salted password, "Client Key"))
    server key = HMAC(salted password, "Server Key")

As in Kafka, a password is the UTF-8 of its text, without SASLprep.
"""

from __future__ import annotations

import hashlib
import hmac
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from enum import IntEnum
from functools import lru_cache
from typing import Final

from ottla.configs.value import Password
from ottla.security.sasl.mechanism import Mechanism

# Kafka's limits for both mechanisms.
ITERATIONS_MIN: Final = 4096
ITERATIONS_MAX: Final = 16_384
_SALTED_MAX: Final = 64
_RANDOM_BITS: Final = 130
_DIGITS: Final = "0123456789abcdefghijklmnopqrstuvwxyz"


class ScramMechanism(IntEnum):
    """The SCRAM mechanisms, by their codes in records and in AlterUserScramCredentials."""

    SCRAM_SHA_256 = 1
    SCRAM_SHA_512 = 2

    @property
    def mechanism(self) -> Mechanism:
        return Mechanism[self.name]

    @property
    def hash_name(self) -> str:
        return "sha256" if self is ScramMechanism.SCRAM_SHA_256 else "sha512"


SCRAM_BY_NAME: Final[Mapping[str, ScramMechanism]] = {
    each.mechanism.value: each for each in ScramMechanism
}


@dataclass(frozen=True, slots=True)
class ScramCredential:
    """The keys of one user for one mechanism."""

    salt: bytes = field(repr=False)
    stored_key: bytes = field(repr=False)
    server_key: bytes = field(repr=False)
    iterations: int


def make_credential(
    mechanism: ScramMechanism, password: Password, *, salt: bytes, iterations: int = ITERATIONS_MIN
) -> ScramCredential:
    salted = salt_password(mechanism.hash_name, password, salt=salt, iterations=iterations)
    return credential_of_salted_password(mechanism, salted, salt=salt, iterations=iterations)


def credential_of_salted_password(
    mechanism: ScramMechanism, salted_password: bytes, *, salt: bytes, iterations: int
) -> ScramCredential:
    """The credential of an AlterUserScramCredentials request, whose client salted the password.
    Raises a ValueError for what no SCRAM client sends."""
    check_iterations(iterations)
    size = hashlib.new(mechanism.hash_name).digest_size
    if len(salted_password) != size:
        raise ValueError(f"the salted password of {mechanism.mechanism} must have {size} bytes")
    if not salt:
        raise ValueError("the salt must not be empty")
    keys = keys_of(mechanism.hash_name, salted_password)
    return ScramCredential(salt, keys.stored_key, keys.server_key, iterations)


def check_iterations(iterations: int) -> None:
    """Raises a ValueError for a number that Kafka refuses in a credential."""
    if not ITERATIONS_MIN <= iterations <= ITERATIONS_MAX:
        raise ValueError(
            f"iterations must be from {ITERATIONS_MIN} to {ITERATIONS_MAX}, not {iterations}"
        )


@dataclass(frozen=True, slots=True, repr=False)
class ScramKeys:
    """The keys that follow from a salted password. Only the client has the client key."""

    client_key: bytes
    stored_key: bytes
    server_key: bytes


# A node connects to others again and again with one password. Each time, this would block its event
# loop for milliseconds.
@lru_cache(maxsize=_SALTED_MAX)
def salt_password(hash_name: str, password: Password, *, salt: bytes, iterations: int) -> bytes:
    return hashlib.pbkdf2_hmac(hash_name, password.value.encode(), salt, iterations)


def keys_of(hash_name: str, salted_password: bytes) -> ScramKeys:
    client_key = hmac.digest(salted_password, b"Client Key", hash_name)
    return ScramKeys(
        client_key=client_key,
        stored_key=hashlib.new(hash_name, client_key).digest(),
        server_key=hmac.digest(salted_password, b"Server Key", hash_name),
    )


def random_text(below: Callable[[int], int]) -> str:
    """A nonce or a salt as Kafka makes it: 130 random bits as a number in base 36. `below` is the
    one of the caller's dice."""
    return base_36(below(1 << _RANDOM_BITS))


def derived_text(secret: bytes, *parts: bytes) -> str:
    """The same kind of text, but always the same for the same input. Cannot be told from a random
    one without the secret."""
    data = b"".join(len(part).to_bytes(4) + part for part in parts)
    return base_36(int.from_bytes(hmac.digest(secret, data, "sha512")) % (1 << _RANDOM_BITS))


def base_36(number: int) -> str:
    digits = []
    while number:
        number, digit = divmod(number, 36)
        digits.append(_DIGITS[digit])
    return "".join(reversed(digits)) or "0"

"""The challenges that SCRAM sends to clients that name an unknown user.

They must not show that the user is unknown. So the salt has the form, and the challenge the number
of iterations, that existing users have, and both stay the same for a name: on every node, and after
a restart. If users differ in them, the name and a secret decide which of them the unknown user is
like. Credentials of users cannot be that secret: a salt that is derived from them could be compared
with guessed passwords.
"""

from __future__ import annotations

import hmac
from collections import Counter
from collections.abc import Callable, Iterable
from typing import Final, NamedTuple

from ottla.security.sasl.scram_credential import (
    ITERATIONS_MIN,
    SALT_TEXT,
    ScramCredential,
    ScramMechanism,
    derived_text,
)

_TEXT: Final = 0
_SHAPES_MAX: Final = 8
_SIGNATURE_KEYS: Final = ("stored", "server")


class _Shape(NamedTuple):
    """What a challenge shows of a credential, besides the salt's bytes."""

    iterations: int
    # `_TEXT` for a salt as Kafka's tools make it; clients may send salts of other bytes.
    salt_bytes: int


_USUAL: Final = _Shape(ITERATIONS_MIN, _TEXT)


class UnknownUsers:
    """Makes credentials for names without one. `known` returns the credentials of the mechanism,
    which are looked at once after each `known_changed`."""

    __slots__ = ("_hash_name", "_known", "_secret", "_shapes")

    def __init__(
        self,
        mechanism: ScramMechanism,
        secret: bytes,
        known: Callable[[], Iterable[ScramCredential]] = tuple,
    ) -> None:
        """`secret` must be the same on all nodes."""
        self._hash_name = mechanism.hash_name
        self._secret = secret
        self._known = known
        self._shapes: tuple[_Shape, ...] = ()

    def known_changed(self) -> None:
        self._shapes = ()

    def credential_of(self, name: str) -> ScramCredential:
        self._shapes = self._shapes or _shapes_of(self._known())
        return self._credential(name, max(self._shapes, key=lambda shape: self._rank(name, shape)))

    def token_credential_of(self, token_id: str) -> ScramCredential:
        """Of an unknown delegation token. All tokens have the usual form."""
        return self._credential(token_id, _USUAL)

    def _credential(self, name: str, shape: _Shape) -> ScramCredential:
        stored_key, server_key = (
            hmac.digest(self._secret, f"{kind}:{name}".encode(), self._hash_name)
            for kind in _SIGNATURE_KEYS
        )
        return ScramCredential(self._salt(name, shape), stored_key, server_key, shape.iterations)

    def _salt(self, name: str, shape: _Shape) -> bytes:
        text = derived_text(self._secret, self._hash_name.encode(), b"salt", name.encode())
        if shape.salt_bytes == _TEXT:
            return text.encode()
        blocks = (
            hmac.digest(self._secret, f"{block}:{text}".encode(), "sha512")
            for block in range(-(-shape.salt_bytes // 64))
        )
        return b"".join(blocks)[: shape.salt_bytes]

    def _rank(self, name: str, shape: _Shape) -> bytes:
        """Another shape changes only the names for which it ranks highest."""
        return hmac.digest(self._secret, f"{shape}:{name}".encode(), "sha256")


def _shapes_of(credentials: Iterable[ScramCredential]) -> tuple[_Shape, ...]:
    """The most common ones; the usual one without any users."""
    counts = Counter(_shape_of(each) for each in credentials if each.iterations >= ITERATIONS_MIN)
    ordered = sorted(counts, key=lambda shape: (-counts[shape], shape))
    return tuple(ordered[:_SHAPES_MAX]) or (_USUAL,)


def _shape_of(credential: ScramCredential) -> _Shape:
    is_text = SALT_TEXT.fullmatch(credential.salt) is not None
    return _Shape(credential.iterations, _TEXT if is_text else len(credential.salt))

"""SASL PLAIN: a name and a password in one message (RFC 4616). Use it over TLS only.

The message is `[authorization id] NUL name NUL password`, in UTF-8.
"""

from __future__ import annotations

import hmac
from collections.abc import Mapping
from hashlib import sha256
from typing import Final

from ottla.configs.value import Password
from ottla.security.sasl.mechanism import (
    AuthenticationError,
    Identity,
    InvalidCredentialsError,
    Mechanism,
    ServerReply,
)

_USER_OPTION: Final = "user_"
_PARTS: Final = 3


def users_of(options: Mapping[str, str]) -> dict[str, Password]:
    """The users in the options of a JAAS entry: `user_alice="alice's password"`."""
    return {
        name.removeprefix(_USER_OPTION): Password(password)
        for name, password in options.items()
        if name.startswith(_USER_OPTION)
    }


class PlainServer:
    """Compares with the passwords of `users`. An unknown user takes as long as a wrong password."""

    __slots__ = ("_is_used", "_users")

    def __init__(self, users: Mapping[str, Password]) -> None:
        self._users = users
        self._is_used = False

    def evaluate(self, message: bytes, *, now_ms: int) -> ServerReply:  # noqa: ARG002
        if self._is_used:
            raise InvalidCredentialsError("PLAIN: a second message")
        self._is_used = True
        authorization_id, name, password = _parts(message)
        if not name or not password:
            raise InvalidCredentialsError("PLAIN: an empty user name or password")
        known = self._users.get(name)
        # Hashes have one length. An unknown user's password is compared too, with itself.
        expected = password if known is None else known.value.encode()
        is_equal = hmac.compare_digest(sha256(password).digest(), sha256(expected).digest())
        if known is None or not is_equal:
            raise InvalidCredentialsError("PLAIN: unknown user or wrong password")
        if authorization_id not in ("", name):
            raise AuthenticationError("the authorization id must be empty or the user name")
        return ServerReply(b"", Identity(name))


class PlainClient:
    """Sends the password; the server proves nothing."""

    __slots__ = ("_message", "is_complete")

    def __init__(self, name: str, password: Password) -> None:
        if "\0" in name or "\0" in password.value:
            raise AuthenticationError("PLAIN: the user name and password cannot contain NUL")
        self._message = f"\0{name}\0{password.value}".encode()
        self.is_complete = False

    @property
    def name(self) -> Mechanism:
        return Mechanism.PLAIN

    def first_message(self) -> bytes:
        return self._message

    def evaluate(self, challenge: bytes) -> bytes | None:
        if challenge or self.is_complete:
            raise AuthenticationError("PLAIN: the server sent an unexpected message")
        self.is_complete = True
        return None


def _parts(message: bytes) -> tuple[str, str, bytes]:
    parts = message.split(b"\0", _PARTS)
    if len(parts) != _PARTS:
        raise InvalidCredentialsError(f"PLAIN: a message of {len(parts)} parts instead of {_PARTS}")
    try:
        return parts[0].decode(), parts[1].decode(), parts[2]
    except UnicodeDecodeError:
        raise InvalidCredentialsError("PLAIN: the user name is not UTF-8") from None

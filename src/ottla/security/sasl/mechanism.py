"""SASL mechanisms: their names, what both sides of an exchange implement, and its errors."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from enum import StrEnum
from typing import Protocol

from ottla.model import ErrorCode, KafkaError


class Mechanism(StrEnum):
    """The mechanisms that Ottla has, by their names in the protocol."""

    PLAIN = "PLAIN"
    SCRAM_SHA_256 = "SCRAM-SHA-256"
    SCRAM_SHA_512 = "SCRAM-SHA-512"
    OAUTHBEARER = "OAUTHBEARER"


class AuthenticationError(KafkaError):
    """An authentication that failed. The peer receives `message`; `reason` is for the log of this
    node. Neither ever contains a secret or any bytes that the peer sent."""

    def __init__(self, message: str, *, reason: str = "") -> None:
        super().__init__(ErrorCode.SASL_AUTHENTICATION_FAILED, message)
        self.reason = reason or message

    def __reduce__(self) -> tuple[type[AuthenticationError], tuple[object, ...]]:
        return type(self), (self.message,)


class InvalidCredentialsError(AuthenticationError):
    """The peer is not who it claims to be, or its message is malformed. A client receives one text
    for all reasons, so that it cannot find out whether a user exists."""

    def __init__(self, reason: str) -> None:
        super().__init__("the credentials are invalid", reason=reason)

    def __reduce__(self) -> tuple[type[AuthenticationError], tuple[object, ...]]:
        return type(self), (self.reason,)


@dataclass(frozen=True, slots=True)
class Identity:
    """The result of an exchange that succeeded."""

    name: str
    # When a delegation token or an OAuth token expires, by the wall clock.
    expires_at_ms: int | None = None
    is_from_token: bool = False
    extensions: Mapping[str, str] = field(default_factory=dict)


@dataclass(frozen=True, slots=True)
class ServerReply:
    """The server's next message. The exchange is complete if there is an identity."""

    data: bytes = field(repr=False)
    identity: Identity | None = None


class ServerMechanism(Protocol):
    """The server's side of one exchange. Used once; after an error it is of no use."""

    def evaluate(self, message: bytes, *, now_ms: int) -> ServerReply:
        """Takes the client's next message. Raises an AuthenticationError and nothing else."""


class ClientMechanism(Protocol):
    """The client's side of one exchange. Used once; after an error it is of no use."""

    @property
    def name(self) -> Mechanism: ...

    @property
    def is_complete(self) -> bool:
        """Whether the server has proved what the mechanism wants it to prove."""

    def first_message(self) -> bytes: ...

    def evaluate(self, challenge: bytes) -> bytes | None:
        """Takes the server's answer and returns the next message; None if the exchange is complete.
        Raises an AuthenticationError and nothing else."""

"""What every client does on a secured node, in one vocabulary, and how it says that it may not.

An implementation translates its client's own errors, by their own codes and classes, and raises
nothing of its own. A SecuredClient keeps nothing open between calls.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Final, Protocol

from tests.conformance.clients import RefusedError
from tests.conformance.security.logins import Endpoint, Login

__all__ = [
    "NO_TOKENS",
    "LastingClient",
    "LoginRefusedError",
    "RefusedError",
    "SecuredClient",
    "UntrustedError",
]

NO_TOKENS: Final = "sends no SCRAM extensions, so it cannot log in with a delegation token"


class LoginRefusedError(Exception):
    """The client says that the node did not accept its login."""


class UntrustedError(Exception):
    """The client says that it does not trust the certificate of the node."""


class SecuredClient(Protocol):
    name: str

    def why_not(self, login: Login) -> str | None:
        """Why the client cannot log in like this, or None if it can."""
        ...

    def produce(self, endpoint: Endpoint, login: Login, topic: str, values: Sequence[str]) -> None:
        """Returns when all are acknowledged. Raises RefusedError, LoginRefusedError or
        UntrustedError."""
        ...

    def consume(
        self, endpoint: Endpoint, login: Login, topic: str, group: str, count: int
    ) -> list[str]:
        """As the only member of a group, from its committed offsets or else the beginning; commits
        what it has read. Raises as `produce` does."""
        ...


class LastingClient(Protocol):
    """A producer, and the only consumer of a group, that keep their connections. The group has the
    name of the topic."""

    def send(self, value: str) -> None:
        """Returns when it is acknowledged."""
        ...

    def receive(self) -> list[str]:
        """What has arrived, after a short wait."""
        ...

    def close(self) -> None: ...

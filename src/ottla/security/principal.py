"""The authenticated identity of a session."""

from __future__ import annotations

from typing import Final, NamedTuple

USER_TYPE: Final = "User"


class Principal(NamedTuple):
    type: str
    name: str
    # Whether the session was authenticated with a delegation token.
    is_from_token: bool = False

    def __str__(self) -> str:
        return f"{self.type}:{self.name}"


ANONYMOUS: Final = Principal(USER_TYPE, "ANONYMOUS")

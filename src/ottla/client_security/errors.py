"""Client properties that cannot be used."""

from __future__ import annotations

from pathlib import Path

from ottla.runtime.unreadable_file import unreadable_text


class ClientPropertyError(Exception):
    """`message` says what is wrong, and `hints` what to do about it. Neither contains a secret."""

    def __init__(self, message: str, *hints: str) -> None:
        super().__init__(message)
        self.message = message
        self.hints = hints

    def __reduce__(self) -> tuple[type[ClientPropertyError], tuple[str, ...]]:
        return type(self), (self.message, *self.hints)


class NoTokenError(ClientPropertyError):
    """An endpoint did not answer with a token."""


def unreadable(path: Path | str, error: OSError, *, remedy: str) -> ClientPropertyError:
    return ClientPropertyError(f"{unreadable_text(path, error, remedy=remedy)}.")

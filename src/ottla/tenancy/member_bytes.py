"""The names in the bytes of group members (group_protocol.py), in a whole request or response.

A group may have thousands of members, and each message of it the bytes of all: they are translated
in steps, apart from the message's own names. Equal bytes are translated once.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import Any

from ottla.model import Buffer
from ottla.tenancy.group_protocol import Rename, rewritten_assignment, rewritten_subscription
from ottla.wire.schema import Message
from ottla.wire.schema.renaming import Renamer, renamer_of


class _Members:
    """Calls `rewrite` for the bytes of members, and leaves all names as they are."""

    def __init__(self, rewrite: Callable[[str, Buffer], Buffer]) -> None:
        self._rewrite = rewrite

    def __getattr__(self, _kind: str) -> Callable[..., Any]:
        return _same

    def subscription(self, data: Buffer) -> Buffer:
        return self._rewrite("subscription", data)

    def assignment(self, data: Buffer) -> Buffer:
        return self._rewrite("assignment", data)


class MemberBytes:
    """Of one message. First all of `steps`, then `apply`."""

    def __init__(self, message: Message, version: int, rename: Rename) -> None:
        self._message = message
        self._rename = rename
        self._known: dict[tuple[str, bytes], Buffer] = {}
        self._renamer: Renamer | None = renamer_of(type(message), version)
        self._visit(self._note)

    def __len__(self) -> int:
        return len(self._known)

    def steps(self) -> Iterator[None]:
        """Translates the bytes of one member in each step."""
        for kind, data in self._known:
            rewrite = rewritten_subscription if kind == "subscription" else rewritten_assignment
            self._known[kind, data] = rewrite(data, self._rename)
            yield

    def apply(self) -> None:
        """Puts the translated bytes into the message."""
        if self._known:
            self._visit(lambda kind, data: self._known[kind, bytes(data)])

    def _note(self, kind: str, data: Buffer) -> Buffer:
        self._known[kind, bytes(data)] = data
        return data

    def _visit(self, rewrite: Callable[[str, Buffer], Buffer]) -> None:
        if self._renamer is not None:
            self._renamer(self._message, _Members(rewrite))


def _same(name: Any, _kind: object = None) -> Any:
    return name

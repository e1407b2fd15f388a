"""The connections that a node has at the moment, in the order in which they came."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Protocol


class OpenConnection(Protocol):
    """What the node's chores and its end need of a connection."""

    @property
    def last_active(self) -> float: ...

    @property
    def is_closing(self) -> bool: ...

    def close(self) -> None: ...

    def abort(self) -> None: ...


class Connections:
    """Owned by the node's loop."""

    __slots__ = ("_open",)

    def __init__(self) -> None:
        # A dict for its order: a set would be walked in another one in each run.
        self._open: dict[OpenConnection, None] = {}

    def __iter__(self) -> Iterator[OpenConnection]:
        """A copy: connections come and go while they are walked."""
        return iter(list(self._open))

    def __len__(self) -> int:
        return len(self._open)

    def __contains__(self, connection: object) -> bool:
        return connection in self._open

    def add(self, connection: OpenConnection) -> None:
        self._open[connection] = None

    def discard(self, connection: OpenConnection) -> None:
        self._open.pop(connection, None)

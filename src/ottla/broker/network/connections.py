"""The open connections of a node, in the order in which they were accepted."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Protocol


class OpenConnection(Protocol):
    """A connection as the limits, the idle check and the shutdown of the node use it."""

    @property
    def listener(self) -> str: ...

    @property
    def last_active(self) -> float: ...

    @property
    def is_closing(self) -> bool: ...

    @property
    def waiting_apis(self) -> list[str]: ...

    def close(self) -> None: ...

    def abort(self) -> None: ...


class Connections:
    """Owned by the node's loop."""

    __slots__ = ("_open",)

    def __init__(self) -> None:
        # A dict keeps insertion order; the iteration order of a set differs between runs.
        self._open: dict[OpenConnection, None] = {}

    def __iter__(self) -> Iterator[OpenConnection]:
        """Iterates over a copy: connections open and close during the iteration."""
        return iter(list(self._open))

    def __len__(self) -> int:
        return len(self._open)

    def __contains__(self, connection: object) -> bool:
        return connection in self._open

    def add(self, connection: OpenConnection) -> None:
        self._open[connection] = None

    def discard(self, connection: OpenConnection) -> None:
        self._open.pop(connection, None)

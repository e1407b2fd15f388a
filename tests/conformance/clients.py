"""What every client can do, in one vocabulary, so that one test asks it of all of them.

Each client's folder has its own `client.py` with an implementation. Clients are made for a test and
keep nothing open between calls.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import NamedTuple, Protocol

from ottla.model import ErrorCode

CODECS = ("none", "gzip", "snappy", "lz4", "zstd")
EARLIEST = -2
LATEST = -1
TIMEOUT_S = 30.0
# How long a fetch may wait for records where a test wants to see that it does not.
LONG_WAIT_MS = 3_000

Headers = tuple[tuple[str, bytes | None], ...]


@dataclass(frozen=True, slots=True)
class Message:
    """What a producer sends; without a partition its partitioner chooses."""

    value: bytes | None
    key: bytes | None = None
    headers: Headers = ()
    partition: int | None = None
    timestamp_ms: int | None = None


class Position(NamedTuple):
    partition: int
    offset: int


class Received(NamedTuple):
    """What a consumer sees of a record."""

    topic: str
    partition: int
    offset: int
    timestamp_ms: int
    # CreateTime or LogAppendTime; None for a client that does not report it.
    timestamp_type: str | None
    key: bytes | None
    value: bytes | None
    headers: Headers


class RefusedError(Exception):
    """The node answered a produce request with an error."""

    def __init__(self, code: int, message: str) -> None:
        super().__init__(f"{ErrorCode(code).name}: {message}")
        self.code = ErrorCode(code)


class Client(Protocol):
    """A client of one cluster."""

    name: str
    # Whether messages can be given a timestamp.
    sets_timestamps: bool

    def can_send(self, message: Message) -> bool:
        """Whether its API has a way to say this."""
        ...

    def produce(
        self,
        topic: str,
        messages: Sequence[Message],
        *,
        codec: str = "none",
        acks: str = "all",
        is_idempotent: bool = False,
        request_bytes_max: int = 1_000_000,
    ) -> list[Position]:
        """Sends all messages and returns where they are; raises RefusedError for the first error.

        With acks=0 the offsets are not known.
        """
        ...

    def consume(
        self,
        starts: Mapping[tuple[str, int], int],
        count: int,
        *,
        read_committed: bool = False,
        fetch_bytes_max: int = 1_000_000,
    ) -> list[Received]:
        """Reads `count` records from the partitions, each from its offset, EARLIEST or LATEST."""
        ...

    def offset_for(self, topic: str, partition: int, timestamp_ms: int) -> int | None:
        """The first offset with that timestamp or a later one, or the one of EARLIEST or LATEST."""
        ...

    def latencies_ms(self, topic: str, count: int) -> list[float]:
        """From sending a record to having it, for a consumer whose fetch may wait for long."""
        ...


def assert_complete(received: Sequence[Received], count: int) -> None:
    assert len(received) == count, f"{len(received)} of {count} records in {TIMEOUT_S:.0f} s"

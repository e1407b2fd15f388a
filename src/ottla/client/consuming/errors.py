"""Errors that only a consumer raises."""

from __future__ import annotations

from collections.abc import Mapping

from ottla.client.errors import ClientError
from ottla.model import TopicPartition


class InvalidOffsetError(ClientError):
    """A consumer has no position to continue at, and `auto.offset.reset` is none. Base of these
    errors."""


class NoOffsetForPartitionError(InvalidOffsetError):
    """Partitions have no committed offset, and `auto.offset.reset` is none. Seek to a position."""

    def __init__(self, partitions: tuple[TopicPartition, ...]) -> None:
        named = ", ".join(map(str, partitions))
        super().__init__(f"no position is known for {named}; seek to one, or set auto.offset.reset")
        self.partitions = partitions

    def __reduce__(self) -> tuple[type[NoOffsetForPartitionError], tuple[object, ...]]:
        return type(self), (self.partitions,)


class PositionOutOfRangeError(InvalidOffsetError):
    """The positions do not exist (any more), and `auto.offset.reset` is none. Seek to others."""

    def __init__(self, positions: Mapping[TopicPartition, int]) -> None:
        named = ", ".join(f"{offset} in {name}" for name, offset in positions.items())
        super().__init__(f"offsets out of range: {named}; seek, or set auto.offset.reset")
        self.positions = dict(positions)

    def __reduce__(self) -> tuple[type[PositionOutOfRangeError], tuple[object, ...]]:
        return type(self), (self.positions,)


class LogTruncationError(InvalidOffsetError):
    """Records that were read do not exist any more, after an unclean leader election (KIP-320), and
    `auto.offset.reset` is none. `divergent` has the offset from which on each log differs."""

    def __init__(self, divergent: Mapping[TopicPartition, int]) -> None:
        named = ", ".join(f"{name} from offset {offset} on" for name, offset in divergent.items())
        super().__init__(
            f"records that were read are lost: {named}; seek, or set auto.offset.reset"
        )
        self.divergent = dict(divergent)

    def __reduce__(self) -> tuple[type[LogTruncationError], tuple[object, ...]]:
        return type(self), (self.divergent,)


class UnreadableRecordsError(ClientError):
    """A batch is corrupt. Seek past `offset` to continue without it."""

    def __init__(self, partition: TopicPartition, offset: int, reason: str) -> None:
        super().__init__(
            f"the records of {partition} at offset {offset} cannot be read: {reason}; seek past "
            "them to continue"
        )
        self.partition = partition
        self.offset = offset
        self._reason = reason

    def __reduce__(self) -> tuple[type[UnreadableRecordsError], tuple[object, ...]]:
        return type(self), (self.partition, self.offset, self._reason)

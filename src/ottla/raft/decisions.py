"""What the machine wants the caller to do. The package's docstring specifies the order."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Any, NamedTuple

from ottla.model import Buffer
from ottla.raft.log import OffsetAndEpoch
from ottla.wire.messages.fetch import FetchResponse
from ottla.wire.messages.fetch_snapshot import FetchSnapshotResponse
from ottla.wire.schema import Message
from ottla.wire.stored.quorum_state import QuorumStateData


class LeaderAndEpoch(NamedTuple):
    leader_id: int | None
    epoch: int


class Destination(NamedTuple):
    """Where to send a request. Bootstrap servers have no known id; they get the ids -2, -3, ..."""

    node_id: int
    host: str
    port: int


class Send(NamedTuple):
    """A request. The caller reports its response or its failure with the same number; it may never
    do so."""

    number: int
    destination: Destination
    request: Message


class ReadLog(NamedTuple):
    """Read whole batches starting at an offset: at least one, more while they fit."""

    offset: int
    bytes_max: int


class ReadSnapshot(NamedTuple):
    id: OffsetAndEpoch
    position: int
    bytes_max: int


class Reply(NamedTuple):
    """The response to the request to which `receive` gave this number."""

    number: int
    response: Message
    read: ReadLog | ReadSnapshot | None = None

    def fill(self, data: Any) -> None:
        """Sets the data of the response: bytes, or a `Part` that stands for them."""
        if isinstance(self.response, FetchResponse):
            self.response.responses[0].partitions[0].records = data
        else:
            assert isinstance(self.response, FetchSnapshotResponse)
            self.response.topics[0].partitions[0].unaligned_records = data


class SnapshotChunk(NamedTuple):
    """A chunk of the leader's snapshot. Position 0 starts a new file; after the last chunk the
    snapshot replaces the log."""

    id: OffsetAndEpoch
    position: int
    data: Buffer
    is_last: bool


@dataclass(slots=True)
class Decisions:
    """The fields are in the order in which to carry them out. False if all are empty."""

    quorum_state: QuorumStateData | None = None
    truncate_to: int | None = None
    append: Buffer | None = None
    append_control: list[Message] = field(default_factory=list)
    snapshot_chunk: SnapshotChunk | None = None
    high_watermark: int | None = None
    leader: LeaderAndEpoch | None = None
    sends: list[Send] = field(default_factory=list)
    replies: list[Reply] = field(default_factory=list)

    def __bool__(self) -> bool:
        # Runs after every event, so it does not use `dataclasses.fields`.
        return bool(
            self.quorum_state is not None
            or self.truncate_to is not None
            or self.append is not None
            or self.append_control
            or self.snapshot_chunk is not None
            or self.high_watermark is not None
            or self.leader is not None
            or self.sends
            or self.replies
        )

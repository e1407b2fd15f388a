"""What the machine wants done. The package's docstring says in which order."""

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
    """Where to send a request. Bootstrap servers, whose ids nobody knows, count down from -2."""

    node_id: int
    host: str
    port: int


class Send(NamedTuple):
    """A request. Its response or its failure comes back with the same number, if it comes back."""

    number: int
    destination: Destination
    request: Message


class ReadLog(NamedTuple):
    """Whole batches from an offset on: one at least, more while they fit."""

    offset: int
    bytes_max: int


class ReadSnapshot(NamedTuple):
    id: OffsetAndEpoch
    position: int
    bytes_max: int


class Reply(NamedTuple):
    """The response to the request that `receive` gave this number."""

    number: int
    response: Message
    read: ReadLog | ReadSnapshot | None = None

    def fill(self, data: Any) -> None:
        """Puts what was read into the response: bytes, or a `Part` that stands for them."""
        if isinstance(self.response, FetchResponse):
            self.response.responses[0].partitions[0].records = data
        else:
            assert isinstance(self.response, FetchSnapshotResponse)
            self.response.topics[0].partitions[0].unaligned_records = data


class SnapshotChunk(NamedTuple):
    """A piece of the leader's snapshot. The one at position 0 begins a file; after the last one
    the snapshot takes the place of the log."""

    id: OffsetAndEpoch
    position: int
    data: Buffer
    is_last: bool


@dataclass(slots=True)
class Decisions:
    """In the order in which to carry them out. True if there is anything to do."""

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
        # Asked after every event, so without a look at the fields in general.
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

"""One assigned partition of a consumer, without I/O.

    INITIALIZING ──committed offset──▶ VALIDATING ──the leader's log has it──▶ FETCHING
         │                               ▲   │                                │      │
         └─none──▶ RESETTING ──offset────┘   └──log truncated──┐              │      │
                       ▲                                       ▼              │      │
                       └──────────── offset out of range, truncation ◀────────┘      │
                                         ▲  new leader: VALIDATING ◀─────────────────┘

A seek leads from any phase to VALIDATING or RESETTING. Every change of the position that is not
reading gives the partition a new `version`; responses to requests of older versions are dropped.
"""

from __future__ import annotations

from enum import Enum, auto

from ottla.client.consuming.decoding.fetched_batches import FetchedBatches
from ottla.client.consuming.offset_reset import OffsetReset
from ottla.client.consuming.record_queue import ReadPosition, RecordQueue
from ottla.model import TopicPartition

_UNKNOWN_EPOCH = -1


class Phase(Enum):
    INITIALIZING = auto()
    """The committed offset is not known yet."""
    RESETTING = auto()
    """The offset for the reset has to be asked for."""
    VALIDATING = auto()
    """Whether the leader's log still has what was read is not known yet (KIP-320)."""
    FETCHING = auto()


class AssignedPartition:
    """Created when a partition is assigned, dropped when it is revoked."""

    def __init__(self, name: TopicPartition) -> None:
        self.name = name
        self.phase = Phase.INITIALIZING
        self.version = 0
        self.is_paused = False
        # Set before `on_revoked` is called: nothing more is handed out.
        self.is_revoking = False
        # Set until `on_assigned` has returned, because it may seek.
        self.is_starting = False
        # Whether the application waits for the position, which may be in that callback.
        self.is_awaited = False
        self.reset: OffsetReset | None = None
        self.queue = RecordQueue(name, ReadPosition(-1))
        # The position behind the fetched records.
        self.fetch_position = ReadPosition(-1)
        # The epoch of the leader with which the position was validated.
        self.leader_epoch = _UNKNOWN_EPOCH
        self.high_watermark: int | None = None
        self.last_stable_offset: int | None = None
        self.log_start_offset: int | None = None
        # A follower to fetch from, and until when (KIP-392).
        self.read_replica: int | None = None
        self.read_replica_until = 0.0
        # Where a response could not be read; it is fetched again before that is an error.
        self._unreadable_at = -1
        # No request before this time, after an error.
        self.retry_at = 0.0

    @property
    def has_position(self) -> bool:
        return self.phase in (Phase.VALIDATING, Phase.FETCHING)

    @property
    def position(self) -> ReadPosition | None:
        """The position of the next record for the application."""
        return self.queue.position if self.has_position else None

    @property
    def may_initialize(self) -> bool:
        return self.is_awaited or not self.is_starting

    @property
    def is_deliverable(self) -> bool:
        return self.phase is Phase.FETCHING and not (
            self.is_paused or self.is_revoking or self.is_starting
        )

    def seek(self, position: ReadPosition) -> None:
        """Continues at another position, which is validated if its epoch is known."""
        self._renew(position)
        self.phase = Phase.VALIDATING
        self.leader_epoch = _UNKNOWN_EPOCH
        self.reset = None

    def start_reset(self, reset: OffsetReset) -> None:
        self._renew(ReadPosition(-1))
        self.phase = Phase.RESETTING
        self.reset = reset

    def note_leader_epoch(self, leader_epoch: int) -> None:
        """Validates the position again if there is a new leader."""
        if leader_epoch > self.leader_epoch:
            self.read_replica = None
            if self.phase is Phase.FETCHING:
                self.phase = Phase.VALIDATING
                self.version += 1
                self.retry_at = 0.0

    @property
    def needs_validation(self) -> bool:
        """Whether the leader has to be asked; without a known epoch there is nothing to compare."""
        return self.phase is Phase.VALIDATING and self.fetch_position.leader_epoch >= 0

    def validated(self, leader_epoch: int) -> None:
        assert self.phase is Phase.VALIDATING
        self.phase = Phase.FETCHING
        self.leader_epoch = leader_epoch

    def truncated(self, end: ReadPosition) -> bool:
        """The leader's log has nothing from `end` on of what was fetched. Returns whether the
        application has read records that are gone; otherwise they are fetched again."""
        position = self.queue.position
        if end.offset < position.offset:
            return True
        self._renew(position)
        return False

    def append(self, fetched: FetchedBatches, byte_count: int, next_position: ReadPosition) -> None:
        """Takes the records of a response to the fetch from `fetch_position`."""
        assert self.phase is Phase.FETCHING
        self.queue.append(fetched, byte_count)
        self.fetch_position = next_position

    def drop(self) -> None:
        """Lets go of fetched records when the partition is revoked."""
        self.version += 1
        self.queue.clear()

    def drop_fetched(self) -> None:
        """Forgets what was fetched and not handed out; it is fetched again."""
        self._renew(self.queue.position)

    def found_unreadable(self) -> bool:
        """Fetches again from the position, because bytes may be damaged on their way. Returns
        whether it is the second time."""
        position = self.queue.position
        is_again = self._unreadable_at == position.offset
        self._unreadable_at = position.offset
        self._renew(position)
        return is_again

    def _renew(self, position: ReadPosition) -> None:
        self.version += 1
        self.queue.clear()
        self.queue = RecordQueue(self.name, position)
        self.fetch_position = position
        self.retry_at = 0.0

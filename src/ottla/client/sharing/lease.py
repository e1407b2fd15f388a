"""Records of one partition that one response has locked for this member.

waiting ──handed out──▶ delivered ──accept, release, reject──▶ acknowledged
                           │ ▲
                           renew
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from ottla.client.sharing.acknowledgements import AckRun
from ottla.client.sharing.records import SharedRecord
from ottla.model import TopicPartition
from ottla.shares.record_state import AcknowledgeType

if TYPE_CHECKING:
    from ottla.client.sharing.node_session import NodeShareSession


class Lease:
    """Belongs to a share session: its locks end with it."""

    __slots__ = (
        "_acknowledged",
        "_next",
        "epoch",
        "lock_ends",
        "name",
        "open_count",
        "records",
        "renewed",
        "session",
    )

    def __init__(
        self,
        session: NodeShareSession,
        name: TopicPartition,
        records: list[SharedRecord],
        *,
        lock_ends: float,
    ) -> None:
        self.session = session
        # The incarnation of the session.
        self.epoch = session.incarnation
        self.name = name
        self.records = records
        self.lock_ends = lock_ends
        # The ends of locks that were renewed, by offset.
        self.renewed: dict[int, float] = {}
        self._next = 0
        # The records that are not acknowledged.
        self.open_count = len(records)
        # Offsets that were acknowledged one by one.
        self._acknowledged: set[int] = set()

    @property
    def is_waiting(self) -> bool:
        """Whether records are left to be handed out."""
        return self._next < len(self.records)

    @property
    def waiting_count(self) -> int:
        return len(self.records) - self._next

    @property
    def is_held(self) -> bool:
        """Whether the session in which the records were locked goes on."""
        return self.epoch == self.session.incarnation

    def take(self, count_max: int) -> list[SharedRecord]:
        """The next records to be handed out."""
        first, self._next = self._next, min(self._next + count_max, len(self.records))
        return self.records[first : self._next]

    def take_back(self, count: int) -> None:
        """Undoes the end of the last `take`."""
        self._next -= count

    def drop_waiting(self) -> int:
        """Forgets the records that were not handed out; returns how many."""
        count = self.waiting_count
        del self.records[self._next :]
        self.open_count -= count
        return count

    def delivered(self) -> list[SharedRecord]:
        """The records that were handed out and are not acknowledged."""
        done = self._acknowledged
        return [each for each in self.records[: self._next] if each.offset not in done]

    def accept_delivered(self) -> list[AckRun]:
        """Accepts the records that were handed out and are not acknowledged."""
        records = self.delivered() if self._acknowledged else self.records[: self._next]
        runs: list[AckRun] = []
        if records:
            first, last = records[0].offset, records[-1].offset
            if last - first == len(records) - 1:
                runs = [AckRun(first, last, AcknowledgeType.ACCEPT)]
            else:
                runs = [
                    AckRun(each.offset, each.offset, AcknowledgeType.ACCEPT) for each in records
                ]
        del self.records[: self._next]
        self._next = 0
        self._acknowledged.clear()
        self.open_count = len(self.records)
        return runs

    def is_open(self, offset: int) -> bool:
        """Whether the record was handed out and is not acknowledged."""
        if not self._next or offset in self._acknowledged:
            return False
        return self.records[0].offset <= offset <= self.records[self._next - 1].offset

    def acknowledge(self, offset: int) -> None:
        self._acknowledged.add(offset)
        self.renewed.pop(offset, None)
        self.open_count -= 1

    def lock_of(self, offset: int) -> float:
        """When the record's lock ends."""
        return self.renewed.get(offset, self.lock_ends)

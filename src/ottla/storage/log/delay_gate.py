"""What a log with delayed delivery asks its leader before it appends and before it deletes."""

from __future__ import annotations

from typing import Protocol

from ottla.storage.batches.held_headers import CANCEL_START
from ottla.storage.batches.opened_batch import OpenedBatch, hold_opened


class DelayGate(Protocol):
    """The held records of a partition, as its leader knows them. A log has one only while its
    replica leads."""

    @property
    def flushes_to(self) -> int:
        """Retention waits until the log is flushed up to this offset."""

    def is_behind(self, now_ms: int) -> bool:
        """Whether records that are due are not released yet. Later ones have to wait behind
        them."""

    def require_room(self, record_count: int, size: int, *, cancels: bool) -> None:
        """Raises POLICY_VIOLATION if the partition may not hold so much, or if it `cancels` and no
        more cancellations can be remembered."""

    def oldest_offset(self) -> int:
        """Retention keeps the log from here on: the first record whose release is not
        appended, committed and on the device."""


def gated(gate: DelayGate | None, opened: OpenedBatch, *, now_ms: int) -> OpenedBatch:
    """The batch as it is appended: held if it asks for that, or if it has to wait behind others.

    A transaction's batch does not wait: it becomes visible when the transaction is committed.
    """
    header = opened.header
    if not (header.is_held or header.is_transactional) and (gate is None or gate.is_behind(now_ms)):
        opened = hold_opened(opened, now_ms=now_ms)
    if gate is not None and opened.header.is_held:
        records = bytes(opened.records)
        cancels = CANCEL_START in records
        gate.require_room(opened.header.record_count, len(records), cancels=cancels)
    return opened


def kept_from(gate: DelayGate | None, log_start_offset: int) -> int:
    """Where the part of a log begins that retention by time and size may not delete. A follower
    does not know: it follows its leader's log start offset."""
    return log_start_offset if gate is None else gate.oldest_offset()

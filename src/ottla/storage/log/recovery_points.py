"""What a log asks of whoever keeps the recovery points of a directory across restarts."""

from __future__ import annotations

from typing import Protocol

from ottla.model import TopicPartition


class RecoveryPointKeeper(Protocol):
    """Whoever keeps the recovery points of a directory's logs across restarts."""

    def lower(self, partition: TopicPartition, recovery_point: int) -> None:
        """Returns when no later recovery point of this partition can be found after a crash."""

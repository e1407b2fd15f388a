"""The interface through which a log lowers its checkpointed recovery point."""

from __future__ import annotations

from typing import Protocol

from ottla.model import TopicPartition


class RecoveryPointKeeper(Protocol):
    """Keeps the recovery points of a directory's logs across restarts."""

    def lower(self, partition: TopicPartition, recovery_point: int) -> None:
        """Lowers a partition's recovery point durably: no crash brings a later one back."""

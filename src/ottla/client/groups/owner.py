"""What the membership of a group decides about partitions, and the consumer carries out."""

from __future__ import annotations

from typing import Protocol

from ottla.client.errors import ClientError
from ottla.model import TopicPartition


class PartitionOwner(Protocol):
    """The methods with callbacks of the application run in its own calls of poll: see turns.py."""

    @property
    def owned(self) -> frozenset[TopicPartition]: ...

    async def assign(self, added: frozenset[TopicPartition]) -> None:
        """Adds partitions and calls `on_assigned`, also if there are none."""

    async def revoke(self, partitions: frozenset[TopicPartition]) -> None:
        """Commits, calls `on_revoked` and gives the partitions up. Nothing happens without any."""

    async def lose(self, partitions: frozenset[TopicPartition]) -> None:
        """Gives up partitions that may have another owner already, and calls `on_lost`."""

    def fail(self, error: ClientError) -> None:
        """The next poll raises the error."""

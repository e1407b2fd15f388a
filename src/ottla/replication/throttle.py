"""The limit on how fast a follower catches up (KIP-73), as its fetchers see it."""

from __future__ import annotations

from typing import Protocol

from ottla.replication.partition import Partition


class ReplicationThrottle(Protocol):
    """`follower.replication.throttled.rate` for `follower.replication.throttled.replicas`."""

    def is_exceeded(self, partition: Partition) -> bool:
        """Whether this partition is throttled, and there was too much of all those lately."""

    def record(self, partition: Partition, size: int) -> None:
        """So many bytes were fetched."""


class NoThrottle:
    """Nothing is held back."""

    def is_exceeded(self, partition: Partition) -> bool:  # noqa: ARG002 - the protocol's signature
        return False

    def record(self, partition: Partition, size: int) -> None: ...

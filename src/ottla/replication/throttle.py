"""The follower's replication throttle (KIP-73), as used by the fetchers."""

from __future__ import annotations

from typing import Protocol

from ottla.replication.partition import Partition


class ReplicationThrottle(Protocol):
    """`follower.replication.throttled.rate` for `follower.replication.throttled.replicas`."""

    def is_exceeded(self, partition: Partition) -> bool:
        """Whether this partition is throttled, and the throttled partitions exceed the rate."""

    def record(self, partition: Partition, size: int) -> None:
        """Counts fetched bytes."""


class NoThrottle:
    """No throttle."""

    def is_exceeded(self, partition: Partition) -> bool:  # noqa: ARG002 - the protocol's signature
        return False

    def record(self, partition: Partition, size: int) -> None: ...

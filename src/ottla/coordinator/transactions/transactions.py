"""The transactional ids of one partition."""

from __future__ import annotations

from collections.abc import Iterator

from ottla.coordinator.transactions.transaction import Transaction
from ottla.model import ErrorCode, KafkaError


class Transactions:
    """Owned by the coordinator of the partition."""

    def __init__(self) -> None:
        # Replaying accesses it directly: a method call for each record would be slow.
        self.by_id: dict[str, Transaction] = {}

    def __iter__(self) -> Iterator[Transaction]:
        return iter(self.by_id.values())

    def __len__(self) -> int:
        return len(self.by_id)

    def get(self, transactional_id: str) -> Transaction | None:
        return self.by_id.get(transactional_id)

    def require(self, transactional_id: str) -> Transaction:
        """Raises INVALID_PRODUCER_ID_MAPPING for an unknown id. Clients initialize the id before
        other requests, so it has probably expired."""
        found = self.by_id.get(transactional_id)
        if found is None:
            raise KafkaError(
                ErrorCode.INVALID_PRODUCER_ID_MAPPING,
                f"transactional id {transactional_id!r} is not known, it may have expired",
            )
        return found

    def remove(self, transactional_id: str) -> None:
        self.by_id.pop(transactional_id, None)

"""Transactional ids unused for longer than `transactional.id.expiration.ms`."""

from __future__ import annotations

from collections.abc import Iterable
from itertools import islice

from ottla.coordinator.transactions.transaction import Transaction


def expired_ids(
    transactions: Iterable[Transaction], *, expiration_ms: int, now_ms: int, count_max: int
) -> list[str]:
    return list(
        islice(
            (
                each.transactional_id
                for each in transactions
                if each.state.is_idle and each.updated_ms <= now_ms - expiration_ms
            ),
            count_max,
        )
    )

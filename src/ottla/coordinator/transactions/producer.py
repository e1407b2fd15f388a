"""Who a request about a transaction says it is from."""

from __future__ import annotations

from typing import NamedTuple


class ClaimedProducer(NamedTuple):
    transactional_id: str
    producer_id: int
    producer_epoch: int

"""The producer that a transactional request claims to come from."""

from __future__ import annotations

from typing import NamedTuple


class ClaimedProducer(NamedTuple):
    transactional_id: str
    producer_id: int
    producer_epoch: int

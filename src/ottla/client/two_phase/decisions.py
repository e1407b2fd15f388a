"""A query's decision to commit a batch, as the journal stores it.

    prepared ──decision in the journal──▶ decided ──EndTxn for each part──▶ committed

Each task of a batch (a slot) writes in a transaction of its own and leaves it open. The driver
writes the list of transactions to the journal, and only then commits them one by one. Once the
decision is in the journal the batch counts as written: a restarted driver or task completes it.

Each slot also writes a mark to the journal, in the same transaction as its rows. A missing mark
shows that the slot's transaction was aborted in spite of the decision, because it took too long or
because a second attempt at the same slot replaced it.
"""

from __future__ import annotations

import json
from collections.abc import Mapping
from dataclasses import dataclass, replace
from typing import Any, NamedTuple

from ottla.client.producing.transactions import PreparedTransaction
from ottla.model import ProducerEpoch, ProducerId


class Work(NamedTuple):
    """The identity of a query's batch. A repeated batch has the same identity."""

    query: str
    batch_id: int

    def transactional_id(self, slot: int) -> str:
        return f"ottla-{self.query}-{slot}"

    @property
    def driver_transactional_id(self) -> str:
        return f"ottla-{self.query}-driver"

    @property
    def decision_key(self) -> bytes:
        return self.query.encode()

    def mark_key(self, slot: int) -> bytes:
        return f"{self.query}/{slot}".encode()


@dataclass(frozen=True, slots=True)
class DecisionPart:
    """What a slot has written. Without a producer it has nothing to commit."""

    slot: int
    row_count: int
    producer: PreparedTransaction | None


@dataclass(frozen=True, slots=True)
class BatchDecision:
    """All parts of a batch, by slot."""

    batch_id: int
    parts: Mapping[int, DecisionPart]

    def with_parts(self, parts: Mapping[int, DecisionPart]) -> BatchDecision:
        """A copy in which these parts replace those of their slots."""
        return replace(self, parts={**self.parts, **parts})


def encode_decision(decision: BatchDecision) -> bytes:
    parts = [
        [
            part.slot,
            part.row_count,
            *(part.producer or ()),
        ]
        for part in decision.parts.values()
    ]
    return json.dumps({"batch": decision.batch_id, "parts": parts}).encode()


def decode_decision(value: bytes) -> BatchDecision:
    found = json.loads(value)
    parts = [_part(*each) for each in found["parts"]]
    return BatchDecision(found["batch"], {part.slot: part for part in parts})


def encode_mark(batch_id: int) -> bytes:
    return json.dumps({"batch": batch_id}).encode()


def decode_mark(value: bytes) -> int:
    batch_id: int = json.loads(value)["batch"]
    return batch_id


def _part(slot: int, row_count: int, *producer: Any) -> DecisionPart:
    if not producer:
        return DecisionPart(slot, row_count, None)
    transactional_id, producer_id, epoch = producer
    return DecisionPart(
        slot,
        row_count,
        PreparedTransaction(transactional_id, ProducerId(producer_id), ProducerEpoch(epoch)),
    )

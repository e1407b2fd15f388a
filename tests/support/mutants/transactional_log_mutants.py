"""Bugs in what a partition makes of transactions, planted one at a time."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any
from unittest.mock import patch

from ottla.broker.transactions.transaction_verification import TransactionVerification
from ottla.broker.transactions.verification_requests import (
    NOTHING_TO_VERIFY,
    Supported,
)
from ottla.replication.partition import Partition
from ottla.simulation.claims.transaction_claims import (
    CommittedIsReadInOrder,
    CopiesAreInOrder,
    MarkersAgree,
    MonotonicLastStableOffset,
    NoAbortedRead,
    NoReadBeforeItsCommit,
    TransactionsAreWhole,
)
from ottla.storage.indexes.transaction_index import TransactionIndex
from ottla.storage.log.readable_log import ReadableLog
from ottla.storage.producers.producer_state import ProducerState
from tests.support.mutants.planting import (
    around,
    become_leader,
    copying,
    replacing,
    skipping_truncation,
)

# ---- late requests


@contextmanager
def _skips_verification() -> Iterator[None]:
    """A batch of the older protocol is not verified with the coordinator."""
    verify = TransactionVerification.verify

    def skip(self: Any, producer: Any, batches: Any, supported: Supported, callback: Any) -> None:
        if supported is Supported.ADDING:
            verify(self, producer, batches, supported, callback)
        else:
            callback(NOTHING_TO_VERIFY)

    with (
        patch.object(TransactionVerification, "verify", skip),
        patch.object(ProducerState, "_check_verified", lambda *_: None),
    ):
        yield


def _adds_unseen(original: Any) -> Any:
    """A leader appends what it has asked about, whatever the answer is."""

    def verify(self: Any, producer: Any, batches: Any, supported: Any, callback: Any) -> None:
        original(
            self, producer, batches, supported, lambda answer: callback(answer._replace(errors={}))
        )

    return verify


# ---- the partitions


def _takes_any_marker(self: Any, batch: Any, **_: Any) -> None:
    """A marker that comes late ends whatever is open."""


def _forgets_open(partition: Partition) -> None:
    """A new leader does not know which transactions are open."""
    if partition.log is not None:
        partition.log.producers.state.unstable.clear()


def _loads_no_open(original: Any) -> Any:
    """What was open when a snapshot was written is not open when it is read."""

    def load(self: Any, entries: Any, *, now_ms: int) -> None:
        kept = list(entries)
        for entry in kept:
            entry.current_txn_first_offset = None
        original(self, kept, now_ms=now_ms)

    return load


def _stable_ahead(self: ReadableLog) -> int:
    """What is decided is taken for stable before it is replicated."""
    unstable = self.producers.state.first_unstable_offset
    return self.log_end_offset if unstable is None else unstable


def _marks_some_aborted(original: Any) -> Any:
    """Responses list some committed transactions as aborted."""

    def update_marker(
        self: Any, batch: Any, *, base_offset: int, is_abort: bool, **named: Any
    ) -> Any:
        is_abort = is_abort or base_offset % 3 == 0
        return original(self, batch, base_offset=base_offset, is_abort=is_abort, **named)

    return update_marker


TRANSACTIONAL_LOG_MUTANTS = (
    copying("skips verification", _skips_verification, 1, NoReadBeforeItsCommit),
    copying(
        "appends what the coordinator refused",
        around(TransactionVerification, "verify", _adds_unseen),
        1,
        TransactionsAreWhole,
    ),
    copying(
        "a verification outlives its transaction",
        replacing(ProducerState, "_forget_verification", lambda _self, _marker: None),
        6,
        CopiesAreInOrder,
        seeks=("answer_late",),
        seconds_min=1,
    ),
    copying(
        "takes late markers",
        replacing(ProducerState, "check_marker", _takes_any_marker),
        1,
        TransactionsAreWhole,
    ),
    copying(
        "shows what was aborted",
        replacing(ReadableLog, "aborted_transactions", lambda _self, *_, **__: []),
        1,
        NoAbortedRead,
    ),
    copying(
        "shows what is not decided",
        replacing(ReadableLog, "last_stable_offset", property(lambda self: self.high_watermark)),
        1,
        NoReadBeforeItsCommit,
    ),
    copying(
        "reports stable records before they are replicated",
        replacing(ReadableLog, "last_stable_offset", property(_stable_ahead)),
        5,
        MonotonicLastStableOffset,
    ),
    copying(
        "keeps the markers of a deposed leader",
        skipping_truncation,
        1,
        MarkersAgree,
        seeks=("flip_leaders",),
        seconds_max=1,
    ),
    copying(
        "hides what was committed",
        around(ProducerState, "update_marker", _marks_some_aborted),
        1,
        CommittedIsReadInOrder,
    ),
    copying(
        "a new leader forgets open transactions",
        around(Partition, "become_leader", become_leader(_forgets_open)),
        2,
        NoAbortedRead,
    ),
    copying(
        "a snapshot forgets open transactions",
        around(ProducerState, "load", _loads_no_open),
        1,
        NoAbortedRead,
        seeks=("kill_all",),
        compacts=True,
    ),
    copying(
        "loses the index of aborted transactions",
        replacing(TransactionIndex, "append", lambda _self, _transaction: None),
        1,
        NoAbortedRead,
    ),
)

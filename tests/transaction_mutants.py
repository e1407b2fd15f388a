"""Bugs in transactions and in groups' offsets, planted one at a time.

Each is an anomaly that was found in a system like this one, or a rule of the protocol left out.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import AbstractContextManager, ExitStack, contextmanager
from dataclasses import replace
from typing import Any
from unittest.mock import patch

from ottla.broker.transaction_verification import (
    NOTHING_TO_VERIFY,
    Supported,
    TransactionVerification,
)
from ottla.coordinator.groups.classic.group import ClassicGroup
from ottla.coordinator.groups.consumer.group import ConsumerGroup
from ottla.coordinator.offsets.offsets import Offsets
from ottla.coordinator.runtime.shard import Shard
from ottla.coordinator.transactions import (
    adding,
    coordinator,
    decisions,
    ending,
    initializing,
    markers,
    replaying,
    transaction_records,
)
from ottla.coordinator.transactions.coordinator import TransactionCoordinator
from ottla.coordinator.transactions.decisions import Decisions
from ottla.coordinator.transactions.states import TransactionState
from ottla.coordinator.transactions.transaction import Transaction
from ottla.model import ErrorCode, TopicPartition
from ottla.replication.partition import Partition
from ottla.storage.producer_state import ProducerState
from ottla.storage.readable_log import ReadableLog
from ottla.storage.transaction_index import TransactionIndex
from tests.planting import Mutant, around, become_leader, replacing

_FAULTS = ("kill", "kill_within", "pause", "part", "isolate", "stop", "elect", "reset_connections")
_SEPARATIONS = ("part",)


def _mutant(
    name: str,
    plant: Callable[[], AbstractContextManager[Any]],
    first_seed: int,
    *,
    seeks: tuple[str, ...] = _FAULTS,
    **more: Any,
) -> Mutant:
    return Mutant(name, plant, first_seed, seeks=seeks, copiers=2, **more)


# ---- late requests


@contextmanager
def _skips_verification() -> Iterator[None]:
    """Nobody asks whether a batch of the older protocol is in a transaction."""
    verify = TransactionVerification.verify

    def skip(self: Any, producer: Any, batches: Any, supported: Supported, told: Any) -> None:
        if supported is Supported.ADDING:
            verify(self, producer, batches, supported, told)
        else:
            told(NOTHING_TO_VERIFY)

    with (
        patch.object(TransactionVerification, "verify", skip),
        patch.object(ProducerState, "_check_verified", lambda *_: None),
    ):
        yield


def _adds_unseen(original: Any) -> Any:
    """A leader appends what it has asked about, whatever the answer is."""

    def verify(self: Any, producer: Any, batches: Any, supported: Any, told: Any) -> None:
        original(
            self, producer, batches, supported, lambda answer: told(answer._replace(errors={}))
        )

    return verify


# ---- the coordinator


def _drops_marker(transaction: Transaction) -> Any:
    """One of several partitions gets no marker."""
    wanted = _MARKERS_OF(transaction)
    return replace(wanted, partitions=frozenset(sorted(wanted.partitions)[:1]))


_MARKERS_OF = markers.markers_of


def _tears(transaction: Transaction) -> Any:
    """Whatever was decided, groups' offsets are committed and the records are not."""
    wanted = _MARKERS_OF(transaction)
    has_offsets = any(name.topic.startswith("__") for name in wanted.partitions)
    return replace(wanted, is_commit=wanted.is_commit and not has_offsets)


def _fences_nobody(transaction: Transaction, _new_id: Any, *, now_ms: int, **_: Any) -> Any:
    """What takes too long is aborted, and its producer goes on."""
    return transaction.become(TransactionState.PREPARE_ABORT, updated_ms=now_ms)


def _keeps_epoch(transaction: Transaction, *arguments: Any, **named: Any) -> Transaction:
    """Each transaction of the newer protocol has the epoch of the one before."""
    after = _DECIDE(transaction, *arguments, **named)
    return replace(after, producer_epoch=transaction.producer_epoch)


_DECIDE = ending.decide


def _reuses_epoch(transaction: Transaction, *arguments: Any, **named: Any) -> Transaction:
    """Whoever takes an idle transactional id over is given the epoch that its last owner had."""
    after = _INITIALIZE(transaction, *arguments, **named)
    return replace(after, producer_epoch=max(transaction.producer_epoch, 0))


_INITIALIZE = initializing.initialize


def _forgets_fencing(transactional_id: str, value: Any) -> Transaction | None:
    """A new coordinator knows the epoch before the last one."""
    found = _READ_TRANSACTION(transactional_id, value)
    if found is None or found.state is not TransactionState.EMPTY or not found.producer_epoch:
        return found
    return replace(found, producer_epoch=found.producer_epoch - 1)


_READ_TRANSACTION = transaction_records.read_transaction


@contextmanager
def _lets_zombies_in() -> Iterator[None]:
    """The epoch of a producer does not matter to the coordinator, nor to whoever asks it."""

    def may_add(transaction: Transaction, *, producer_id: int, producer_epoch: int) -> None:
        del producer_epoch
        adding.require_may_add(
            transaction, producer_id=producer_id, producer_epoch=transaction.producer_epoch
        )

    with (
        patch.object(coordinator, "require_may_add", may_add),
        patch.object(ending, "_require_producer", lambda *_, **__: None),
        patch.object(ProducerState, "_check_epoch", lambda *_: None),
    ):
        yield


def _ends_any(transaction: Transaction, *arguments: Any, **named: Any) -> None:
    """A late end is taken for that of the transaction which is under way."""


def _answers_early(self: Shard[Any], settle: Callable[[ErrorCode], object]) -> None:
    """Answers leave before anybody else has the records that they tell of."""
    del self
    settle(ErrorCode.NONE)


def _only_of(topic: str, change: Any) -> Callable[[Any], Any]:
    def make(original: Any) -> Any:
        def changed(self: Any, *arguments: Any, **named: Any) -> Any:
            use = change if self.name.topic == topic else original
            return use(self, *arguments, **named)

        return changed

    return make


def _forgets_ongoing(self: TransactionCoordinator) -> None:
    """Whoever becomes the coordinator times nothing out that was open before."""
    self._is_loaded = True
    for transaction in self.transactions:
        if transaction.state.is_prepared:
            self._decisions.resume(transaction)


# ---- the partitions


def _takes_any_marker(self: Any, batch: Any, **_: Any) -> None:
    """A marker that comes late ends whatever is open."""


def _forgets_open(partition: Partition) -> None:
    """A new leader does not know which transactions are open."""
    if partition.log is not None:
        partition.log.producers.state._transactions.clear()


def _loads_no_open(original: Any) -> Any:
    """What was open when a snapshot was written is not open when it is read."""

    def load(self: Any, entries: Any, *, now_ms: int) -> None:
        kept = list(entries)
        for entry in kept:
            entry.current_txn_first_offset = None
        original(self, kept, now_ms=now_ms)

    return load


# ---- offsets in transactions


def _puts_at_once(original: Any) -> Any:
    """An offset counts before its transaction is committed."""

    def put(self: Any, group: str, name: TopicPartition, committed: Any, **_: Any) -> None:
        original(self, group, name, committed)

    return put


def _commits_aborted(original: Any) -> Any:
    def end_transaction(self: Any, producer_id: int, *, is_committed: bool) -> None:
        del is_committed
        original(self, producer_id, is_committed=True)

    return end_transaction


# ---- groups


@contextmanager
def _takes_any_commit() -> Iterator[None]:
    """Whoever was a member once may commit."""
    with ExitStack() as stack:
        for kind in (ClassicGroup, ConsumerGroup):
            stack.enter_context(patch.object(kind, "require_may_commit", lambda *_, **__: None))
        yield


TRANSACTION_MUTANTS = (
    _mutant("skips verification", _skips_verification, 1),
    _mutant(
        "appends what the coordinator refused",
        around(TransactionVerification, "verify", _adds_unseen),
        1,
    ),
    _mutant("loses a marker", replacing(decisions, "markers_of", _drops_marker), 1),
    _mutant(
        "loses markers on failover",
        replacing(Decisions, "resume", lambda _self, _transaction: None),
        4,
    ),
    _mutant(
        "forgets open transactions on failover",
        replacing(TransactionCoordinator, "loaded", _forgets_ongoing),
        2,
    ),
    _mutant("tears a transaction", replacing(decisions, "markers_of", _tears), 1),
    _mutant(
        "tells of an end before it is committed",
        around(Shard, "_when_committed", _only_of("__transaction_state", _answers_early)),
        10,
        seeks=_SEPARATIONS,
        seconds_min=11,
        seconds_max=14,
    ),
    _mutant("aborts without fencing", replacing(decisions, "fence", _fences_nobody), 1),
    _mutant("raises no epoch", replacing(coordinator, "decide", _keeps_epoch), 1),
    _mutant("reuses an epoch", replacing(coordinator, "initialize", _reuses_epoch), 1),
    _mutant(
        "forgets fencing on failover",
        replacing(replaying, "read_transaction", _forgets_fencing),
        2,
    ),
    _mutant("lets zombies in", _lets_zombies_in, 1),
    _mutant(
        "a late end ends a later transaction",
        replacing(ending, "_require_producer", _ends_any),
        1,
    ),
    _mutant(
        "takes late markers",
        replacing(ProducerState, "check_marker", _takes_any_marker),
        1,
    ),
    _mutant(
        "shows what was aborted",
        replacing(ReadableLog, "aborted_transactions", lambda _self, *_, **__: []),
        1,
    ),
    _mutant(
        "shows what is not decided",
        replacing(ReadableLog, "last_stable_offset", property(lambda self: self.high_watermark)),
        1,
    ),
    _mutant(
        "a new leader forgets open transactions",
        around(Partition, "become_leader", become_leader(_forgets_open)),
        1,
    ),
    _mutant(
        "a snapshot forgets open transactions",
        around(ProducerState, "load", _loads_no_open),
        1,
        seeks=("kill_all",),
        compacts=True,
    ),
    _mutant(
        "loses the index of aborted transactions",
        replacing(TransactionIndex, "append", lambda _self, _transaction: None),
        1,
    ),
    _mutant("commits offsets outside", around(Offsets, "put", _puts_at_once), 1),
    _mutant("commits offsets anyhow", around(Offsets, "end_transaction", _commits_aborted), 1),
    Mutant(
        "takes the commit of a fenced member",
        _takes_any_commit,
        4,
        seeks=("pause_member", "pause"),
        seconds_max=9,
        members=3,
        classic_members=3,
    ),
)

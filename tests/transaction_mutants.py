"""Bugs in transactions and in groups' offsets, planted one at a time.

Each is an anomaly that was found in a system like this one, or a rule of the protocol left out.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import ExitStack, contextmanager
from typing import Any
from unittest.mock import patch

from ottla.broker.transaction_verification import (
    NOTHING_TO_VERIFY,
    Supported,
    TransactionVerification,
)
from ottla.coordinator.runtime.shard import Shard
from ottla.coordinator.transactions import (
    adding,
    coordinator,
    decisions,
    ending,
    initializing,
    markers,
)
from ottla.coordinator.transactions import transaction as transaction_value
from ottla.coordinator.transactions.coordinator import TransactionCoordinator
from ottla.coordinator.transactions.decisions import Decisions
from ottla.coordinator.transactions.states import TransactionState
from ottla.coordinator.transactions.transaction import Transaction
from ottla.replication.partition import Partition
from ottla.storage import producer_state
from ottla.storage.producer_state import ProducerState
from ottla.storage.readable_log import ReadableLog
from ottla.storage.transaction_index import TransactionIndex
from tests.planting import answers_early, around, become_leader, copying, replacing

_SEPARATIONS = ("part",)


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
    return wanted._replace(partitions=frozenset(sorted(wanted.partitions)[:1]))


_MARKERS_OF = markers.markers_of


def _tears(transaction: Transaction) -> Any:
    """Whatever was decided, groups' offsets are committed and the records are not."""
    wanted = _MARKERS_OF(transaction)
    has_offsets = any(name.topic.startswith("__") for name in wanted.partitions)
    return wanted._replace(is_commit=wanted.is_commit and not has_offsets)


def _fences_nobody(transaction: Transaction, _new_id: Any, *, now_ms: int, **_: Any) -> Any:
    """What takes too long is aborted, and its producer goes on."""
    return transaction.become(TransactionState.PREPARE_ABORT, updated_ms=now_ms)


def _keeps_epoch(transaction: Transaction, *arguments: Any, **named: Any) -> Transaction:
    """Each transaction of the newer protocol has the epoch of the one before."""
    after = _DECIDE(transaction, *arguments, **named)
    return after._replace(producer_epoch=transaction.producer_epoch)


_DECIDE = ending.decide


def _reuses_epoch(transaction: Transaction, *arguments: Any, **named: Any) -> Transaction:
    """Whoever takes an idle transactional id over is given the epoch that its last owner had."""
    after = _INITIALIZE(transaction, *arguments, **named)
    return after._replace(producer_epoch=max(transaction.producer_epoch, 0))


_INITIALIZE = initializing.initialize


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


def _only_of(topic: str, change: Any) -> Callable[[Any], Any]:
    def make(original: Any) -> Any:
        def changed(self: Any, *arguments: Any, **named: Any) -> Any:
            use = change if self.name.topic == topic else original
            return use(self, *arguments, **named)

        return changed

    return make


def _marks_early(original: Any) -> Any:
    """Markers leave with the decision, which a failover may take back."""

    def decided(self: Any, transaction: Transaction, response: Any) -> Any:
        if transaction.partitions:
            self._context.markers.write(_MARKERS_OF(transaction))
        return original(self, transaction, response)

    return decided


def _loads(change: Callable[[Transaction], Transaction]) -> Callable[[Any], Any]:
    """Whoever becomes the coordinator has read something else than its log says."""

    def make(original: Any) -> Any:
        def loaded(self: TransactionCoordinator) -> None:
            for each in list(self.transactions):
                self.transactions.put(change(each))
            original(self)

        return loaded

    return make


def _forgets_fencing(transaction: Transaction) -> Transaction:
    """It knows the epoch before the last one of producers that are idle."""
    if not transaction.state.is_idle or transaction.producer_epoch <= 0:
        return transaction
    return transaction._replace(producer_epoch=transaction.producer_epoch - 1)


def _forgets_epochs(transaction: Transaction) -> Transaction:
    """It knows the producers that are idle, and no epochs."""
    if not transaction.state.is_idle or transaction.producer_epoch <= 0:
        return transaction
    return transaction._replace(producer_epoch=0)


def _forgets_ongoing(self: TransactionCoordinator) -> None:
    """Whoever becomes the coordinator times nothing out that was open before."""
    self._is_loaded = True
    for transaction in self.transactions:
        if transaction.state.is_prepared:
            self._decisions.resume(transaction)


def running_out_of_epochs(*broken: tuple[Any, str, Any]) -> Callable[[], Any]:
    """A producer id has so few epochs that each world uses them up; and rules about that may be
    broken."""

    @contextmanager
    def plant() -> Iterator[None]:
        few = (
            (transaction_value, "EPOCH_MAX", _FEW_EPOCHS),
            (transaction_value, "CLIENT_EPOCH_MAX", _FEW_EPOCHS - 1),
            (ending, "EPOCH_MAX", _FEW_EPOCHS),
            (ending, "CLIENT_EPOCH_MAX", _FEW_EPOCHS - 1),
            (producer_state, "PRODUCER_EPOCH_MAX", _FEW_EPOCHS),
        )
        with ExitStack() as stack:
            for owner, name, new in (*few, *broken):
                stack.enter_context(patch.object(owner, name, new))
            yield

    return plant


_FEW_EPOCHS = 6


def _starts_over(change: Any) -> Any:
    """Where the epochs of a producer id are used up, they begin anew under the same id."""

    def changed(transaction: Transaction, *arguments: Any, **named: Any) -> Any:
        # What makes a new id is the last of them.
        return change(transaction, *arguments[:-1], lambda: transaction.producer_id, **named)

    return changed


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


def _marks_some_aborted(original: Any) -> Any:
    """Readers are told to skip some of what was committed."""

    def update_marker(
        self: Any, batch: Any, *, base_offset: int, is_abort: bool, **named: Any
    ) -> Any:
        is_abort = is_abort or base_offset % 3 == 0
        return original(self, batch, base_offset=base_offset, is_abort=is_abort, **named)

    return update_marker


TRANSACTION_MUTANTS = (
    copying("skips verification", _skips_verification, 1),
    copying(
        "appends what the coordinator refused",
        around(TransactionVerification, "verify", _adds_unseen),
        1,
    ),
    copying(
        "a verification outlives its transaction",
        replacing(ProducerState, "_forget_verification", lambda _self, _marker: None),
        6,
        seeks=("answer_late",),
        seconds_min=1,
    ),
    copying("loses a marker", replacing(decisions, "markers_of", _drops_marker), 1),
    copying(
        "loses markers on failover",
        replacing(Decisions, "resume", lambda _self, _transaction: None),
        4,
    ),
    copying(
        "forgets open transactions on failover",
        replacing(TransactionCoordinator, "loaded", _forgets_ongoing),
        2,
        seeks=("kill", "stop", "elect"),
    ),
    copying("tears a transaction", replacing(decisions, "markers_of", _tears), 1),
    copying(
        "tells of an end before it is committed",
        around(Shard, "_when_committed", _only_of("__transaction_state", answers_early)),
        10,
        seeks=_SEPARATIONS,
        seconds_min=11,
        seconds_max=14,
    ),
    copying(
        "writes markers before the decision is committed",
        around(Decisions, "decided", _marks_early),
        4,
        seeks=("end_ahead",),
    ),
    copying("aborts without fencing", replacing(decisions, "fence", _fences_nobody), 2),
    copying("raises no epoch", replacing(coordinator, "decide", _keeps_epoch), 1),
    copying("reuses an epoch", replacing(coordinator, "initialize", _reuses_epoch), 1),
    copying(
        "forgets fencing on failover",
        around(TransactionCoordinator, "loaded", _loads(_forgets_fencing)),
        4,
    ),
    copying(
        "forgets epochs on failover",
        around(TransactionCoordinator, "loaded", _loads(_forgets_epochs)),
        3,
    ),
    copying(
        "starts epochs over",
        running_out_of_epochs(
            (coordinator, "initialize", _starts_over(initializing.initialize)),
            (coordinator, "decide", _starts_over(ending.decide)),
            (decisions, "fence", _starts_over(ending.fence)),
        ),
        5,
    ),
    copying("lets zombies in", _lets_zombies_in, 1),
    copying(
        "a late end ends a later transaction",
        replacing(ending, "_require_producer", _ends_any),
        1,
    ),
    copying(
        "takes late markers",
        replacing(ProducerState, "check_marker", _takes_any_marker),
        1,
    ),
    copying(
        "shows what was aborted",
        replacing(ReadableLog, "aborted_transactions", lambda _self, *_, **__: []),
        1,
    ),
    copying(
        "shows what is not decided",
        replacing(ReadableLog, "last_stable_offset", property(lambda self: self.high_watermark)),
        1,
    ),
    copying(
        "hides what was committed",
        around(ProducerState, "update_marker", _marks_some_aborted),
        1,
    ),
    copying(
        "a new leader forgets open transactions",
        around(Partition, "become_leader", become_leader(_forgets_open)),
        2,
    ),
    copying(
        "a snapshot forgets open transactions",
        around(ProducerState, "load", _loads_no_open),
        1,
        seeks=("kill_all",),
        compacts=True,
    ),
    copying(
        "loses the index of aborted transactions",
        replacing(TransactionIndex, "append", lambda _self, _transaction: None),
        1,
    ),
)

"""Bugs in the coordination of transactions, planted one at a time.

Each is an anomaly that was found in a system like this one, or a rule of the protocol left out.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import ExitStack, contextmanager
from typing import Any
from unittest.mock import patch

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
from ottla.coordinator.transactions.decisions import TransactionDecisions
from ottla.coordinator.transactions.states import TransactionState
from ottla.coordinator.transactions.transaction import Transaction
from ottla.simulation.claims.transaction_claims import (
    CoordinatorsAreWhatTheirLogsSay,
    EachInputIsCopiedOnce,
    EpochsAreNeverReused,
    EveryTransactionEnds,
    FencedProducersWriteNothing,
    MarkersFollowDecisions,
    TransactionsAreWhole,
)
from ottla.simulation.claims.transaction_cycles import NoCycleBetweenTransactions
from ottla.storage.producers import producer_state
from ottla.storage.producers.producer_state import ProducerState
from tests.support.mutants.planting import (
    answers_early,
    around,
    copying,
    replacing,
)

_SEPARATIONS = ("part",)


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


def _fences_no_producer(transaction: Transaction, _new_id: Any, *, now_ms: int, **_: Any) -> Any:
    """What takes too long is aborted, and its producer goes on."""
    return transaction.become(TransactionState.PREPARE_ABORT, updated_ms=now_ms)


def _commits_and_fences_no_producer(
    transaction: Transaction, _new_id: Any, *, now_ms: int, **_: Any
) -> Any:
    """What takes too long is committed as far as it has come, and its producer goes on."""
    return transaction.become(TransactionState.PREPARE_COMMIT, updated_ms=now_ms)


def _keeps_epoch(transaction: Transaction, *arguments: Any, **named: Any) -> Transaction:
    """Each transaction of the newer protocol has the epoch of the one before."""
    after = _DECIDE(transaction, *arguments, **named)
    return after._replace(producer_epoch=transaction.producer_epoch)


_DECIDE = ending.decide


def _reuses_epoch(transaction: Transaction, *arguments: Any, **named: Any) -> Transaction:
    """A producer that takes over an idle transactional id gets the epoch of its previous owner."""
    after = _INITIALIZE(transaction, *arguments, **named)
    return after._replace(producer_epoch=max(transaction.producer_epoch, 0))


_INITIALIZE = initializing.initialize


@contextmanager
def _lets_zombies_in() -> Iterator[None]:
    """The coordinator ignores the epoch of a producer, also in verifications."""

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
    """A new coordinator has read something else than its log says."""

    def make(original: Any) -> Any:
        def loaded(self: TransactionCoordinator) -> None:
            by_id = self.transactions.by_id
            by_id.update({each.transactional_id: change(each) for each in self.transactions})
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
    """A new coordinator never times out transactions that were open before."""
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


TRANSACTION_MUTANTS = (
    copying(
        "loses a marker", replacing(decisions, "markers_of", _drops_marker), 1, EveryTransactionEnds
    ),
    copying(
        "loses markers on failover",
        replacing(TransactionDecisions, "resume", lambda _self, _transaction: None),
        4,
        EveryTransactionEnds,
    ),
    copying(
        "forgets open transactions on failover",
        replacing(TransactionCoordinator, "loaded", _forgets_ongoing),
        2,
        EveryTransactionEnds,
        seeks=("kill", "stop", "elect"),
    ),
    copying(
        "tears a transaction", replacing(decisions, "markers_of", _tears), 1, MarkersFollowDecisions
    ),
    copying(
        "reports an end before it is committed",
        around(Shard, "_when_committed", _only_of("__transaction_state", answers_early)),
        10,
        EpochsAreNeverReused,
        seeks=_SEPARATIONS,
        seconds_min=11,
        seconds_max=14,
    ),
    copying(
        "writes markers before the decision is committed",
        around(TransactionDecisions, "decided", _marks_early),
        4,
        EachInputIsCopiedOnce,
        seeks=("end_ahead",),
    ),
    copying(
        "aborts without fencing",
        replacing(decisions, "fence", _fences_no_producer),
        2,
        TransactionsAreWhole,
    ),
    copying(
        "commits what takes too long",
        replacing(decisions, "fence", _commits_and_fences_no_producer),
        1,
        NoCycleBetweenTransactions,
    ),
    copying(
        "raises no epoch", replacing(coordinator, "decide", _keeps_epoch), 1, TransactionsAreWhole
    ),
    copying(
        "reuses an epoch",
        replacing(coordinator, "initialize", _reuses_epoch),
        1,
        EpochsAreNeverReused,
    ),
    copying(
        "forgets fencing on failover",
        around(TransactionCoordinator, "loaded", _loads(_forgets_fencing)),
        4,
        CoordinatorsAreWhatTheirLogsSay,
    ),
    copying(
        "forgets epochs on failover",
        around(TransactionCoordinator, "loaded", _loads(_forgets_epochs)),
        3,
        EpochsAreNeverReused,
    ),
    copying(
        "starts epochs over",
        running_out_of_epochs(
            (coordinator, "initialize", _starts_over(initializing.initialize)),
            (coordinator, "decide", _starts_over(ending.decide)),
            (decisions, "fence", _starts_over(ending.fence)),
        ),
        5,
        EpochsAreNeverReused,
    ),
    copying("lets zombies in", _lets_zombies_in, 1, FencedProducersWriteNothing),
    copying(
        "a late end ends a later transaction",
        replacing(ending, "_require_producer", _ends_any),
        1,
        FencedProducersWriteNothing,
    ),
)

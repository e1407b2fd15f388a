"""The transactions of one producer, in both versions of the protocol (KIP-98, KIP-890).

    uninitialized ──initialize──▶ ready ──begin──▶ open ──commit or abort──▶ ending ──▶ ready
                                                    │  ▲                        ▲
                                              error ▼                           │
                                                 abortable ─────────abort───────╯
    any ──fenced, or not allowed──▶ fatal

Where the cluster has transaction.version 2, brokers add partitions and groups to the transaction
themselves, and every end of one begins the next epoch. Otherwise this client adds them first, and
asks for the next epoch after an error (KIP-360).

A call that timed out can be repeated.
"""

from __future__ import annotations

import copy
from collections.abc import Callable, Mapping
from enum import Enum, auto
from typing import Final, NamedTuple

from ottla.client.cluster import ClientCluster
from ottla.client.errors import (
    ApiError,
    ClientError,
    IllegalStateError,
    TimedOutError,
)
from ottla.client.producing.batch import ProducerIdentity
from ottla.client.producing.partition_queue import PartitionQueue
from ottla.client.producing.transaction_requests import CoordinatorCalls
from ottla.client.records import ConsumerGroupMetadata, OffsetAndMetadata
from ottla.client.settings.producer import ProducerSettings
from ottla.model import ErrorCode, ProducerEpoch, ProducerId, TopicPartition

_FEATURE: Final = "transaction.version"
_FATAL: Final = frozenset(
    {
        ErrorCode.PRODUCER_FENCED,
        ErrorCode.TRANSACTIONAL_ID_AUTHORIZATION_FAILED,
        ErrorCode.CLUSTER_AUTHORIZATION_FAILED,
        ErrorCode.UNSUPPORTED_VERSION,
        ErrorCode.UNSUPPORTED_FOR_MESSAGE_FORMAT,
    }
)
# From a coordinator these say that a newer producer has the id; from a leader only that the
# transaction cannot go on.
_FATAL_OF_COORDINATOR: Final = _FATAL | {
    ErrorCode.INVALID_PRODUCER_EPOCH,
    ErrorCode.INVALID_TXN_STATE,
    ErrorCode.INVALID_PRODUCER_ID_MAPPING,
    ErrorCode.INVALID_TRANSACTION_TIMEOUT,
}
_V1_PRODUCE_MAX: Final = 11


class PreparedTransaction(NamedTuple):
    """A transaction that is complete and open. Another process can end it."""

    transactional_id: str
    producer_id: ProducerId
    producer_epoch: ProducerEpoch


class TransactionPhase(Enum):
    """Where a transactional producer is in its life."""

    UNINITIALIZED = auto()
    READY = auto()
    OPEN = auto()
    ABORTABLE = auto()
    COMMITTING = auto()
    ABORTING = auto()
    PREPARED = auto()
    FATAL = auto()


class ProducerTransactions:
    """A delivery guarantee: see guarantees.py. `on_change` wakes the sender, `on_error` fails what
    it has not sent."""

    def __init__(
        self,
        cluster: ClientCluster,
        settings: ProducerSettings,
        on_change: Callable[[], None],
        on_error: Callable[[ClientError], None],
    ) -> None:
        assert settings.transactional_id is not None
        self.transactional_id: str = settings.transactional_id
        self.phase = TransactionPhase.UNINITIALIZED
        self._cluster = cluster
        self._settings = settings
        self._on_change = on_change
        self._on_error = on_error
        self._requests = CoordinatorCalls(cluster, settings)
        self._identity: ProducerIdentity | None = None
        self._error: ClientError | None = None
        self._is_v2 = False
        # Whether the coordinator knows of the transaction, or may.
        self._is_started = False
        self._needs_epoch = False
        self._added: set[TopicPartition] = set()
        self._wanted: set[TopicPartition] = set()
        self._is_adding = False

    # ---- what the sender asks

    def identity(self) -> ProducerIdentity | None:
        is_sending = self.phase in (TransactionPhase.OPEN, TransactionPhase.COMMITTING)
        return self._identity if is_sending else None

    def produce_version_max(self) -> int | None:
        return None if self._is_v2 else _V1_PRODUCE_MAX

    def admits(self, queue: PartitionQueue) -> bool:
        partition = queue.partition
        if self._is_v2 or partition in self._added:
            self._is_started = True
            return True
        self._wanted.add(partition)
        if not self._is_adding:
            self._is_adding = True
            self._cluster.tasks.start("add partitions", self._add())
        return False

    def lost_sequence(self, queue: PartitionQueue) -> None:  # noqa: ARG002 - the protocol's
        self._needs_epoch = True

    def batch_failed(self, error: ClientError) -> None:
        """Whatever is not written makes the transaction incomplete."""
        self._needs_epoch = True
        is_fatal = isinstance(error, ApiError) and error.code in _FATAL
        self._failed(error, is_fatal=is_fatal)

    # ---- the producer's calls

    async def initialize(self, *, deadline: float) -> None:
        """Fences earlier producers of the transactional id and ends what they left open."""
        if self.phase not in (TransactionPhase.UNINITIALIZED, TransactionPhase.READY):
            raise self._illegal("initialize transactions")
        await self._begin_epoch(None, deadline=deadline)

    @property
    def is_initialized(self) -> bool:
        return self.phase is not TransactionPhase.UNINITIALIZED

    def begin(self, *, is_prepared: bool = False) -> None:
        """One that is to be prepared uses the first version of the protocol, in which its end does
        not change its epoch: ending it may need another attempt."""
        if self.phase is not TransactionPhase.READY:
            raise self._illegal("begin a transaction")
        self._is_v2 = not is_prepared and self._cluster.features.get(_FEATURE, 0) >= 2
        self._added.clear()
        self._wanted.clear()
        self._is_started = False
        self.phase = TransactionPhase.OPEN

    def require_open(self, what: str = "send") -> None:
        """Raises the error of a failed transaction, or IllegalStateError outside of one."""
        if self.phase is not TransactionPhase.OPEN:
            raise self._illegal(what)

    async def send_offsets(
        self,
        offsets: Mapping[TopicPartition, OffsetAndMetadata],
        group: ConsumerGroupMetadata,
        *,
        deadline: float,
    ) -> None:
        self.require_open()
        assert self._identity is not None
        self._is_started = True
        try:
            await self._requests.send_offsets(
                self._identity, offsets, group, is_v2=self._is_v2, deadline=deadline
            )
        except ApiError as error:
            self._failed(error, is_fatal=error.code in _FATAL_OF_COORDINATOR)
            raise

    def start_commit(self) -> None:
        self._require_whole()
        if self.phase is not TransactionPhase.COMMITTING:
            self.require_open("commit a transaction")
            self.phase = TransactionPhase.COMMITTING

    def prepare(self) -> PreparedTransaction:
        """When nothing of the transaction is in flight any more."""
        self.require_open("prepare a transaction")
        assert self._identity is not None
        self.phase = TransactionPhase.PREPARED
        return PreparedTransaction(self.transactional_id, *self._identity)

    def start_abort(self) -> None:
        allowed = (
            TransactionPhase.OPEN,
            TransactionPhase.ABORTABLE,
            TransactionPhase.ABORTING,
        )
        if self.phase not in allowed:
            raise self._illegal("abort a transaction")
        self.phase = TransactionPhase.ABORTING

    async def end(self, *, deadline: float) -> None:
        """Commits or aborts, when nothing of the transaction is in flight any more."""
        commits = self.phase is TransactionPhase.COMMITTING
        if not commits and self.phase is not TransactionPhase.ABORTING:
            # A batch has failed while they were waited for.
            self._require_whole()
            raise self._illegal("commit a transaction")
        assert self._identity is not None
        if self._is_started:
            try:
                following = await self._requests.end(
                    self._identity, commits=commits, is_v2=self._is_v2, deadline=deadline
                )
            except TimedOutError:
                raise
            except ApiError as error:
                is_fatal = error.code in _FATAL_OF_COORDINATOR
                self._failed(error, is_fatal=is_fatal)
                raise
            if following is not None:
                self._identity = following
                self._needs_epoch = False
            self._is_started = False
        if self._needs_epoch:
            await self._begin_epoch(self._identity, deadline=deadline)
        self._error = None
        self.phase = TransactionPhase.READY

    # ----

    async def _begin_epoch(self, current: ProducerIdentity | None, *, deadline: float) -> None:
        try:
            self._identity = await self._requests.initialize(current, deadline=deadline)
        except ApiError as error:
            self._failed(error, is_fatal=True)
            raise
        self._needs_epoch = False
        self.phase = TransactionPhase.READY

    async def _add(self) -> None:
        """Adds the wanted partitions, before anything is sent to them."""
        try:
            while self._wanted and self._identity is not None:
                wanted, self._wanted = self._wanted, set()
                self._is_started = True
                deadline = (
                    self._cluster.clock.monotonic() + self._settings.delivery_timeout_ms / 1_000
                )
                await self._requests.add_partitions(self._identity, wanted, deadline=deadline)
                self._added |= wanted
        except ApiError as error:
            self._failed(error, is_fatal=error.code in _FATAL_OF_COORDINATOR)
        except ClientError as error:
            self._failed(error, is_fatal=False)
        finally:
            self._is_adding = False
            self._on_change()

    def _require_whole(self) -> None:
        """Raises the error for which a record was not written."""
        if self.phase is TransactionPhase.ABORTABLE and self._error is not None:
            raise copy.copy(self._error)

    def _failed(self, error: ClientError, *, is_fatal: bool) -> None:
        if self.phase is TransactionPhase.FATAL:
            return
        if is_fatal:
            self.phase = TransactionPhase.FATAL
        elif self.phase in (TransactionPhase.OPEN, TransactionPhase.COMMITTING):
            self.phase = TransactionPhase.ABORTABLE
        else:
            return
        self._error = error
        self._on_error(error)

    def _illegal(self, what: str) -> ClientError:
        if self.phase is TransactionPhase.FATAL and self._error is not None:
            return copy.copy(self._error)
        if self.phase is TransactionPhase.ABORTABLE and self._error is not None:
            error = IllegalStateError(
                f"cannot {what}: the transaction has failed, abort it: {self._error}"
            )
            error.__cause__ = self._error
            return error
        advice = {
            TransactionPhase.UNINITIALIZED: "call init_transactions first",
            TransactionPhase.READY: "no transaction is open; call begin_transaction first",
            TransactionPhase.OPEN: "a transaction is open",
            TransactionPhase.COMMITTING: "the transaction is being committed; call "
            "commit_transaction again if that timed out",
            TransactionPhase.ABORTING: "the transaction is being aborted; call abort_transaction "
            "again if that timed out",
            TransactionPhase.PREPARED: "the transaction is prepared; another process ends it",
        }
        return IllegalStateError(f"cannot {what}: {advice.get(self.phase, self.phase.name)}")

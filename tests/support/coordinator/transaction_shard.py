"""A transaction coordinator without a node: requests in, answers out, markers as the test says."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any

from ottla.configs import NodeConfig
from ottla.coordinator.runtime.outcome import Outcome
from ottla.coordinator.runtime.replay import Replay
from ottla.coordinator.runtime.shard import Shard
from ottla.coordinator.runtime.state_machine import Timers
from ottla.coordinator.transactions.context import TransactionContext
from ottla.coordinator.transactions.coordinator import TransactionCoordinator
from ottla.coordinator.transactions.initializing import ExpectedProducer
from ottla.coordinator.transactions.markers import TransactionMarkers
from ottla.coordinator.transactions.metrics import TransactionMetrics
from ottla.coordinator.transactions.producer import ClaimedProducer
from ottla.coordinator.transactions.settings import TransactionSettings
from ottla.coordinator.transactions.states import TransactionState
from ottla.coordinator.transactions.transaction import Transaction
from ottla.coordinator.transactions.versions import TV_2
from ottla.metrics import Metrics
from ottla.model import TopicPartition
from ottla.simulation.seams.clock import SimulatedClock
from ottla.wire.messages.add_offsets_to_txn import AddOffsetsToTxnResponse
from ottla.wire.messages.init_producer_id import InitProducerIdRequest, InitProducerIdResponse
from tests.support.coordinator.coordinator_log import MemoryLog
from tests.support.coordinator.group_shard import Answer

NAME = TopicPartition("__transaction_state", 0)
ID = "transfers"
TIMEOUT_MS = 60_000
FIRST_PRODUCER_ID = 1_000
ORDERS = TopicPartition("orders", 0)
PAYMENTS = TopicPartition("payments", 3)


class Markers:
    """Records which markers are requested."""

    def __init__(self) -> None:
        self.requested: list[TransactionMarkers] = []
        self.is_closed = False

    def write(self, markers: TransactionMarkers) -> None:
        assert not self.is_closed
        self.requested.append(markers)

    def close(self) -> None:
        self.is_closed = True


class TransactionShard:
    """Loaded when made, from what the log has."""

    def __init__(
        self,
        log: MemoryLog | None = None,
        *,
        clock: SimulatedClock | None = None,
        configs: Mapping[str, str] | None = None,
        version: int = TV_2,
        next_producer_id: int = FIRST_PRODUCER_ID,
    ) -> None:
        self.log = log or MemoryLog()
        self.clock = clock or SimulatedClock()
        self.configs = configs or {}
        self.version = version
        self.markers = Markers()
        self.metrics = TransactionMetrics(Metrics())
        self.next_producer_id: int | None = next_producer_id
        self.config = NodeConfig.of(self.configs, data_dir="/data")
        self.shard = Shard(NAME, self.log, self.clock, self._make_machine, write_timeout_ms=5_000)
        replay = Replay(NAME, self.shard.machine, start_offset=0)
        for batch in self.log.batches:
            for _ in replay.apply(batch):
                pass
        for _ in replay.finish():
            pass
        self.shard.finish_loading()

    def _make_machine(self, timers: Timers) -> TransactionCoordinator:
        return TransactionCoordinator(
            TransactionContext(
                timers,
                self.clock,
                self.markers,
                self.metrics,
                self._take_producer_id,
                lambda: TransactionSettings(self.config.values),
                lambda: self.version,
            )
        )

    def _take_producer_id(self) -> int | None:
        taken = self.next_producer_id
        if taken is not None:
            self.next_producer_id = taken + 1
        return taken

    def failover(self) -> TransactionShard:
        """The next coordinator of the same log."""
        self.shard.close()
        return TransactionShard(
            self.log,
            clock=self.clock,
            configs=self.configs,
            version=self.version,
            next_producer_id=2 * FIRST_PRODUCER_ID,
        )

    @property
    def machine(self) -> TransactionCoordinator:
        return self.shard.machine

    @property
    def transaction(self) -> Transaction:
        return self.machine.transactions.require(ID)

    def is_in(self, state: TransactionState) -> bool:
        return self.transaction.state is state

    # ---- requests

    def submit(self, operation: Callable[[TransactionCoordinator], Outcome]) -> Answer:
        answer = Answer()
        # A refusal is answered with the error itself.
        refuse: Any = lambda error: error  # noqa: E731
        self.shard.submit(operation, answer, refuse)
        self.carry_on()
        return answer

    def init(
        self,
        expected: ExpectedProducer | None = None,
        *,
        timeout_ms: int = TIMEOUT_MS,
        transactional_id: str = ID,
        **fields: Any,
    ) -> Answer:
        request = InitProducerIdRequest(
            transactional_id=transactional_id, transaction_timeout_ms=timeout_ms, **fields
        )
        return self.submit(lambda machine: machine.init_producer_id(request, expected))

    def new_producer(self, **options: Any) -> ClaimedProducer:
        response: InitProducerIdResponse = self.init(**options).value
        assert response.error_code == 0
        return ClaimedProducer(ID, response.producer_id, response.producer_epoch)

    def new_producer_at(self, epoch: int) -> ClaimedProducer:
        """A producer that has had all epochs up to this one."""
        given = self.new_producer()
        self.machine.transactions.by_id[ID] = self.transaction._replace(producer_epoch=epoch)
        return given._replace(producer_epoch=epoch)

    def add(
        self, producer: ClaimedProducer, *partitions: TopicPartition, version: int = TV_2
    ) -> Answer:
        added = frozenset(partitions or (ORDERS,))
        return self.submit(
            lambda machine: machine.add_partitions(
                producer, added, AddOffsetsToTxnResponse(), client_version=version
            )
        )

    def end(self, producer: ClaimedProducer, *, commits: bool, version: int = TV_2) -> Answer:
        return self.submit(
            lambda machine: machine.end(producer, commits=commits, client_version=version)
        )

    def carry_on(self) -> None:
        """What comes right after an answer."""
        self.clock.advance(0)

    def markers_written(self) -> None:
        """All requested markers are written."""
        requested, self.markers.requested = self.markers.requested, []
        for each in requested:
            self.written(each)

    def written(self, markers: TransactionMarkers) -> None:
        self.shard.perform(
            lambda machine: machine.complete(
                markers.transactional_id,
                producer_id=markers.producer_id,
                producer_epoch=markers.producer_epoch,
            )
        )

    def transact(self, producer: ClaimedProducer, *, commits: bool = True) -> ClaimedProducer:
        """A whole transaction of TransactionV2; the producer as it is for the next one."""
        assert self.add(producer).error == 0
        answer = self.end(producer, commits=commits)
        assert answer.error == 0
        self.markers_written()
        return ClaimedProducer(ID, answer.value.producer_id, answer.value.producer_epoch)

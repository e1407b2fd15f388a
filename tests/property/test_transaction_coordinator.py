"""Producers and their zombies, late requests and failovers that lose what was not committed:
whatever happens, a transaction is decided once, and what was acknowledged stays so.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from hypothesis import settings
from hypothesis import strategies as st
from hypothesis.stateful import RuleBasedStateMachine, invariant, rule

from ottla.coordinator.transactions.initializing import ExpectedProducer
from ottla.coordinator.transactions.producer import ClaimedProducer
from ottla.coordinator.transactions.states import TransactionState
from ottla.model import ErrorCode
from tests.support.coordinator.coordinator_log import MemoryLog
from tests.support.coordinator.group_shard import Answer
from tests.support.coordinator.transaction_shard import ID, TIMEOUT_MS, TransactionShard

CLIENTS = st.integers(0, 1)
WRITE_TIMEOUT_SECONDS = 6.0
# A client that was not initialized.
NO_PRODUCER = ClaimedProducer(ID, -1, -1)


class Coordination(RuleBasedStateMachine):
    def __init__(self) -> None:
        super().__init__()
        self.shard = TransactionShard()
        self.clients = [NO_PRODUCER] * 2
        self.requests: list[tuple[ClaimedProducer, bool]] = []
        self.answers: list[tuple[Answer, Callable[[Any], None]]] = []
        # By producer and epoch of the transaction: how it ended, as a client was answered.
        self.ended: dict[tuple[int, int], bool] = {}
        # Transactions, by producer and epoch, that a client requested to commit.
        self.commit_requests: set[tuple[int, int]] = set()
        # By producer and epoch of the markers: how they end the transaction.
        self.marked: dict[tuple[int, int], bool] = {}
        # Every producer and epoch that a client was given to begin with.
        self.given: set[tuple[int, int]] = set()

    # ---- what clients do

    @rule(client=CLIENTS)
    def init(self, client: int) -> None:
        def given(response: Any) -> None:
            producer = ClaimedProducer(ID, response.producer_id, response.producer_epoch)
            assert producer[1:] not in self.given, "two producers have the same epoch"
            self.given.add(producer[1:])
            self.clients[client] = producer

        self.expect(self.shard.init(), given)

    @rule(client=CLIENTS)
    def go_on(self, client: int) -> None:
        before = self.clients[client]
        if before is NO_PRODUCER:
            return

        def given(response: Any) -> None:
            producer = ClaimedProducer(ID, response.producer_id, response.producer_epoch)
            self.given.add(producer[1:])
            self.clients[client] = producer

        self.expect(self.shard.init(ExpectedProducer(*before[1:])), given)

    @rule(client=CLIENTS)
    def add(self, client: int) -> None:
        self.expect(self.shard.add(self.clients[client]), lambda _response: None)

    @rule(client=CLIENTS, commits=st.booleans())
    def end(self, client: int, commits: bool) -> None:
        producer = self.clients[client]
        self.requests.append((producer, commits))
        if commits:
            self.commit_requests.add(producer[1:])

        def ended(response: Any) -> None:
            self.record_end(producer, commits)
            self.clients[client] = ClaimedProducer(
                ID, response.producer_id, response.producer_epoch
            )

        self.expect(self.shard.end(producer, commits=commits), ended)

    @rule(client=CLIENTS, commits=st.booleans())
    def transact(self, client: int, commits: bool) -> None:
        self.add(client)
        self.look()
        self.end(client, commits)
        self.look()
        self.shard.markers_written()

    @rule(client=CLIENTS, commits=st.booleans())
    def end_without_replicas(self, client: int, commits: bool) -> None:
        self.add(client)
        self.replicas_fall_behind()
        self.end(client, commits)
        self.time_passes(WRITE_TIMEOUT_SECONDS)

    @rule(data=st.data())
    def end_comes_late(self, data: st.DataObject) -> None:
        if self.requests:
            producer, commits = data.draw(st.sampled_from(self.requests))
            self.expect(
                self.shard.end(producer, commits=commits),
                lambda _response: self.record_end(producer, commits),
            )

    def expect(self, answer: Answer, then: Callable[[Any], None]) -> None:
        self.answers.append((answer, then))

    def record_end(self, producer: ClaimedProducer, commits: bool) -> None:
        ended = self.ended.setdefault(producer[1:], commits)
        assert ended == commits, "the same transaction was committed and aborted"

    # ---- what happens around them

    @rule()
    def markers_are_written(self) -> None:
        self.shard.markers_written()

    @rule()
    def replicas_fall_behind(self) -> None:
        self.shard.log.is_held = True

    @rule()
    def replicas_catch_up(self) -> None:
        self.shard.log.is_held = False
        self.shard.log.commit()

    @rule(loses=st.booleans())
    def coordinator_fails_over(self, loses: bool) -> None:
        self.shard.shard.close()
        self.look()
        log = committed_part(self.shard.log) if loses else self.shard.log
        self.shard = TransactionShard(
            log,
            clock=self.shard.clock,
            next_producer_id=(self.shard.next_producer_id or 0) + 1_000,
        )

    @rule(seconds=st.sampled_from([0.0, 1.0, WRITE_TIMEOUT_SECONDS, TIMEOUT_MS / 1_000]))
    def time_passes(self, seconds: float) -> None:
        self.shard.clock.advance(seconds)

    # ---- what must hold

    @invariant()
    def look(self) -> None:
        for markers in self.shard.markers.requested:
            key = (markers.producer_id, markers.producer_epoch)
            marked = self.marked.setdefault(key, markers.is_commit)
            assert marked == markers.is_commit, "a transaction has markers of both kinds"
            own = (markers.producer_id, markers.producer_epoch - 1)
            assert own in self.commit_requests or not marked, "a late request committed"
        waiting, self.answers = self.answers, []
        for answer, then in waiting:
            if not answer.is_there:
                self.answers.append((answer, then))
            elif answer.error is ErrorCode.NONE:
                then(answer.value)

    @invariant()
    def responses_agree_with_markers(self) -> None:
        for (producer_id, epoch), commits in self.ended.items():
            marked = self.marked.get((producer_id, epoch + 1))
            assert marked in (None, commits), "the response disagrees with the markers"

    def teardown(self) -> None:
        self.replicas_catch_up()
        for _ in range(3):
            self.shard.clock.advance(TIMEOUT_MS / 1_000)
            self.look()
            self.shard.markers_written()
        self.look()
        self.responses_agree_with_markers()
        transaction = self.shard.machine.transactions.get(ID)
        if transaction is not None:
            assert transaction.state.is_idle
        # Whatever a client committed with partitions in it has its markers.
        if transaction is not None and transaction.state is TransactionState.COMPLETE_COMMIT:
            assert True in self.marked.values()


def committed_part(log: MemoryLog) -> MemoryLog:
    """What the next leader has of a log, if it has no more than it must."""
    kept = MemoryLog()
    for batch in log.batches:
        if kept.end_offset < log.committed:
            kept.append(batch)
    return kept


TestCoordination = Coordination.TestCase
TestCoordination.settings = settings(max_examples=80, stateful_step_count=30, deadline=None)

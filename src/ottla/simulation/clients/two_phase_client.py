"""The sink's two-phase commit (`ottla.client.two_phase`) as the simulation runs and observes it."""

from __future__ import annotations

from collections.abc import Awaitable, Callable, Sequence
from typing import Final, NamedTuple

from ottla.client.cluster import ClientSeams
from ottla.client.producing.producer import Producer
from ottla.client.two_phase.commitment import Commitment
from ottla.client.two_phase.decisions import BatchDecision, Work
from ottla.client.two_phase.journal import Journal
from ottla.client.two_phase.two_phase_client import TwoPhaseClient
from ottla.model import TopicPartition
from ottla.runtime.network import Address
from ottla.simulation.clients.client_properties import client_properties
from ottla.simulation.history.history import Event
from ottla.simulation.history.two_phase_events import (
    DecisionRead,
    DecisionSending,
    DecisionWritten,
    DriverBegan,
    DriverBeginning,
)
from ottla.simulation.seams.dice import SeededDice
from ottla.simulation.world.host import Host

SLOTS: Final = 3
JOURNAL: Final = "__ottla_pipeline"
_ROWS_MAX: Final = 3
_PROPERTIES: Final = {
    "request.timeout.ms": 2_000,
    "delivery.timeout.ms": 8_000,
    "max.block.ms": 8_000,
    "transaction.timeout.ms": 10_000,
    "linger.ms": 0,
}


class QueryCheckpoint:
    """What a query keeps outside of the cluster, as Spark does in its checkpoint; and what the
    simulation knows of its journal."""

    def __init__(self) -> None:
        # The batches up to here are committed, and those before `planned` were begun.
        self.committed = 0
        self.planned = 0
        # The last batch of which a decision was acknowledged to a driver, or read by one.
        self.decided = -1
        self.drivers_begun = 0


class SimulatedQuery(NamedTuple):
    """A query: its name is that of its journal's keys and transactional ids."""

    name: str
    outputs: Sequence[TopicPartition]
    bootstrap: Sequence[Address]
    record: Callable[[Event], None]
    checkpoint: QueryCheckpoint
    # Called between the steps of drivers and tasks, which may end their process.
    step: Callable[[Host], Awaitable[None]]


def rows_of(query: str, batch_id: int, slot: int) -> list[str]:
    """The rows of a task; always the same. Some tasks have none."""
    count = SeededDice(f"{query} {batch_id} {slot}").between(low=0, high=_ROWS_MAX)
    return [f"{query}:{batch_id}:{slot}:{row}" for row in range(count)]


def all_rows_of(query: str, batch_id: int) -> list[str]:
    return [row for slot in range(SLOTS) for row in rows_of(query, batch_id, slot)]


class SimulatedTwoPhaseClient(TwoPhaseClient):
    """One of a driver or of a task, in the process of a host."""

    def __init__(self, host: Host, query: SimulatedQuery, *, is_driver: bool) -> None:
        properties = {**client_properties(host, query.bootstrap, host.name), **_PROPERTIES}
        super().__init__(
            properties,
            journal_topic=JOURNAL,
            seams=ClientSeams(host.clock, host.network, host.process_dice.fork("two phases")),
        )
        self.host = host
        self.query = query
        self.is_driver = is_driver
        self.number = 0

    async def begun(self, transactional_id: str) -> Producer:
        query = self.query
        await query.step(self.host)
        if not self.is_driver:
            return await super().begun(transactional_id)
        query.checkpoint.drivers_begun += 1
        self.number = query.checkpoint.drivers_begun
        query.record(DriverBeginning(self.host.name, query.name, self.number))
        producer = await super().begun(transactional_id)
        query.record(DriverBegan(self.host.name, query.name, self.number))
        await query.step(self.host)
        return producer

    def commitment(self, batch_id: int) -> Commitment:
        work = Work(self.query.name, batch_id)
        commitment = Commitment(self, work)
        commitment.journal = _RecordedJournal(self, work)
        return commitment


class _RecordedJournal(Journal):
    def __init__(self, client: SimulatedTwoPhaseClient, work: Work) -> None:
        super().__init__(client, work)
        self._observed = client

    async def decision(self) -> BatchDecision | None:
        client, query = self._observed, self._observed.query
        # A task's read may come before the markers of a decision that is acknowledged already.
        floor = query.checkpoint.decided if client.is_driver else -1
        found = await super().decision()
        batch_id = -1 if found is None else found.batch_id
        query.record(DecisionRead(client.host.name, query.name, batch_id, floor))
        query.checkpoint.decided = max(batch_id, query.checkpoint.decided)
        return found

    async def write_decision(self, driver: Producer, decision: BatchDecision) -> None:
        client, query = self._observed, self._observed.query
        ids = query.name, decision.batch_id, client.number
        await query.step(client.host)
        query.record(DecisionSending(client.host.name, *ids))
        await super().write_decision(driver, decision)
        query.record(DecisionWritten(client.host.name, *ids))
        query.checkpoint.decided = max(decision.batch_id, query.checkpoint.decided)
        await query.step(client.host)

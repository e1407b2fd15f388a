"""The driver of a query: runs one batch after the other, each in tasks on executors.

As in Spark, a batch is written to the checkpoint before it begins and when it is committed; a
driver that is started again repeats the batch that is not committed. A task that fails, or is lost
with its executor, is tried again; the lost one may still run.
"""

from __future__ import annotations

import asyncio
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Final

from ottla.client.errors import ClientError
from ottla.client.two_phase.commitment import require_same_rows
from ottla.client.two_phase.decisions import DecisionPart, Work
from ottla.simulation.clients.two_phase_client import (
    SLOTS,
    SimulatedQuery,
    SimulatedTwoPhaseClient,
    rows_of,
)
from ottla.simulation.history.history import Sent
from ottla.simulation.history.two_phase_events import BatchCommitted
from ottla.simulation.world.host import Host

_ATTEMPTS_MAX: Final = 4
_LOST_SECONDS: Final = 4.0
_LOOK_SECONDS: Final = 0.02
_HELD_SECONDS: Final = 0.5
_PAUSE_MS_MAX: Final = 2_000


class StageFailedError(Exception):
    """A task has failed too often."""


@dataclass(slots=True)
class _TaskOutcome:
    part: DecisionPart | None = None
    has_failed: bool = False


class SimulatedDriver:
    """One of the processes that drive a query, one after the other or concurrently. `run` ends
    when another one is to drive it; `is_over` says whether to finish the present batch only."""

    def __init__(
        self,
        host: Host,
        query: SimulatedQuery,
        executors: Sequence[Host],
        *,
        is_wanted: Callable[[], bool],
        is_over: Callable[[], bool],
    ) -> None:
        self._host = host
        self._query = query
        self._executors = executors
        self._is_wanted = is_wanted
        self._is_over = is_over
        self._dice = host.dice.fork("driver")
        self._attempts = 0

    async def run(self) -> None:
        checkpoint, clock = self._query.checkpoint, self._host.clock
        while self._is_wanted():
            batch_id = checkpoint.committed
            if self._is_over() and batch_id == checkpoint.planned:
                await clock.sleep(_HELD_SECONDS)
                continue
            checkpoint.planned = max(checkpoint.planned, batch_id + 1)
            parts: list[DecisionPart] = []
            try:
                try:
                    await self._stage(batch_id, parts)
                except StageFailedError:
                    await self._abort(batch_id, parts)
                    continue
                await self._commit(batch_id, parts)
            except ClientError:
                # The application starts the query again.
                await clock.sleep(_HELD_SECONDS)
                continue
            await clock.sleep(self._dice.below(_PAUSE_MS_MAX) / 1_000)

    async def _stage(self, batch_id: int, parts: list[DecisionPart]) -> None:
        async def finish(slot: int) -> None:
            parts.append(await self._finish_task(batch_id, slot))

        done = await asyncio.gather(*map(finish, range(SLOTS)), return_exceptions=True)
        for error in done:
            if error is not None:
                raise error

    async def _finish_task(self, batch_id: int, slot: int) -> DecisionPart:
        clock = self._host.clock
        for _ in range(_ATTEMPTS_MAX):
            executor = self._dice.choice(self._executors)
            if not executor.is_running:
                executor.start_process()
            process, outcome = executor.processes, _TaskOutcome()
            self._attempts += 1
            name = f"{self._host.name}/{self._attempts}"
            executor.run("task", write_slot(executor, self._query, name, batch_id, slot, outcome))
            deadline = clock.monotonic() + _LOST_SECONDS
            while not (outcome.part or outcome.has_failed) and clock.monotonic() < deadline:
                if executor.processes != process or not executor.is_running:
                    break
                await clock.sleep(_LOOK_SECONDS)
            if outcome.part is not None:
                return outcome.part
        raise StageFailedError(f"task {slot} of batch {batch_id}")

    async def _commit(self, batch_id: int, parts: Sequence[DecisionPart]) -> None:
        async with SimulatedTwoPhaseClient(self._host, self._query, is_driver=True) as client:
            await client.commitment(batch_id).commit(parts)
        self._query.record(BatchCommitted(self._host.name, self._query.name, batch_id))
        checkpoint = self._query.checkpoint
        checkpoint.committed = max(checkpoint.committed, batch_id + 1)

    async def _abort(self, batch_id: int, parts: Sequence[DecisionPart]) -> None:
        async with SimulatedTwoPhaseClient(self._host, self._query, is_driver=True) as client:
            await client.commitment(batch_id).abort(parts)


async def write_slot(
    host: Host,
    query: SimulatedQuery,
    name: str,
    batch_id: int,
    slot: int,
    outcome: _TaskOutcome,
) -> None:
    """What a task of the Spark sink does. Each row has the name of the attempt, so that the logs
    show which of them was committed."""
    rows, producer = rows_of(query.name, batch_id, slot), None
    try:
        async with SimulatedTwoPhaseClient(host, query, is_driver=False) as client:
            commitment = client.commitment(batch_id)
            left = await commitment.slot_work(slot)
            if left.is_missing and rows:
                producer = await client.begun(Work(query.name, batch_id).transactional_id(slot))
                for at, row in enumerate(rows):
                    target = query.outputs[(slot + at) % len(query.outputs)]
                    value = f"{name}|{row}".encode()
                    query.record(Sent(name, target, value))
                    await producer.send(target.topic, value, partition=target.partition)
                    await query.step(host)
                await commitment.journal.write_mark(producer, slot)
            prepared = None if producer is None else await producer.prepare_transaction()
            if left.decision is not None:
                require_same_rows(left.decision, slot, len(rows))
            await query.step(host)
            outcome.part = DecisionPart(slot, len(rows), prepared)
    except ClientError:
        outcome.has_failed = True

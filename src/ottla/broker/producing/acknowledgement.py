"""Waits until the appends of one Produce request are replicated to the ISR and, where configured,
synced to disk, or until the request times out. Completed by callbacks, without polling.
"""

from __future__ import annotations

import asyncio
from collections.abc import Callable
from functools import partial

from ottla.broker.network.pending import Pending
from ottla.broker.replicas.storage_failures import StorageFailures
from ottla.model import ErrorCode, KafkaError
from ottla.replication.offset_waiters import OffsetWaiter
from ottla.replication.partition import Partition
from ottla.runtime.clock import Clock, Timer
from ottla.storage.log.append_result import AppendResult
from ottla.storage.log.group_commit import GroupCommit
from ottla.storage.log.log import Log
from ottla.wire.messages.produce import PartitionProduceResponse, ProduceResponse


class Acknowledgement:
    """Created by a request that has to wait. Resolves the `Pending` that `wait` returns."""

    __slots__ = (
        "_clock",
        "_commit",
        "_failures",
        "_letters",
        "_missing",
        "_pending",
        "_response",
        "_timer",
        "_waiters",
    )

    def __init__(self, commit: GroupCommit, failures: StorageFailures, clock: Clock) -> None:
        self._commit = commit
        self._failures = failures
        self._clock = clock
        self._missing = 0
        self._response: ProduceResponse | None = None
        self._waiters: list[tuple[OffsetWaiter, PartitionProduceResponse]] = []
        # Of batches whose letters are not written yet, by `id`.
        self._letters: dict[int, PartitionProduceResponse] = {}
        self._timer: Timer | None = None
        self._pending = Pending(on_abandoned=self._stop)

    def expect(
        self,
        partition: Partition,
        answer: PartitionProduceResponse,
        result: AppendResult,
        *,
        is_replicated: bool,
    ) -> None:
        """Adds an append to wait for. If it fails, its error replaces the result in `answer`."""
        log = partition.require_log()
        if log.config.syncs_before_acknowledging:
            self._missing += 1
            durable = self._commit.when_durable(log, result.last_offset + 1)
            durable.add_done_callback(partial(self._synced, log, answer))
        if not is_replicated:
            self._missing += 1
            callback = partial(self._replicated, answer)
            waiter = partition.when_acknowledged(result.last_offset + 1, callback)
            self._waiters.append((waiter, answer))

    def expect_letter(
        self, answer: PartitionProduceResponse
    ) -> Callable[[KafkaError | None], None]:
        """Adds a batch that is written to a dead letter topic. The result is called with the
        outcome, once."""
        self._missing += 1
        self._letters[id(answer)] = answer

        def written(error: KafkaError | None) -> None:
            is_waiting = self._letters.pop(id(answer), None) is not None
            if error is not None and is_waiting:
                _refuse(answer, error.code, error.message)
            self._one_less()

        return written

    def wait(self, response: ProduceResponse, *, timeout_ms: int) -> Pending:
        self._response = response
        if not self._missing:
            self._pending.resolve(response)
        else:
            self._timer = self._clock.call_later(timeout_ms / 1_000, self._time_is_up)
        return self._pending

    def _replicated(self, answer: PartitionProduceResponse, error: ErrorCode) -> None:
        if error:
            _refuse(answer, error, "appended on the leader but not replicated; may be lost")
        self._one_less()

    def _synced(
        self, log: Log, answer: PartitionProduceResponse, durable: asyncio.Future[None]
    ) -> None:
        error = None if durable.cancelled() else durable.exception()
        if isinstance(error, KafkaError):
            _refuse(answer, error.code, error.message)
        elif isinstance(error, OSError):
            # After a failed sync the file contents are undefined: take the directory offline.
            failure = self._failures.log_failed(log, error)
            _refuse(answer, failure.code, failure.message)
        self._one_less()

    def _one_less(self) -> None:
        self._missing -= 1
        if not self._missing and self._response is not None and self._pending.response is None:
            self._stop()
            self._pending.resolve(self._response)

    def _time_is_up(self) -> None:
        assert self._response is not None
        self._stop()
        for waiter, answer in self._waiters:
            if waiter.is_waiting:
                waiter.cancel()
                _refuse(
                    answer,
                    ErrorCode.REQUEST_TIMED_OUT,
                    "not all in-sync replicas acknowledged the batch in time",
                )
        for answer in self._letters.values():
            _refuse(
                answer,
                ErrorCode.REQUEST_TIMED_OUT,
                "the batch was not written to its dead letter topic in time",
            )
        self._letters.clear()
        self._pending.resolve(self._response)

    def _stop(self) -> None:
        if self._timer is not None:
            self._timer.cancel()


def _refuse(answer: PartitionProduceResponse, error: ErrorCode, message: str | None) -> None:
    answer.error_code = error
    answer.error_message = message
    answer.base_offset = -1

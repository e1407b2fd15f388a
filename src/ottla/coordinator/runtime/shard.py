"""A coordinator's state for one partition, and the requests to it.

    loading ──finish_loading──▶ active ──close──▶ closed

Invariants: the state is the replay of the log up to its end; a response is sent only after every
record of the state that it was read from is committed.
"""

from __future__ import annotations

import logging
from collections.abc import Callable, Sequence
from enum import Enum, auto
from functools import partial
from typing import Final, Generic, TypeAlias, TypeVar

from ottla.coordinator.runtime.append_errors import coordinator_code, coordinator_error
from ottla.coordinator.runtime.coordinator_log import CoordinatorLog
from ottla.coordinator.runtime.outcome import (
    NOTHING,
    CoordinatorRecord,
    EncodedRecords,
    Outcome,
)
from ottla.coordinator.runtime.shard_timers import ShardTimers
from ottla.coordinator.runtime.state_machine import StateMachine, TimedOperation, Timers
from ottla.coordinator.runtime.transactional import TransactionalWriter, TransactionMarker
from ottla.coordinator.runtime.waiting_answer import Reply, WaitingAnswer
from ottla.model import (
    NO_PRODUCER_EPOCH,
    NO_PRODUCER_ID,
    ErrorCode,
    KafkaError,
    Offset,
    ProducerEpoch,
    ProducerId,
    TimestampMs,
    TopicPartition,
)
from ottla.runtime.clock import Clock
from ottla.wire.records import Codec, Record, batch_of_one, build_batch, lone_record

_log = logging.getLogger(__name__)

M = TypeVar("M", bound=StateMachine)
Operation: TypeAlias = Callable[[M], Outcome]
Refuse: TypeAlias = Callable[[KafkaError], object]
# Called with an operation's error. Returns True if it will submit the operation again later.
Postpone: TypeAlias = Callable[[KafkaError], bool]


class ShardState(Enum):
    LOADING = auto()
    ACTIVE = auto()
    CLOSED = auto()


# An enum member lookup costs five times as much as a constant, and every request needs it.
_ACTIVE: Final = ShardState.ACTIVE
_NO_ERROR: Final = ErrorCode.NONE


class Shard(Generic[M]):
    """Created when this node becomes the partition's leader, closed when it stops leading.
    Owned by the node's event loop."""

    def __init__(
        self,
        name: TopicPartition,
        log: CoordinatorLog,
        clock: Clock,
        make_machine: Callable[[Timers], M],
        *,
        write_timeout_ms: int,
        codec: Codec = Codec.NONE,
    ) -> None:
        self.name = name
        self.state = ShardState.LOADING
        self._log = log
        self._clock = clock
        self._timers = ShardTimers(clock, self._time_has_come)
        self.machine = make_machine(self._timers)
        self._write_timeout_ms = write_timeout_ms
        self._codec = codec
        self._end_offset = log.end_offset
        self._waiting: dict[WaitingAnswer, None] = {}

    # ---- life cycle

    @property
    def is_loading(self) -> bool:
        return self.state is ShardState.LOADING

    @property
    def is_settled(self) -> bool:
        """Whether the whole state is committed, so that a response needs no waiting."""
        return self.state is ShardState.ACTIVE and self._log.is_committed(self._end_offset)

    def finish_loading(self) -> None:
        """The log, up to its end when this node became the leader, has been replayed."""
        assert self.state is ShardState.LOADING
        self.state = ShardState.ACTIVE
        self._end_offset = self._log.end_offset
        self.machine.loaded()

    def close(self) -> None:
        """Answers waiting requests with NOT_COORDINATOR: this node no longer coordinates."""
        was_active = self.state is ShardState.ACTIVE
        self.state = ShardState.CLOSED
        self._timers.close()
        for waiting in list(self._waiting):
            waiting.settle(ErrorCode.NOT_COORDINATOR)
        if was_active:
            self.machine.unloaded()

    # ---- requests

    def submit(
        self,
        operation: Operation[M],
        reply: Reply,
        refuse: Refuse,
        *,
        writer: TransactionalWriter | None = None,
        postpone: Postpone | None = None,
    ) -> None:
        """Executes a request. `reply` gets the response, or what `refuse` makes of an error, once
        everything that the response depends on is committed. An operation that returns no response
        sends its own, whether or not its records are committed. With a `writer`, the records are
        part of the writer's transaction."""
        outcome = NOTHING
        try:
            if self.state is not _ACTIVE:
                self._require_active()
            outcome = operation(self.machine)
            if outcome.records:
                self._append(outcome, writer)
        except KafkaError as error:
            if outcome is NOTHING and postpone is not None and postpone(error):
                return
            self._failed(outcome, error)
            if outcome is NOTHING and self.state is _ACTIVE:
                # The error may depend on state that is not committed yet.
                refusal = Outcome(response=refuse(coordinator_error(error)))
                self._when_committed(partial(self._settle, refusal, reply, refuse))
            elif outcome is NOTHING or outcome.response is not None:
                reply(refuse(coordinator_error(error)))
            return
        self._when_committed(partial(self._settle, outcome, reply, refuse))

    def end_transaction(
        self, marker: TransactionMarker, callback: Callable[[ErrorCode], object]
    ) -> None:
        """Appends a marker, and calls `callback` once, with NONE when it is committed."""
        try:
            self._require_active()
            now_ms = self._clock.now_ms()
            self._end_offset = self._log.append(
                marker.batch(now_ms=now_ms),
                now_ms=now_ms,
                transaction_version=marker.transaction_version,
            )
        except KafkaError as error:
            callback(coordinator_code(error.code))
            return
        self.machine.replay_end_transaction(marker.producer_id, is_committed=marker.is_committed)
        self._when_committed(callback)

    def _require_active(self) -> None:
        if self.state is ShardState.LOADING:
            raise KafkaError(
                ErrorCode.COORDINATOR_LOAD_IN_PROGRESS,
                f"the coordinator of {self.name} is loading; try again in a moment",
            )
        if self.state is ShardState.CLOSED:
            raise KafkaError(
                ErrorCode.NOT_COORDINATOR, f"this node does not lead {self.name} any more"
            )

    def perform(self, operation: Operation[M]) -> None:
        """Executes an operation without a response: maintenance, and reactions to other events."""
        if self.state is _ACTIVE:
            self._carry_out(partial(operation, self.machine))

    def _time_has_come(self, operation: TimedOperation) -> None:
        if self.state is _ACTIVE:
            self._carry_out(operation)

    def _carry_out(self, operation: TimedOperation) -> None:
        outcome = NOTHING
        try:
            outcome = operation()
            if outcome.records:
                self._append(outcome)
            elif outcome.encoded is not None:
                self._append_encoded(outcome.encoded)
        except KafkaError as error:
            # No retry is needed here: an expired session stays expired, and maintenance is
            # periodic.
            _log.warning("%s: %s", self.name, error)
            self._failed(outcome, error)
            return
        if outcome.on_committed is not None or outcome.afterwards is not None:
            self._when_committed(partial(self._settle, outcome, _no_reply, _never))

    def _failed(self, outcome: Outcome, error: KafkaError) -> None:
        for follow_up in (outcome.on_committed, outcome.afterwards):
            if follow_up is not None and self.state is _ACTIVE:
                self._carry_out(partial(follow_up, coordinator_code(error.code)))

    # ---- appending

    def _append(self, outcome: Outcome, writer: TransactionalWriter | None = None) -> None:
        first_offset, now_ms = self._end_offset, self._clock.now_ms()
        self._end_offset = self._log.append(
            self._encode(outcome.records, writer, now_ms),
            now_ms=now_ms,
            verification=None if writer is None else writer.verification,
        )
        if outcome.is_applied:
            return
        producer_id = NO_PRODUCER_ID if writer is None else writer.producer_id
        for offset, record in enumerate(outcome.records, first_offset):
            self.machine.replay(record.key, record.value, offset=offset, producer_id=producer_id)

    def _append_encoded(self, encoded: EncodedRecords) -> None:
        batch, now_ms = encoded.batch.seal(self._codec), self._clock.now_ms()
        self._end_offset = self._log.append(batch, now_ms=now_ms)
        encoded.apply()

    def _encode(
        self,
        records: Sequence[CoordinatorRecord],
        writer: TransactionalWriter | None,
        now_ms: TimestampMs,
    ) -> bytearray:
        types = self.machine.record_types
        if writer is None and len(records) == 1 and not self._codec:
            ((key, value, version),) = records
            encoded = None if value is None else types.encode_value(value, version)
            return batch_of_one(lone_record(types.encode_key(key), encoded), timestamp=now_ms)
        return build_batch(
            [
                Record(
                    Offset(index),
                    now_ms,
                    types.encode_key(record.key),
                    None
                    if record.value is None
                    else types.encode_value(record.value, record.value_version),
                )
                for index, record in enumerate(records)
            ],
            codec=self._codec,
            producer_id=ProducerId(NO_PRODUCER_ID if writer is None else writer.producer_id),
            producer_epoch=ProducerEpoch(
                NO_PRODUCER_EPOCH if writer is None else writer.producer_epoch
            ),
            is_transactional=writer is not None,
        )

    # ---- waiting for appended records

    def _when_committed(self, settle: Callable[[ErrorCode], object]) -> None:
        if self._log.is_committed(self._end_offset):
            settle(_NO_ERROR)
            return
        waiting = WaitingAnswer(settle)
        self._waiting[waiting] = None
        waiting.when_settled = lambda: self._waiting.pop(waiting, None)
        waiting.timer = self._clock.call_later(
            self._write_timeout_ms / 1_000,
            lambda: waiting.settle(ErrorCode.COORDINATOR_NOT_AVAILABLE),
        )
        self._log.when_committed(
            self._end_offset, lambda code: waiting.settle(coordinator_code(code))
        )

    def _settle(self, outcome: Outcome, reply: Reply, refuse: Refuse, code: ErrorCode) -> None:
        if outcome.on_committed is not None and self.state is _ACTIVE:
            self._carry_out(partial(outcome.on_committed, code))
        if outcome.afterwards is not None:
            follow_up = partial(outcome.afterwards, code)
            self._clock.call_after_others(partial(self._time_has_come, follow_up))
        if outcome.response is None:
            return
        if code:
            reply(
                refuse(KafkaError(code, f"the records appended to {self.name} were not committed"))
            )
        else:
            reply(outcome.response)


def _no_reply(_response: object) -> None: ...


def _never(error: KafkaError) -> object:
    raise AssertionError("no request waits for a response") from error

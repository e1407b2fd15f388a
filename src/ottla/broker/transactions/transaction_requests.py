"""Requests to this node's transaction coordinators; they wait for the previous transaction."""

from __future__ import annotations

import asyncio
from collections.abc import Callable
from typing import TYPE_CHECKING, Any, Final

from ottla.broker.coordinators.coordinator_shards import CoordinatorShards
from ottla.model import ErrorCode, KafkaError
from ottla.runtime.clock import Clock

if TYPE_CHECKING:
    from ottla.coordinator.runtime.shard import Operation, Refuse
    from ottla.coordinator.runtime.waiting_answer import Reply
    from ottla.coordinator.transactions.coordinator import TransactionCoordinator

# Waiting blocks the connection. That of a client has only its own transactions, but that of another
# broker carries the requests of many clients.
CLIENT_PATIENCE_MS: Final = 200
BROKER_PATIENCE_MS: Final = 20


class TransactionRequests:
    """One per node. Owned by its loop."""

    def __init__(
        self, transactions: CoordinatorShards[TransactionCoordinator], clock: Clock
    ) -> None:
        self._transactions = transactions
        self._clock = clock

    def submit_patiently(
        self,
        transactional_id: str,
        operation: Operation[TransactionCoordinator],
        reply: Reply,
        refuse: Refuse,
        *,
        patience_ms: int = CLIENT_PATIENCE_MS,
    ) -> None:
        """Calls `reply` once. While the previous transaction is being completed, the operation
        waits, for at most `patience_ms`."""
        _PatientRequest(
            self._transactions,
            self._clock,
            transactional_id,
            operation,
            reply,
            refuse,
            patience_ms,
        ).attempt()


class _PatientRequest:
    """Retries a request until its response is not CONCURRENT_TRANSACTIONS or its time is up.

    It is a class because closures that call each other would form a reference cycle. Without one it
    is freed at once, not by the garbage collector, which pauses the whole process."""

    __slots__ = (
        "_clock",
        "_deadline",
        "_operation",
        "_patience_ms",
        "_refuse",
        "_reply",
        "_transactional_id",
        "_transactions",
    )

    def __init__(
        self,
        transactions: CoordinatorShards[TransactionCoordinator],
        clock: Clock,
        transactional_id: str,
        operation: Operation[TransactionCoordinator],
        reply: Reply,
        refuse: Refuse,
        patience_ms: int,
    ) -> None:
        self._transactions = transactions
        self._clock = clock
        self._transactional_id = transactional_id
        self._operation = operation
        self._reply = reply
        self._refuse = refuse
        self._patience_ms = patience_ms
        # Set at the first wait.
        self._deadline: float | None = None

    def attempt(self) -> None:
        self._transactions.submit(
            self._transactional_id,
            self._operation,
            self._replied,
            self._refuse,
            postpone=self._postpone,
        )

    def _postpone(self, error: KafkaError) -> bool:
        if error.code is not ErrorCode.CONCURRENT_TRANSACTIONS:
            return False
        left_ms = self._left_ms()
        shard = self._transactions.shard_of(self._transactional_id)
        if left_ms <= 0 or shard is None:
            return False
        shard.machine.completions.wait(self._transactional_id, self.attempt, wait_ms=left_ms)
        return True

    def _replied(self, answer: Any) -> None:
        # InitProducerId of a new producer first aborts the open transaction, then has to retry.
        is_early = getattr(answer, "error_code", None) == ErrorCode.CONCURRENT_TRANSACTIONS
        if is_early and self._left_ms() > 0:
            self.attempt()
        else:
            self._reply(answer)

    def _left_ms(self) -> int:
        now = self._clock.monotonic()
        if self._deadline is None:
            self._deadline = now + self._patience_ms / 1_000
        return int((self._deadline - now) * 1_000)


def code_for_version(code: ErrorCode, *, version: int, fenced_version: int) -> ErrorCode:
    """Replaces PRODUCER_FENCED with INVALID_PRODUCER_EPOCH in versions below `fenced_version`:
    older clients do not know PRODUCER_FENCED (KIP-588)."""
    if code is ErrorCode.PRODUCER_FENCED and version < fenced_version:
        return ErrorCode.INVALID_PRODUCER_EPOCH
    return code


async def answer_of(submit: Callable[[Reply], None]) -> Any:
    """Awaits the response to a submitted request, for handlers that are coroutines."""
    answered: asyncio.Future[Any] = asyncio.get_running_loop().create_future()

    def reply(answer: Any) -> None:
        # The connection may have closed, which cancels the handler's task.
        if not answered.done():
            answered.set_result(answer)

    submit(reply)
    return await answered

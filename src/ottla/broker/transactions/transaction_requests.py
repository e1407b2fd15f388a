"""What handlers of transactions have in common."""

from __future__ import annotations

import asyncio
from collections.abc import Callable
from typing import TYPE_CHECKING, Any, Final, cast

from ottla.broker.broker import Broker
from ottla.broker.network.handling import Answer, AnyHandler, RequestContext
from ottla.model import ErrorCode, KafkaError
from ottla.wire.schema import Message

if TYPE_CHECKING:
    from ottla.coordinator.runtime.shard import Operation, Refuse
    from ottla.coordinator.runtime.waiting_answer import Reply
    from ottla.coordinator.transactions.coordinator import TransactionCoordinator

# A client's connection waits for no other client's transaction; another node's does.
CLIENT_PATIENCE_MS: Final = 200
BROKER_PATIENCE_MS: Final = 20


def within_transaction(handler: AnyHandler) -> AnyHandler:
    """For a handler of what is mostly followed by the transaction's next request in a moment."""

    def handle(broker: Broker, context: RequestContext, request: Message) -> Answer:
        broker.vigil.end()
        answer = handler(broker, context, request)
        broker.vigil.begin()
        return answer

    return cast(AnyHandler, handle)


def submit_patiently(
    broker: Broker,
    transactional_id: str,
    operation: Operation[TransactionCoordinator],
    reply: Reply,
    refuse: Refuse,
    *,
    patience_ms: int = CLIENT_PATIENCE_MS,
) -> None:
    """Has an operation wait that comes while the last transaction is being completed."""
    _PatientRequest(broker, transactional_id, operation, reply, refuse, patience_ms).attempt()


class _PatientRequest:
    """A request that comes again until it is answered otherwise than with CONCURRENT_TRANSACTIONS,
    or its patience has an end. It holds nothing that holds it, as closures that call each other
    would: what requests leave behind is gone at once, without the garbage collector, which stops
    everything when it runs."""

    __slots__ = (
        "_broker",
        "_deadline",
        "_operation",
        "_patience_ms",
        "_refuse",
        "_reply",
        "_transactional_id",
    )

    def __init__(
        self,
        broker: Broker,
        transactional_id: str,
        operation: Operation[TransactionCoordinator],
        reply: Reply,
        refuse: Refuse,
        patience_ms: int,
    ) -> None:
        self._broker = broker
        self._transactional_id = transactional_id
        self._operation = operation
        self._reply = reply
        self._refuse = refuse
        self._patience_ms = patience_ms
        # From when it had to wait for the first time.
        self._deadline: float | None = None

    def attempt(self) -> None:
        transactions = self._broker.coordinators.transactions
        transactions.submit(
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
        shard = self._broker.coordinators.transactions.shard_of(self._transactional_id)
        if left_ms <= 0 or shard is None:
            return False
        shard.machine.completions.wait(self._transactional_id, self.attempt, wait_ms=left_ms)
        return True

    def _replied(self, answer: Any) -> None:
        # Who takes an id over has the transaction aborted first, and is to ask again.
        is_early = getattr(answer, "error_code", None) == ErrorCode.CONCURRENT_TRANSACTIONS
        if is_early and self._left_ms() > 0:
            self.attempt()
        else:
            self._reply(answer)

    def _left_ms(self) -> int:
        now = self._broker.clock.monotonic()
        if self._deadline is None:
            self._deadline = now + self._patience_ms / 1_000
        return int((self._deadline - now) * 1_000)


def told_code(code: ErrorCode, *, version: int, fenced_version: int) -> ErrorCode:
    """Clients know PRODUCER_FENCED from a certain version on (KIP-588), and before that only
    INVALID_PRODUCER_EPOCH."""
    if code is ErrorCode.PRODUCER_FENCED and version < fenced_version:
        return ErrorCode.INVALID_PRODUCER_EPOCH
    return code


async def answer_of(submit: Callable[[Reply], None]) -> Any:
    """The answer to what is submitted, for a handler that had to wait for something else first."""
    answered: asyncio.Future[Any] = asyncio.get_running_loop().create_future()

    def reply(answer: Any) -> None:
        # The connection, and with it whoever waits, may have gone.
        if not answered.done():
            answered.set_result(answer)

    submit(reply)
    return await answered

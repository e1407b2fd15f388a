"""Transactions that other processes than their producers end.

They use the protocol before KIP-890's TransactionV2, in which the end of a transaction does not
change its epoch: the journal names a transaction by its epoch, and ending it again is no error.
Every producer begins with an InitProducerId, so a late request of an earlier transaction is fenced
all the same.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import Any, Final, TypeVar

from ottla.client.cluster import ClientCluster, CoordinatorKind
from ottla.client.errors import ApiError, require
from ottla.client.producing.transactions import PreparedTransaction
from ottla.client.two_phase.errors import FencedError
from ottla.model import ErrorCode
from ottla.wire.messages.describe_transactions import (
    DescribeTransactionsRequest,
    DescribeTransactionsResponse,
)
from ottla.wire.messages.end_txn import EndTxnRequest, EndTxnResponse
from ottla.wire.schema import Message

T = TypeVar("T")

_END_TXN_VERSION: Final = 3
_FENCED: Final = frozenset(
    {
        ErrorCode.PRODUCER_FENCED,
        ErrorCode.INVALID_PRODUCER_EPOCH,
        ErrorCode.INVALID_PRODUCER_ID_MAPPING,
        ErrorCode.INVALID_TXN_STATE,
    }
)
_ONGOING: Final = "Ongoing"


@contextmanager
def fenced_by_newer(transactional_id: str) -> Iterator[None]:
    """Raises FencedError for the errors by which a coordinator or a leader fences a producer."""
    try:
        yield
    except ApiError as error:
        if error.code in _FENCED:
            raise FencedError(
                f"{transactional_id} has a newer producer, or its transaction took longer than its "
                f"timeout: {error}"
            ) from error
        raise


class PreparedTransactions:
    """Every call retries while a coordinator moves or is not available, for `seconds` at most, and
    can be repeated safely. Raises ClientError."""

    def __init__(self, cluster: ClientCluster, *, seconds: float) -> None:
        self._cluster = cluster
        self._seconds = seconds

    async def end(self, prepared: PreparedTransaction, *, commits: bool) -> None:
        """Commits or aborts; repeating it is no error. Raises FencedError if the transaction does
        not belong to this producer any more: it may have been committed or aborted."""
        request = EndTxnRequest(
            transactional_id=prepared.transactional_id,
            producer_id=prepared.producer_id,
            producer_epoch=prepared.producer_epoch,
            committed=commits,
        )
        what = f"ending the transaction of {prepared.transactional_id}"

        def require_ended(answer: EndTxnResponse) -> None:
            require(answer.error_code, what)

        with fenced_by_newer(prepared.transactional_id):
            await self._send(
                prepared.transactional_id, request, require_ended, what, version=_END_TXN_VERSION
            )

    async def is_open(self, prepared: PreparedTransaction) -> bool:
        """Whether the transaction is neither committed nor aborted."""
        expected = (_ONGOING, prepared.producer_id, prepared.producer_epoch)
        request = DescribeTransactionsRequest(transactional_ids=[prepared.transactional_id])
        what = f"describing {prepared.transactional_id}"

        def is_ongoing(answer: DescribeTransactionsResponse) -> bool:
            (state,) = answer.transaction_states
            if state.error_code == ErrorCode.TRANSACTIONAL_ID_NOT_FOUND:
                return False
            require(state.error_code, what)
            return (state.transaction_state, state.producer_id, state.producer_epoch) == expected

        def code(answer: DescribeTransactionsResponse) -> int:
            return answer.transaction_states[0].error_code

        return await self._send(prepared.transactional_id, request, is_ongoing, what, error=code)

    async def _send(
        self,
        transactional_id: str,
        request: Message,
        read: Callable[[Any], T],
        what: str,
        *,
        error: Callable[[Any], int] = lambda response: int(response.error_code),
        version: int | None = None,
    ) -> T:
        """Returns `read(response)`. `read` raises KafkaError for an error response."""

        async def attempt() -> T:
            return read(
                await self._cluster.send_to_coordinator(
                    CoordinatorKind.TRANSACTION,
                    transactional_id,
                    request,
                    error=error,
                    version_max=version,
                )
            )

        deadline = self._cluster.clock.monotonic() + self._seconds
        return await self._cluster.retrying(what, attempt, deadline=deadline)

"""Writes records in transactions, many requests in each.

Requests that arrive while a transaction is being committed share the next one. Each request's
records are in one transaction, so that all of them are written or none.
"""

from __future__ import annotations

import asyncio
import logging
from collections.abc import Mapping, Sequence
from typing import Any, Final, NamedTuple

from ottla.client.cluster import ClientSeams
from ottla.client.errors import (
    ClientError,
    InvalidProducerIdMappingError,
    ProducerFencedError,
    RecordTooLargeError,
)
from ottla.client.producing.producer import Producer
from ottla.model import TopicPartition
from ottla.runtime.tasks import Tasks
from ottla.schemas.registered.records import TopicRecord
from ottla.web.registry.errors import schema_too_large, store_failed, timed_out
from ottla.web.service.problems import HttpProblem

_log = logging.getLogger(__name__)

_RECORDS_MAX: Final = 500
_BYTES_MAX: Final = 900_000
_COMMIT_SECONDS: Final = 15.0
_TRANSACTION_TIMEOUT_MS: Final = 20_000


class NotWriterError(Exception):
    """This instance is not the writer, or is none any more."""


class _Pending(NamedTuple):
    records: Sequence[TopicRecord]
    written: asyncio.Future[int]


class SchemaAppender:
    """From `start`, which fences all earlier writers, until it fails or is closed. Then `ended` is
    done, and another instance, or a new appender of this one, has to take over."""

    def __init__(
        self, partition: TopicPartition, properties: Mapping[str, Any], seams: ClientSeams
    ) -> None:
        self._partition = partition
        self._producer = Producer(
            {
                **properties,
                "transactional.id": f"ottla-registry-{partition.topic}",
                "transaction.timeout.ms": _TRANSACTION_TIMEOUT_MS,
                "linger.ms": 0,
            },
            seams=seams,
        )
        self._pending: list[_Pending] = []
        self._is_pending = asyncio.Event()
        self._tasks = Tasks(_failed)
        self.ended: asyncio.Future[None] = asyncio.get_running_loop().create_future()

    async def start(self) -> None:
        """Raises ClientError."""
        await self._producer.init_transactions(timeout=_COMMIT_SECONDS)
        self._tasks.start("writing schemas", self._write())

    async def append(self, records: Sequence[TopicRecord]) -> int:
        """Returns the offset behind the last record, when it is committed. Raises NotWriterError if
        nothing was written, and HttpProblem if that is not known."""
        if self.ended.done():
            raise NotWriterError
        if sum(len(each.key) + len(each.value or b"") for each in records) > _BYTES_MAX:
            raise schema_too_large()
        pending = _Pending(records, asyncio.get_running_loop().create_future())
        self._pending.append(pending)
        self._is_pending.set()
        return await pending.written

    async def close(self) -> None:
        await self._tasks.close()
        self._end(NotWriterError())
        await self._producer.close(timeout=0)

    async def _write(self) -> None:
        while True:
            await self._is_pending.wait()
            batch = self._take()
            try:
                await self._commit(batch)
            except (RecordTooLargeError, ClientError) as error:
                self._fail(batch, error)
                self._end(NotWriterError())
                return
            except BaseException:
                self._fail(batch, None)
                raise

    def _take(self) -> list[_Pending]:
        """As many as fit into one transaction."""
        batch: list[_Pending] = []
        records = size = 0
        for pending in self._pending:
            records += len(pending.records)
            size += sum(len(each.key) + len(each.value or b"") for each in pending.records)
            if batch and (records > _RECORDS_MAX or size > _BYTES_MAX):
                break
            batch.append(pending)
        del self._pending[: len(batch)]
        if not self._pending:
            self._is_pending.clear()
        return batch

    async def _commit(self, batch: list[_Pending]) -> None:
        topic, partition = self._partition
        deliveries = []
        async with self._producer.transaction():
            for pending in batch:
                for record in pending.records:
                    delivery = await self._producer.send(
                        topic, record.value, key=record.key, partition=partition
                    )
                deliveries.append(delivery)
        for pending, delivery in zip(batch, deliveries, strict=True):
            metadata = await delivery
            if not pending.written.done():
                pending.written.set_result(metadata.offset + 1)

    def _fail(self, batch: list[_Pending], error: ClientError | None) -> None:
        if error is not None:
            _log.warning("this instance is no longer the writer: %s", error)
        reason: Exception
        if isinstance(error, (ProducerFencedError, InvalidProducerIdMappingError)):
            # The cluster aborted the transaction, or it never began.
            reason = NotWriterError()
        elif error is None:
            reason = timed_out("The registry is stopping.")
        else:
            reason = store_failed(f"Cannot write to the topic of schemas: {error}")
        for pending in batch:
            _refuse(pending, reason)

    def _end(self, error: Exception) -> None:
        for pending in self._pending:
            _refuse(pending, error)
        self._pending.clear()
        if not self.ended.done():
            self.ended.set_result(None)


def _refuse(pending: _Pending, error: Exception) -> None:
    if not pending.written.done():
        pending.written.set_exception(
            HttpProblem(error.status, error.message, code=error.code)
            if isinstance(error, HttpProblem)
            else NotWriterError()
        )


def _failed(name: str, error: BaseException) -> None:
    _log.error("%s failed", name, exc_info=error)

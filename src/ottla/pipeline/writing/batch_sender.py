"""Sends batches to the leaders of their partitions, with several requests in flight, in order.

Every batch has a sequence number, so a leader appends each batch once and in order. If a batch is
rejected because leadership has moved, the batches behind it are rejected as well: the sender waits
for all responses of the partition and then resends the failed batches in order, one at a time.
"""

from __future__ import annotations

import asyncio
from collections import Counter, deque
from collections.abc import Iterable, Mapping
from typing import Any, Final, NamedTuple

from ottla.channels import ChannelError
from ottla.model import ErrorCode, KafkaError, TopicPartition
from ottla.pipeline.reading.cluster import SourceCluster, require
from ottla.pipeline.reading.errors import ClusterError
from ottla.pipeline.writing.errors import FencedError, RowError
from ottla.pipeline.writing.options import SinkOptions
from ottla.pipeline.writing.sealing import Seal, seal
from ottla.pipeline.writing.transactions import SinkProducer, SinkTransactions
from ottla.wire.messages.produce import (
    PartitionProduceData,
    ProduceRequest,
    ProduceResponse,
    TopicProduceData,
)
from ottla.wire.records.header import increment_sequence
from ottla.wire.records.row_batches import UnsealedBatch

# The last version in which clients send AddPartitionsToTxn themselves (KIP-890).
_PRODUCE_VERSION: Final = 11
_ACKS_ALL: Final = -1
# A leader detects duplicates among the last five batches of a producer.
_IN_FLIGHT_MAX: Final = 5
_IN_FLIGHT_BYTES_MAX: Final = 16 * 1024 * 1024
_REQUEST_TIMEOUT_MS: Final = 30_000


class _Sent(NamedTuple):
    partition: TopicPartition
    batch: bytearray
    answer: asyncio.Future[Any]


class BatchSender:
    """Sends the batches of one producer. Used by one asyncio task; after `flush` all are appended.

    Raises FencedError when a newer producer has fenced this one, RowError when a batch is rejected
    because of its content, and ClusterError when the cluster rejects it otherwise or does not
    append it in time. The sender cannot be used after an error.
    """

    def __init__(
        self, cluster: SourceCluster, producer: SinkProducer, options: SinkOptions
    ) -> None:
        self._cluster = cluster
        self._producer = producer
        self._options = options
        self._sequences: Counter[TopicPartition] = Counter()
        self._sent: deque[_Sent] = deque()
        self._counts: Counter[TopicPartition] = Counter()
        self._bytes = 0
        self._added: set[TopicPartition] = set()

    async def add(self, partitions: Iterable[TopicPartition]) -> None:
        """Adds new partitions to the producer's transaction, if it is transactional. Called before
        batches are sent to them."""
        new = set(partitions) - self._added
        if new and self._producer.transactional_id is not None:
            await SinkTransactions(self._cluster).add(self._producer, sorted(new))
        self._added |= new

    async def send(self, partition: TopicPartition, unsealed: UnsealedBatch) -> None:
        """Waits first while too much is in flight or an earlier batch has to be resent."""
        batch = self._sealed(partition, unsealed)
        while self._sent and self._bytes + len(batch) > _IN_FLIGHT_BYTES_MAX:
            await self._settle()
        while self._counts[partition] >= _IN_FLIGHT_MAX or self._has_failed(partition):
            await self._settle()
        self._sent.append(_Sent(partition, batch, await self._begin(partition, batch)))
        self._counts[partition] += 1
        self._bytes += len(batch)
        # Let the loop write what the socket did not accept at once.
        await self._cluster.clock.sleep(0)

    async def flush(self) -> None:
        while self._sent:
            await self._settle()

    def close(self) -> None:
        """Cancels the outstanding responses."""
        for sent in self._sent:
            sent.answer.cancel()
        self._sent.clear()

    def _sealed(self, partition: TopicPartition, unsealed: UnsealedBatch) -> bytearray:
        sequence = self._sequences[partition]
        self._sequences[partition] = increment_sequence(sequence, by=unsealed.record_count)
        producer, options = self._producer, self._options
        return seal(
            unsealed,
            Seal(
                producer_id=producer.producer_id,
                producer_epoch=producer.producer_epoch,
                base_sequence=sequence,
                is_transactional=producer.transactional_id is not None,
                timestamp=self._cluster.clock.now_ms(),
                codec=options.codec,
                compression_level=options.compression_level,
            ),
        )

    async def _begin(self, partition: TopicPartition, batch: bytearray) -> asyncio.Future[Any]:
        """Sends the batch. Returns the future response, already failed if sending failed."""
        try:
            link = await self._cluster.leader(partition)
            return link.send(
                self._request(partition, batch),
                version_max=_PRODUCE_VERSION,
                timeout_ms=_REQUEST_TIMEOUT_MS,
            )
        except (ChannelError, KafkaError) as error:
            failed: asyncio.Future[Any] = asyncio.get_running_loop().create_future()
            failed.set_exception(error)
            return failed

    def _request(self, partition: TopicPartition, batch: bytearray) -> ProduceRequest:
        data = PartitionProduceData(index=partition.partition, records=batch)
        return ProduceRequest(
            transactional_id=self._producer.transactional_id,
            acks=_ACKS_ALL,
            timeout_ms=_REQUEST_TIMEOUT_MS,
            topic_data=[TopicProduceData(name=partition.topic, partition_data=[data])],
        )

    def _has_failed(self, partition: TopicPartition) -> bool:
        """Whether a batch in flight has failed: a batch sent now would be out of order."""
        return any(
            sent.partition == partition and sent.answer.done() and not _is_taken(sent)
            for sent in self._sent
        )

    async def _settle(self) -> None:
        """Waits for the response to the oldest batch. Resends after retriable errors."""
        oldest = self._sent[0]
        try:
            _require_taken(oldest.partition, await oldest.answer)
        except (ChannelError, KafkaError) as error:
            if isinstance(error, KafkaError) and not error.code.retriable:
                raise _explained(error, self._options) from error
            await self._send_again(oldest.partition)
        else:
            self._settled(oldest)

    async def _send_again(self, partition: TopicPartition) -> None:
        waiting = [sent for sent in self._sent if sent.partition == partition]
        await asyncio.wait([sent.answer for sent in waiting])
        for sent in waiting:
            if not _is_taken(sent):
                await self._deliver(sent)
            self._settled(sent)

    async def _deliver(self, sent: _Sent) -> None:
        partition = sent.partition

        async def attempt() -> None:
            link = await self._cluster.leader(partition)
            answer = await link.send_request(
                self._request(partition, sent.batch),
                version_max=_PRODUCE_VERSION,
                timeout_ms=_REQUEST_TIMEOUT_MS,
            )
            _require_taken(partition, answer)

        try:
            await self._cluster.persist(attempt)
        except ClusterError as error:
            if isinstance(error.__cause__, KafkaError):
                raise _explained(error.__cause__, self._options) from error
            raise

    def _settled(self, sent: _Sent) -> None:
        self._sent.remove(sent)
        self._counts[sent.partition] -= 1
        self._bytes -= len(sent.batch)


def _is_taken(sent: _Sent) -> bool:
    if sent.answer.cancelled() or sent.answer.exception() is not None:
        return False
    try:
        _require_taken(sent.partition, sent.answer.result())
    except KafkaError:
        return False
    return True


def _require_taken(partition: TopicPartition, answer: ProduceResponse) -> None:
    response = answer.responses[0].partition_responses[0]
    code = ErrorCode(response.error_code)
    if code is ErrorCode.DUPLICATE_SEQUENCE_NUMBER:
        return
    if code is ErrorCode.UNKNOWN_TOPIC_OR_PARTITION:
        # The partition existed when rows were assigned to it: this node's metadata is behind.
        code = ErrorCode.NOT_LEADER_OR_FOLLOWER
    detail = f": {response.error_message}" if response.error_message else ""
    require(code, f"writing to {partition.topic}-{partition.partition}{detail}")


_REFUSED_FOR_CONTENT: Final[Mapping[ErrorCode, str]] = {
    ErrorCode.MESSAGE_TOO_LARGE: "lower kafka.batch.size, or raise the topic's max.message.bytes",
    ErrorCode.RECORD_LIST_TOO_LARGE: "lower kafka.batch.size, or raise the topic's segment.bytes",
    ErrorCode.INVALID_RECORD: "a compacted topic needs rows with a key: set the column key",
}
_FENCED: Final = (ErrorCode.INVALID_PRODUCER_EPOCH, ErrorCode.PRODUCER_FENCED)


def _explained(error: KafkaError, options: SinkOptions) -> Exception:
    if error.code in _FENCED:
        return FencedError(
            f"{error.message}: another attempt at the same rows has begun, or this one took longer "
            f"than kafka.transaction.timeout.ms ({options.transaction_timeout_ms})"
        )
    if error.code in _REFUSED_FOR_CONTENT:
        advice = _REFUSED_FOR_CONTENT[error.code]
        return RowError(f"{error.message} ({error.code.name}): {advice}")
    return ClusterError(f"{error.message} ({error.code.name})", error.code)

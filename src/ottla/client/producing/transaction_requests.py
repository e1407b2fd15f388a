"""The requests of a transactional producer to its coordinator and to those of groups."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Awaitable, Callable, Iterable, Mapping
from typing import Any, Final, TypeVar

from ottla.client.cluster import ClientCluster, CoordinatorKind
from ottla.client.errors import CommitFailedError, require
from ottla.client.producing.batch import ProducerIdentity
from ottla.client.records import ConsumerGroupMetadata, OffsetAndMetadata
from ottla.client.settings.producer import ProducerSettings
from ottla.model import ErrorCode, ProducerEpoch, ProducerId, TopicPartition
from ottla.wire.messages.add_offsets_to_txn import AddOffsetsToTxnRequest
from ottla.wire.messages.add_partitions_to_txn import (
    AddPartitionsToTxnRequest,
    AddPartitionsToTxnResponse,
    AddPartitionsToTxnTopic,
)
from ottla.wire.messages.end_txn import EndTxnRequest, EndTxnResponse
from ottla.wire.messages.init_producer_id import InitProducerIdRequest, InitProducerIdResponse
from ottla.wire.messages.txn_offset_commit import (
    TxnOffsetCommitRequest,
    TxnOffsetCommitRequestPartition,
    TxnOffsetCommitRequestTopic,
    TxnOffsetCommitResponse,
)

T = TypeVar("T")

# The last versions of TransactionV1; from version 4 on, AddPartitionsToTxn is for brokers.
_ADD_PARTITIONS_VERSION: Final = 3
_END_TXN_V1_MAX: Final = 4
_OFFSETS_V1_MAX: Final = 4
_LEFT_GROUP: Final = frozenset(
    {
        ErrorCode.ILLEGAL_GENERATION,
        ErrorCode.UNKNOWN_MEMBER_ID,
        ErrorCode.FENCED_INSTANCE_ID,
        ErrorCode.STALE_MEMBER_EPOCH,
        ErrorCode.FENCED_MEMBER_EPOCH,
    }
)


class CoordinatorCalls:
    """Each call is repeated until its deadline while the coordinator moves or is busy. Raises
    ClientError."""

    def __init__(self, cluster: ClientCluster, settings: ProducerSettings) -> None:
        assert settings.transactional_id is not None
        self._cluster = cluster
        self._id = settings.transactional_id
        self._timeout_ms = settings.transaction_timeout_ms

    async def initialize(
        self, current: ProducerIdentity | None, *, deadline: float
    ) -> ProducerIdentity:
        """A new epoch. With the current identity, only if no newer producer has the id."""
        request = InitProducerIdRequest(
            transactional_id=self._id,
            transaction_timeout_ms=self._timeout_ms,
            producer_id=-1 if current is None else current.producer_id,
            producer_epoch=-1 if current is None else current.epoch,
        )
        what = f"initializing the producer {self._id}"

        async def attempt() -> ProducerIdentity:
            response: InitProducerIdResponse = await self._send(request)
            require(response.error_code, what)
            return ProducerIdentity(
                ProducerId(response.producer_id), ProducerEpoch(response.producer_epoch)
            )

        return await self._retrying(what, attempt, deadline=deadline)

    async def add_partitions(
        self, identity: ProducerIdentity, partitions: Iterable[TopicPartition], *, deadline: float
    ) -> None:
        topics: dict[str, list[int]] = defaultdict(list)
        for partition in sorted(partitions):
            topics[partition.topic].append(partition.partition)
        request = AddPartitionsToTxnRequest(
            v3_and_below_transactional_id=self._id,
            v3_and_below_producer_id=identity.producer_id,
            v3_and_below_producer_epoch=identity.epoch,
            v3_and_below_topics=[
                AddPartitionsToTxnTopic(name=name, partitions=found)
                for name, found in topics.items()
            ],
        )
        what = f"adding partitions to the transaction of {self._id}"

        async def attempt() -> None:
            response: AddPartitionsToTxnResponse = await self._send(
                request, error=_add_error, version_max=_ADD_PARTITIONS_VERSION
            )
            require(_add_error(response), what)

        await self._retrying(what, attempt, deadline=deadline)

    async def send_offsets(
        self,
        identity: ProducerIdentity,
        offsets: Mapping[TopicPartition, OffsetAndMetadata],
        group: ConsumerGroupMetadata,
        *,
        is_v2: bool,
        deadline: float,
    ) -> None:
        if not is_v2:
            await self._add_group(identity, group.group_id, deadline=deadline)
        topics: dict[str, list[TxnOffsetCommitRequestPartition]] = defaultdict(list)
        for partition, position in offsets.items():
            topics[partition.topic].append(
                TxnOffsetCommitRequestPartition(
                    partition_index=partition.partition,
                    committed_offset=position.offset,
                    committed_leader_epoch=position.leader_epoch,
                    committed_metadata=position.metadata,
                )
            )
        request = TxnOffsetCommitRequest(
            transactional_id=self._id,
            group_id=group.group_id,
            producer_id=identity.producer_id,
            producer_epoch=identity.epoch,
            generation_id=group.generation_id,
            member_id=group.member_id,
            group_instance_id=group.group_instance_id,
            topics=[
                TxnOffsetCommitRequestTopic(name=name, partitions=found)
                for name, found in topics.items()
            ],
        )
        what = f"committing offsets of the group {group.group_id} in a transaction"

        async def attempt() -> None:
            response: TxnOffsetCommitResponse = await self._cluster.send_to_coordinator(
                CoordinatorKind.GROUP,
                group.group_id,
                request,
                error=_offsets_error,
                version_max=None if is_v2 else _OFFSETS_V1_MAX,
            )
            code = ErrorCode(_offsets_error(response))
            if code in _LEFT_GROUP:
                raise CommitFailedError(code, f"{what}: the member is not in the group any more")
            require(code, what)

        await self._retrying(what, attempt, deadline=deadline)

    async def end(
        self, identity: ProducerIdentity, *, commits: bool, is_v2: bool, deadline: float
    ) -> ProducerIdentity | None:
        """Returns the identity of the next transaction, if the response has one."""
        request = EndTxnRequest(
            transactional_id=self._id,
            producer_id=identity.producer_id,
            producer_epoch=identity.epoch,
            committed=commits,
        )
        what = f"{'committing' if commits else 'aborting'} the transaction of {self._id}"

        async def attempt() -> ProducerIdentity | None:
            response: EndTxnResponse = await self._send(
                request, version_max=None if is_v2 else _END_TXN_V1_MAX
            )
            require(response.error_code, what)
            if response.producer_id < 0:
                return None
            return ProducerIdentity(
                ProducerId(response.producer_id), ProducerEpoch(response.producer_epoch)
            )

        return await self._retrying(what, attempt, deadline=deadline)

    async def _add_group(
        self, identity: ProducerIdentity, group_id: str, *, deadline: float
    ) -> None:
        request = AddOffsetsToTxnRequest(
            transactional_id=self._id,
            producer_id=identity.producer_id,
            producer_epoch=identity.epoch,
            group_id=group_id,
        )
        what = f"adding the group {group_id} to the transaction of {self._id}"

        async def attempt() -> None:
            require((await self._send(request)).error_code, what)

        await self._retrying(what, attempt, deadline=deadline)

    async def _retrying(
        self, what: str, attempt: Callable[[], Awaitable[T]], *, deadline: float
    ) -> T:
        return await self._cluster.retrying(what, attempt, deadline=deadline)

    async def _send(
        self,
        request: Any,
        *,
        error: Callable[[Any], int] = lambda response: int(response.error_code),
        version_max: int | None = None,
    ) -> Any:
        return await self._cluster.send_to_coordinator(
            CoordinatorKind.TRANSACTION, self._id, request, error=error, version_max=version_max
        )


def _add_error(response: AddPartitionsToTxnResponse) -> int:
    """The error to act on: OPERATION_NOT_ATTEMPTED stands for the error of another partition."""
    codes = {
        int(each.partition_error_code)
        for topic in response.results_by_topic_v3_and_below
        for each in topic.results_by_partition
    }
    return _worst(codes - {ErrorCode.NONE, ErrorCode.OPERATION_NOT_ATTEMPTED})


def _offsets_error(response: TxnOffsetCommitResponse) -> int:
    codes = {int(each.error_code) for topic in response.topics for each in topic.partitions}
    return _worst(codes - {ErrorCode.NONE})


def _worst(codes: set[int]) -> int:
    """One that is not retriable, if there is one."""
    return min(codes, key=lambda code: (ErrorCode(code).retriable, code), default=0)

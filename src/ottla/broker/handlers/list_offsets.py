"""ListOffsets, versions 1 to 11: finds the offset of a timestamp, or of a special one like LATEST.

Consumers (replica id -1) see offsets up to the high watermark, or up to the last stable offset with
read_committed; all others see the whole log. A timestamp after the last visible record has no
offset, which is not an error. If the result depends on the end offset, a new leader returns
OFFSET_NOT_AVAILABLE to consumers until its high watermark reaches the start offset of its epoch, so
that the end offset never goes back (KIP-207).

Errors per partition: TOPIC_AUTHORIZATION_FAILED (for replicas too), UNKNOWN_TOPIC_OR_PARTITION,
NOT_LEADER_OR_FOLLOWER, OFFSET_NOT_AVAILABLE (before version 5 LEADER_NOT_AVAILABLE),
KAFKA_STORAGE_ERROR, FENCED_LEADER_EPOCH, UNKNOWN_LEADER_EPOCH, UNSUPPORTED_VERSION for a special
timestamp that the version does not have, INVALID_REQUEST for a partition named twice,
CORRUPT_MESSAGE for an unreadable batch, UNKNOWN_SERVER_ERROR if the worker process crashed.

A large batch is searched by a worker process; the response waits for it.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Awaitable, Generator, Mapping
from typing import Final, TypeAlias, TypeVar

from ottla.broker.network.handling import RequestContext, handles
from ottla.broker.network.refused_topics import refused_topics, unauthorized_topic
from ottla.broker.replicas.storage_failures import StorageFailures
from ottla.model import NO_TIMESTAMP, ErrorCode, KafkaError
from ottla.replication.partition import Isolation, Partition
from ottla.replication.partitions import Partitions
from ottla.runtime.background import Background, WorkerCrashedError
from ottla.runtime.clock import Clock
from ottla.security.acls.acl import AclOperation, ResourceType
from ottla.security.acls.rights import Right
from ottla.storage.indexes.time_index import TimestampOffset
from ottla.storage.log.log import Log
from ottla.storage.log.offset_lookup import (
    BatchSearch,
    FoundOffset,
    SpecialTimestamp,
    offset_lookup,
)
from ottla.wire.apis import ApiKey
from ottla.wire.errors import ProtocolError
from ottla.wire.messages.list_offsets import (
    ListOffsetsPartition,
    ListOffsetsPartitionResponse,
    ListOffsetsRequest,
    ListOffsetsResponse,
    ListOffsetsTopicResponse,
)
from ottla.wire.records.compression import OutputTooLargeError

T = TypeVar("T")

# Yields to the loop after this long.
_STEP_SECONDS: Final = 0.002

_CONSUMER: Final = -1

# The first version that supports each special timestamp.
_FIRST_VERSIONS: Final[Mapping[int, int]] = {
    SpecialTimestamp.LATEST: 1,
    SpecialTimestamp.EARLIEST: 1,
    SpecialTimestamp.MAX_TIMESTAMP: 7,
    SpecialTimestamp.EARLIEST_LOCAL: 8,
    SpecialTimestamp.LATEST_TIERED: 9,
    SpecialTimestamp.EARLIEST_PENDING_UPLOAD: 11,
}
_PLACES: Final = (SpecialTimestamp.EARLIEST, SpecialTimestamp.EARLIEST_LOCAL)


# Yields a batch that is too large to be searched here, and is sent the offset found in it. Yields
# None to let the loop run.
_Work: TypeAlias = Generator[BatchSearch | None, TimestampOffset | None, T]


@handles(ApiKey.LIST_OFFSETS, rights=(Right(AclOperation.DESCRIBE, ResourceType.TOPIC),))
def list_offsets(
    context: RequestContext,
    request: ListOffsetsRequest,
    *,
    clock: Clock,
    background: Background,
    partitions: Partitions,
    failures: StorageFailures,
) -> ListOffsetsResponse | Awaitable[ListOffsetsResponse]:
    work = _answers(clock, partitions, failures, context, request)
    try:
        first = next(work)
    except StopIteration as end:
        response: ListOffsetsResponse = end.value
        return response
    return _finish(clock, background, work, first)


async def _finish(
    clock: Clock, background: Background, work: _Work[ListOffsetsResponse], step: BatchSearch | None
) -> ListOffsetsResponse:
    try:
        while True:
            if step is None:
                await clock.sleep(0)
                step = work.send(None)
                continue
            try:
                found = await background.compute_soon(_search, step)
            except (ProtocolError, WorkerCrashedError) as error:
                step = work.throw(error)
            else:
                step = work.send(found)
    except StopIteration as end:
        response: ListOffsetsResponse = end.value
        return response


def _search(search: BatchSearch) -> TimestampOffset | None:
    return search.run()


def _answers(
    clock: Clock,
    partitions: Partitions,
    failures: StorageFailures,
    context: RequestContext,
    request: ListOffsetsRequest,
) -> _Work[ListOffsetsResponse]:
    named = Counter(
        (topic.name, requested.partition_index)
        for topic in request.topics
        for requested in topic.partitions
    )
    isolation = None
    if request.replica_id == _CONSUMER:
        isolation = Isolation(request.isolation_level & 1)
    topics = []
    refused = refused_topics(context.rights, AclOperation.DESCRIBE, request.topics)
    for topic in request.topics:
        answers = []
        for requested in topic.partitions:
            try:
                if refused and topic.name in refused:
                    raise unauthorized_topic(topic.name)
                if named[topic.name, requested.partition_index] > 1:
                    raise KafkaError(
                        ErrorCode.INVALID_REQUEST, "a partition appears twice in the request"
                    )
                _check_version(requested.timestamp, context.api_version)
                partition = partitions.by_name(topic.name, requested.partition_index)
                answers.append(
                    (yield from _answer(clock, failures, partition, requested, isolation))
                )
            except KafkaError as error:
                code = error.code
                if code is ErrorCode.OFFSET_NOT_AVAILABLE and context.api_version < 5:
                    code = ErrorCode.LEADER_NOT_AVAILABLE
                answers.append(
                    ListOffsetsPartitionResponse(
                        partition_index=requested.partition_index, error_code=code
                    )
                )
        topics.append(ListOffsetsTopicResponse(name=topic.name, partitions=answers))
    return ListOffsetsResponse(topics=topics)


def _check_version(timestamp: int, version: int) -> None:
    if timestamp < 0 and version < _FIRST_VERSIONS.get(timestamp, version + 1):
        raise KafkaError(
            ErrorCode.UNSUPPORTED_VERSION,
            f"version {version} does not support timestamp {timestamp}",
        )


def _answer(
    clock: Clock,
    failures: StorageFailures,
    partition: Partition,
    requested: ListOffsetsPartition,
    isolation: Isolation | None,
) -> _Work[ListOffsetsPartitionResponse]:
    partition.check_leader_epoch(requested.current_leader_epoch)
    partition.require_leader()
    try:
        with failures.translated(partition):
            found = yield from _find(clock, partition, requested.timestamp, isolation)
    except ProtocolError as error:
        raise KafkaError(ErrorCode.CORRUPT_MESSAGE, str(error)) from error
    except WorkerCrashedError as error:
        raise KafkaError(ErrorCode.UNKNOWN_SERVER_ERROR, str(error)) from error
    answer = ListOffsetsPartitionResponse(partition_index=requested.partition_index)
    if found is not None:
        answer.timestamp = found.timestamp
        answer.offset = found.offset
        if found.leader_epoch is not None:
            answer.leader_epoch = found.leader_epoch
    return answer


def _find(
    clock: Clock, partition: Partition, timestamp: int, isolation: Isolation | None
) -> _Work[FoundOffset | None]:
    log = partition.require_log()
    if isolation is None:
        end = log.log_end_offset
    elif isolation is Isolation.READ_COMMITTED:
        end = log.last_stable_offset
    else:
        end = log.high_watermark
    if timestamp == SpecialTimestamp.LATEST:
        _require_settled(partition, isolation)
        return FoundOffset(NO_TIMESTAMP, end, partition.leader_epoch)
    found = yield from _look_up(clock, partition, log, timestamp)
    if found is None or (timestamp not in _PLACES and found.offset >= end):
        _require_settled(partition, isolation)
        return None
    if found.leader_epoch is None and found.offset == log.log_end_offset:
        # No record at this offset yet: the next one will have the leader's epoch.
        return found._replace(leader_epoch=partition.leader_epoch)
    return found


def _look_up(
    clock: Clock, partition: Partition, log: Log, timestamp: int
) -> _Work[FoundOffset | None]:
    lookup = offset_lookup(log, timestamp)
    started = clock.monotonic()
    found: TimestampOffset | None
    try:
        search = next(lookup)
        while True:
            try:
                found = search.run_inline()
            except OutputTooLargeError:
                found = yield search
            if clock.monotonic() - started > _STEP_SECONDS:
                yield None
                started = clock.monotonic()
            # Leadership may have moved meanwhile, and the log may be closed.
            partition.require_leader()
            if partition.require_log() is not log:
                raise KafkaError(
                    ErrorCode.NOT_LEADER_OR_FOLLOWER,
                    f"the log of {partition.name} was moved to another directory; try again",
                )
            search = lookup.send(found)
    except StopIteration as end:
        result: FoundOffset | None = end.value
        return result


def _require_settled(partition: Partition, isolation: Isolation | None) -> None:
    if isolation is not None and not partition.is_high_watermark_settled:
        raise KafkaError(
            ErrorCode.OFFSET_NOT_AVAILABLE,
            f"this node has just become the leader of {partition.name} and does not know its high "
            "watermark yet; try again",
        )

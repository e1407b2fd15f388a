"""Offsets committed and fetched, many at once, without members."""

from __future__ import annotations

import asyncio
from collections.abc import Iterator

from benchmarks.versus.wire_client import WireError, create_topics
from ottla.channels import Channel
from ottla.model import ErrorCode
from ottla.runtime.network import Address
from ottla.runtime.system_clock import SystemClock
from ottla.runtime.system_network import SystemNetwork
from ottla.wire.messages.find_coordinator import FindCoordinatorRequest
from ottla.wire.messages.offset_commit import (
    OffsetCommitRequest,
    OffsetCommitRequestPartition,
    OffsetCommitRequestTopic,
)
from ottla.wire.messages.offset_fetch import OffsetFetchRequest, OffsetFetchRequestGroup

TOPIC = "committed"
GROUPS = 100
PARTITIONS = 100
KEYS = GROUPS * PARTITIONS
# Versions that every Kafka 4 speaks, with names of topics.
_FIND_COORDINATOR_VERSION = 4
_COMMIT_VERSION = 8
_FETCH_VERSION = 8
_IN_FLIGHT = 20
_TIMEOUT_MS = 60_000
_PAUSE_S = 0.02
_NOT_YET = (
    ErrorCode.COORDINATOR_LOAD_IN_PROGRESS,
    ErrorCode.COORDINATOR_NOT_AVAILABLE,
    ErrorCode.NOT_COORDINATOR,
)


async def commit(address: str, count: int) -> None:
    """Commits round by round, all offsets in each, until so many are committed."""
    create_topics(address, [TOPIC], partitions=PARTITIONS)
    channel = await _connected(address)
    try:
        await _wait_coordinated(channel)
        waiting: list[asyncio.Future[object]] = []
        for request in _commits(count // KEYS):
            waiting.append(channel.send(request, _COMMIT_VERSION, timeout_ms=_TIMEOUT_MS))
            if len(waiting) == _IN_FLIGHT:
                _check(await asyncio.gather(*waiting))
                waiting.clear()
        _check(await asyncio.gather(*waiting))
    finally:
        channel.close()


async def wait_committed(address: str, count: int) -> None:
    """Returns when every offset is known as it was committed last."""
    channel = await _connected(address)
    try:
        for number in range(GROUPS):
            group = OffsetFetchRequestGroup(group_id=_group(number), topics=None)
            request = OffsetFetchRequest(groups=[group])
            while True:
                answer = await channel.send(request, _FETCH_VERSION, timeout_ms=_TIMEOUT_MS)
                (fetched,) = answer.groups
                if fetched.error_code not in _NOT_YET:
                    break
                await SystemClock().sleep(_PAUSE_S)
            offsets = [
                each.committed_offset for topic in fetched.topics for each in topic.partitions
            ]
            if offsets != [count // KEYS] * PARTITIONS:
                raise WireError(f"{_group(number)} has other offsets than it committed: {offsets}")
    finally:
        channel.close()


async def _connected(address: str) -> Channel:
    host, _, port = address.rpartition(":")
    return await Channel.connect(
        SystemNetwork(),
        SystemClock(),
        Address(host, int(port)),
        client_id="bench",
        timeout_ms=_TIMEOUT_MS,
    )


async def _wait_coordinated(channel: Channel) -> None:
    """The first who looks for a coordinator has its topic made; a commit shows that it is there."""
    request = FindCoordinatorRequest(key_type=0, coordinator_keys=[_group(0)])
    while True:
        answer = await channel.send(request, _FIND_COORDINATOR_VERSION, timeout_ms=_TIMEOUT_MS)
        if not answer.coordinators[0].error_code:
            request_now = next(_commits(1))
            committed = await channel.send(request_now, _COMMIT_VERSION, timeout_ms=_TIMEOUT_MS)
            code = committed.topics[0].partitions[0].error_code
            if code not in _NOT_YET:
                assert not code, ErrorCode(code).name
                return
        await SystemClock().sleep(_PAUSE_S)


def _commits(rounds: int) -> Iterator[OffsetCommitRequest]:
    for offset in range(1, rounds + 1):
        for number in range(GROUPS):
            yield OffsetCommitRequest(
                group_id=_group(number),
                topics=[
                    OffsetCommitRequestTopic(
                        name=TOPIC,
                        partitions=[
                            OffsetCommitRequestPartition(
                                partition_index=index, committed_offset=offset
                            )
                            for index in range(PARTITIONS)
                        ],
                    )
                ],
            )


def _group(number: int) -> str:
    return f"committing-{number}"


def _check(answers: list[object]) -> None:
    codes = {
        partition.error_code
        for answer in answers
        for topic in answer.topics  # type: ignore[attr-defined]
        for partition in topic.partitions
    }
    if codes - {0}:
        raise WireError(f"a commit was refused: {sorted(codes)}")

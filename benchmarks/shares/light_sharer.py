"""A member of a share group that decodes no records, so that the broker is what limits."""

from __future__ import annotations

import asyncio
import time
from collections.abc import Callable
from typing import Any, Final

from benchmarks.versus.wire_client import WireError
from ottla.channels import Channel
from ottla.model import ErrorCode, Uuid, uuid_to_text
from ottla.runtime.dice import SystemDice
from ottla.runtime.network import Address
from ottla.runtime.system_clock import SystemClock
from ottla.runtime.system_network import SystemNetwork
from ottla.shares.record_state import AcknowledgeType
from ottla.wire.messages import share_acknowledge as ack_wire
from ottla.wire.messages import share_fetch as fetch_wire
from ottla.wire.messages.find_coordinator import FindCoordinatorRequest
from ottla.wire.messages.share_group_heartbeat import ShareGroupHeartbeatRequest

# The versions of Apache Kafka 4.2 and newer.
HEARTBEAT_VERSION: Final = 1
VERSION: Final = 2
RECORDS_MAX: Final = 500
_STRICT: Final = 1
_FIND_VERSION: Final = 4
_TIMEOUT_MS: Final = 60_000
_PAUSE_S: Final = 0.05
_ACCEPT: Final = int(AcknowledgeType.ACCEPT)


class LightSharer:
    """One connection, which is closed by `close`."""

    def __init__(self, group: str, topic: str) -> None:
        self._group = group
        self._topic = topic
        self._member_id = uuid_to_text(SystemDice().uuid())
        self._epoch = 0
        self._topic_id = Uuid(bytes(16))
        self.partitions: list[int] = []
        # When the last acknowledgements were answered.
        self.acknowledged_at = 0.0
        self._channel: Channel | None = None

    async def join(self, address: str) -> None:
        """Returns with partitions."""
        host, _, port = address.rpartition(":")
        self._channel = await Channel.connect(
            SystemNetwork(),
            SystemClock(),
            Address(host, int(port)),
            client_id="bench",
            timeout_ms=_TIMEOUT_MS,
        )
        epoch = 0
        while not self.partitions:
            request = ShareGroupHeartbeatRequest(
                group_id=self._group,
                member_id=self._member_id,
                member_epoch=epoch,
                subscribed_topic_names=[self._topic] if epoch == 0 else None,
            )
            answer = await self._send(request, HEARTBEAT_VERSION)
            if answer.error_code:
                # A look for the coordinator makes its topic.
                find = FindCoordinatorRequest(key_type=0, coordinator_keys=[self._group])
                await self._send(find, _FIND_VERSION)
                await SystemClock().sleep(_PAUSE_S)
                continue
            epoch = answer.member_epoch
            for topic in answer.assignment.topic_partitions if answer.assignment else ():
                self._topic_id, self.partitions = topic.topic_id, list(topic.partitions)
            await SystemClock().sleep(_PAUSE_S)

    async def consume(self, take: Callable[[int], bool]) -> None:
        """Accepts what it gets with the next fetch, until `take`, which is called with the number
        of records, returns False."""
        acquired: list[tuple[int, list[Any]]] = []
        goes_on = True
        while goes_on or acquired:
            answer = await self.fetch(RECORDS_MAX, acquired, wait_ms=100)
            if acquired:
                self.acknowledged_at = time.perf_counter()
            acquired = [
                (found.partition_index, found.acquired_records)
                for topic in answer.responses
                for found in topic.partitions
                if found.acquired_records
            ]
            goes_on = take(
                sum(
                    each.last_offset - each.first_offset + 1
                    for _, ranges in acquired
                    for each in ranges
                )
            )

    async def acknowledgement_seconds(self) -> float | None:
        """Locks one record, and times its acknowledgement; None if there was none."""
        answer = await self.fetch(1, (), wait_ms=100, mode=_STRICT)
        for topic in answer.responses:
            for found in topic.partitions:
                if found.acquired_records:
                    return await self._acknowledge(found)
        return None

    async def _acknowledge(self, found: fetch_wire.PartitionData) -> float:
        (acquired,) = found.acquired_records
        batch = ack_wire.AcknowledgementBatch(
            first_offset=acquired.first_offset,
            last_offset=acquired.last_offset,
            acknowledge_types=[_ACCEPT],
        )
        partition = ack_wire.AcknowledgePartition(
            partition_index=found.partition_index, acknowledgement_batches=[batch]
        )
        request = ack_wire.ShareAcknowledgeRequest(
            group_id=self._group,
            member_id=self._member_id,
            share_session_epoch=self._epoch,
            topics=[ack_wire.AcknowledgeTopic(topic_id=self._topic_id, partitions=[partition])],
        )
        started = time.perf_counter()
        answer = await self._send(request, VERSION)
        seconds = time.perf_counter() - started
        self._epoch += 1
        codes = {each.error_code for topic in answer.responses for each in topic.partitions}
        _require(codes | {answer.error_code})
        return seconds

    async def fetch(
        self, records_max: int, acquired: Any, *, wait_ms: int, mode: int = 0
    ) -> fetch_wire.ShareFetchResponse:
        partitions = [
            fetch_wire.FetchPartition(
                partition_index=index,
                acknowledgement_batches=[
                    fetch_wire.AcknowledgementBatch(
                        first_offset=each.first_offset,
                        last_offset=each.last_offset,
                        acknowledge_types=[_ACCEPT],
                    )
                    for each in ranges
                ],
            )
            for index, ranges in acquired
        ]
        if self._epoch == 0:
            partitions = [fetch_wire.FetchPartition(partition_index=n) for n in self.partitions]
        request = fetch_wire.ShareFetchRequest(
            group_id=self._group,
            member_id=self._member_id,
            share_session_epoch=self._epoch,
            max_wait_ms=wait_ms,
            min_bytes=1,
            max_bytes=50 << 20,
            max_records=records_max,
            batch_size=records_max,
            share_acquire_mode=mode,
            topics=[fetch_wire.FetchTopic(topic_id=self._topic_id, partitions=partitions)]
            if partitions
            else [],
        )
        answer: fetch_wire.ShareFetchResponse = await self._send(request, VERSION)
        self._epoch += 1
        found = [each for topic in answer.responses for each in topic.partitions]
        _require({answer.error_code, *(each.acknowledge_error_code for each in found)})
        return answer

    async def _send(self, request: Any, version: int) -> Any:
        assert self._channel is not None
        return await self._channel.send(request, version, timeout_ms=_TIMEOUT_MS)

    def close(self) -> None:
        if self._channel is not None:
            self._channel.close()


async def join_all(sharers: list[LightSharer], address: str) -> None:
    await asyncio.gather(*(sharer.join(address) for sharer in sharers))


def _require(codes: set[int]) -> None:
    if codes - {0}:
        named = sorted(ErrorCode(code).name for code in codes - {0})
        raise WireError(f"a share group was refused: {named}")

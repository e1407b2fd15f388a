"""Where a share group begins in a partition that is new to it."""

from __future__ import annotations

import re
from collections.abc import Callable
from datetime import timedelta
from typing import Final

from ottla.broker.control.broker_peers import BrokerPeers, PeerLane
from ottla.broker.control.cluster_view import ClusterView
from ottla.channels import versions
from ottla.channels.errors import ChannelError
from ottla.model import ErrorCode, KafkaError
from ottla.replication.partition import Partition
from ottla.runtime.clock import Clock
from ottla.runtime.tasks import Tasks
from ottla.wire.messages import list_offsets as wire

_TIMEOUT_MS: Final = 10_000
_NO_REPLICA: Final = -1
_DURATION: Final = re.compile(
    r"P(?:(?P<days>\d+)D)?(?:T(?:(?P<hours>\d+)H)?(?:(?P<minutes>\d+)M)?(?:(?P<seconds>\d+)"
    r"(?:\.\d+)?S)?)?",
    re.IGNORECASE,
)

# Called with the offset, or with an error.
Found = Callable[[int | KafkaError], None]


class StartOffsets:
    """Owned by the node's loop. Its tasks end with the node's."""

    def __init__(
        self, cluster: ClusterView, peers: BrokerPeers, clock: Clock, tasks: Tasks
    ) -> None:
        self._cluster = cluster
        self._peers = peers
        self._clock = clock
        self._tasks = tasks

    def find(self, partition: Partition, offset_reset: str, found: Found) -> None:
        log = partition.log
        if log is None or not partition.is_leader:
            found(partition.not_leader())
        elif offset_reset == "earliest":
            found(log.log_start_offset)
        elif offset_reset == "latest":
            if partition.is_high_watermark_settled:
                found(log.high_watermark)
            else:
                found(
                    KafkaError(
                        ErrorCode.OFFSET_NOT_AVAILABLE,
                        f"the high watermark of {partition.name} is not known yet; try again",
                    )
                )
        elif not self._tasks.is_closed:
            timestamp = self._clock.now_ms() - milliseconds_of(offset_reset)
            work = self._look_up(partition, timestamp, found)
            self._tasks.start(f"find start offset of {partition.name}", work)

    async def _look_up(self, partition: Partition, timestamp: int, found: Found) -> None:
        """Asks this node itself: ListOffsets searches the log in steps."""
        name = partition.name
        requested = wire.ListOffsetsPartition(
            partition_index=name.partition, timestamp=max(timestamp, 0)
        )
        request = wire.ListOffsetsRequest(
            replica_id=_NO_REPLICA,
            topics=[wire.ListOffsetsTopic(name=name.topic, partitions=[requested])],
            timeout_ms=_TIMEOUT_MS,
        )
        try:
            response = await self._peers.send(
                self._cluster.node_id,
                PeerLane.SHARES,
                request,
                versions.LIST_OFFSETS,
                timeout_ms=_TIMEOUT_MS,
            )
        except ChannelError as error:
            found(KafkaError(ErrorCode.NETWORK_EXCEPTION, str(error)))
            return
        answer = response.topics[0].partitions[0]
        if answer.error_code:
            found(KafkaError(ErrorCode(answer.error_code), "the start offset was not found"))
        elif answer.offset < 0 and partition.log is not None:
            # All records are older.
            found(partition.log.high_watermark)
        else:
            found(answer.offset)


def milliseconds_of(offset_reset: str) -> int:
    """The duration of `by_duration:PnDTnHnMn.nS`, which was validated when it was set."""
    match = _DURATION.fullmatch(offset_reset.partition(":")[2])
    if match is None:
        return 0
    parts = {name: int(text) for name, text in match.groupdict("0").items()}
    return int(timedelta(**parts).total_seconds() * 1_000)

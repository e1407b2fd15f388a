"""A member of a share group: fetches records of its partitions, and accepts or releases them.

Each partition has its own task with its own share session. Some records are released, rejected, or
kept until their lock ends.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any, Final, NamedTuple, TypeVar

from ottla.channels.errors import ChannelError
from ottla.model import ErrorCode, TopicPartition, Uuid, uuid_to_text
from ottla.runtime.network import Address
from ottla.shares.retry_delay import put_delay
from ottla.simulation.clients.cluster_client import ClusterClient
from ottla.simulation.clients.group_coordinator import CoordinatorClient
from ottla.simulation.history.history import Event
from ottla.simulation.history.share_events import (
    ShareAsked,
    ShareDelivered,
    ShareFinished,
    ShareSettled,
)
from ottla.simulation.world.host import Host
from ottla.wire.messages import share_acknowledge as ack_wire
from ottla.wire.messages import share_fetch as fetch_wire
from ottla.wire.messages.share_group_heartbeat import ShareGroupHeartbeatRequest

DELIVERY_LIMIT: Final = 8
# Each record with this remainder is released until it is archived.
_POISON_EVERY: Final = 30
_POISON: Final = 7
_HEARTBEAT_VERSION: Final = 1
_VERSION: Final = 2
_JOINING: Final = 0
_FENCED: Final = frozenset(
    {ErrorCode.UNKNOWN_MEMBER_ID, ErrorCode.FENCED_MEMBER_EPOCH, ErrorCode.GROUP_ID_NOT_FOUND}
)
# Short, as a member asks for one partition after the other.
_WAIT_MS: Final = 100
_TIMEOUT_MS: Final = 20_000
_ACCEPT, _RELEASE, _REJECT = 1, 2, 3
_RELEASE_PROBABILITY: Final = 0.1
_REJECT_PROBABILITY: Final = 0.03
_KEEP_PROBABILITY: Final = 0.04
_PIGGYBACK_PROBABILITY: Final = 0.5
_THINK_MS_MAX: Final = 300
_FETCHES_MAX: Final = 1_000_000
_DELAY_PROBABILITY: Final = 0.2
_DELAYS_MS: Final = (0, 100, 2_000)
_Batch = TypeVar("_Batch", ack_wire.AcknowledgementBatch, fetch_wire.AcknowledgementBatch)


def is_poison(offset: int) -> bool:
    """Whether no member ever accepts the record at this offset."""
    return offset % _POISON_EVERY == _POISON


class Taken(NamedTuple):
    """Acknowledgements that are to be sent: for each offset from the first on, its type and its
    delivery count."""

    first: int
    types: list[int]
    counts: list[int]

    @property
    def last(self) -> int:
        return self.first + len(self.types) - 1


class ShareProgress:
    """What a group has done, over all members. An acknowledgement without a response may have been
    stored."""

    def __init__(self) -> None:
        self.done: dict[TopicPartition, set[int]] = {}

    def add(self, partition: TopicPartition, offset: int) -> None:
        self.done.setdefault(partition, set()).add(offset)


class SimulatedShareMember:
    def __init__(
        self,
        host: Host,
        bootstrap: Sequence[Address],
        record: Callable[[Event], None],
        progress: ShareProgress,
        *,
        group: str,
        topic: str,
        is_over: Callable[[], bool],
    ) -> None:
        self.host = host
        self.name = host.name
        self.record = record
        self.progress = progress
        self.group = group
        self.topic = topic
        self.is_over = is_over
        self.dice = host.dice.fork("share member")
        self._coordinator = CoordinatorClient(host, bootstrap, group, name=f"{host.name} group")
        self.client = ClusterClient(host, bootstrap, name=host.name)
        self.member_id = uuid_to_text(self.dice.uuid())
        self._working: set[int] = set()
        self._assigned: set[int] = set()
        self._sessions = 0

    async def run(self) -> None:
        epoch = _JOINING
        while True:
            request = ShareGroupHeartbeatRequest(
                group_id=self.group,
                member_id=self.member_id,
                member_epoch=epoch,
                subscribed_topic_names=[self.topic] if epoch == _JOINING else None,
            )
            response = await self._coordinator.send_request(
                request, _HEARTBEAT_VERSION, timeout_ms=_TIMEOUT_MS
            )
            if response is None:
                await self._coordinator.back_off()
                continue
            error = self._coordinator.handle_error(response.error_code)
            if error is ErrorCode.NONE:
                epoch = response.member_epoch
                if response.assignment is not None:
                    self._assign(response.assignment)
                await self.host.clock.sleep(response.heartbeat_interval_ms / 1_000)
                continue
            if error in _FENCED:
                epoch = _JOINING
            await self._coordinator.back_off()

    def _assign(self, assignment: Any) -> None:
        self._assigned = set()
        for topic in assignment.topic_partitions:
            for index in topic.partitions:
                self._assigned.add(index)
                if index not in self._working:
                    self._working.add(index)
                    work = self._work(TopicPartition(self.topic, index), topic.topic_id)
                    self.host.run(f"share {index}", work)

    async def _work(self, partition: TopicPartition, topic_id: Uuid) -> None:
        self._sessions += 1
        session = _Session(self, partition, topic_id, self._sessions * _FETCHES_MAX)
        try:
            while partition.partition in self._assigned:
                await session.turn()
            await session.end()
        finally:
            self._working.discard(partition.partition)


class _Session:
    """A share session of a member with the leader of one partition."""

    def __init__(
        self,
        member: SimulatedShareMember,
        partition: TopicPartition,
        topic_id: Uuid,
        number: int,
    ) -> None:
        self._member = member
        self._partition = partition
        self._topic_id = topic_id
        self._member_id = f"{member.member_id}/{partition.partition}"
        self._epoch = 0
        self._taken: list[Taken] = []
        self._number = number

    async def turn(self) -> None:
        """Fetches once, and acknowledges at once or with the next fetch."""
        member = self._member
        if self._epoch and self._taken and not member.dice.chance(_PIGGYBACK_PROBABILITY):
            await self._acknowledge()
        taken = self._taken if self._epoch else []
        self._taken = []
        partition = fetch_wire.FetchPartition(
            partition_index=self._partition.partition,
            acknowledgement_batches=[
                self._delayed(
                    fetch_wire.AcknowledgementBatch(
                        first_offset=each.first, last_offset=each.last, acknowledge_types=each.types
                    )
                )
                for each in taken
            ],
        )
        request = fetch_wire.ShareFetchRequest(
            group_id=member.group,
            member_id=self._member_id,
            share_session_epoch=self._epoch,
            max_wait_ms=_WAIT_MS,
            min_bytes=1,
            max_records=member.dice.choice((1, 5, 100)),
            batch_size=100,
            share_acquire_mode=member.dice.below(2),
            topics=[fetch_wire.FetchTopic(topic_id=self._topic_id, partitions=[partition])],
        )
        self._number += 1
        member.record(ShareAsked(member.name, self._partition, self._number))
        response = await self._send(request)
        self._sent(taken)
        if response is None:
            return
        for topic in response.responses:
            for found in topic.partitions:
                if not found.acknowledge_error_code:
                    self._finished(taken)
                if found.error_code:
                    await self._lose()
                    return
                for each in found.acquired_records:
                    member.record(
                        ShareDelivered(
                            member.name,
                            self._partition,
                            each.first_offset,
                            each.last_offset,
                            each.delivery_count,
                            self._number,
                        )
                    )
                    self._decide(each.first_offset, each.last_offset, each.delivery_count)
        if self._taken:
            seconds = member.dice.between(low=0, high=_THINK_MS_MAX) / 1_000
            await member.host.clock.sleep(seconds)

    def _decide(self, first: int, last: int, count: int) -> None:
        dice, is_over = self._member.dice, self._member.is_over()
        if not is_over and dice.chance(_KEEP_PROBABILITY):
            for offset in range(first, last + 1) if count >= DELIVERY_LIMIT else ():
                self._settle(offset)
            return
        types = []
        for offset in range(first, last + 1):
            if is_poison(offset):
                types.append(_RELEASE)
            elif is_over:
                types.append(_ACCEPT)
            elif dice.chance(_RELEASE_PROBABILITY):
                types.append(_RELEASE)
            else:
                types.append(_REJECT if dice.chance(_REJECT_PROBABILITY) else _ACCEPT)
        self._taken.append(Taken(first, types, [count] * len(types)))

    async def _acknowledge(self) -> None:
        taken, self._taken = self._taken, []
        partition = ack_wire.AcknowledgePartition(
            partition_index=self._partition.partition,
            acknowledgement_batches=[
                self._delayed(
                    ack_wire.AcknowledgementBatch(
                        first_offset=each.first, last_offset=each.last, acknowledge_types=each.types
                    )
                )
                for each in taken
            ],
        )
        request = ack_wire.ShareAcknowledgeRequest(
            group_id=self._member.group,
            member_id=self._member_id,
            share_session_epoch=self._epoch,
            topics=[ack_wire.AcknowledgeTopic(topic_id=self._topic_id, partitions=[partition])],
        )
        response = await self._send(request)
        self._sent(taken)
        if response is not None:
            for topic in response.responses:
                if not topic.partitions[0].error_code:
                    self._finished(taken)

    def _delayed(self, batch: _Batch) -> _Batch:
        """With a retry delay for the records that it releases, sometimes."""
        if self._member.dice.chance(_DELAY_PROBABILITY):
            put_delay(batch, self._member.dice.choice(_DELAYS_MS))
        return batch

    def _sent(self, taken: Sequence[Taken]) -> None:
        """These acknowledgements may be stored now."""
        for each in taken:
            for at, kind in enumerate(each.types):
                if kind != _RELEASE or each.counts[at] >= DELIVERY_LIMIT:
                    self._settle(each.first + at)

    def _settle(self, offset: int) -> None:
        """The record may be done now."""
        member = self._member
        member.record(ShareSettled(member.name, self._partition, offset))
        member.progress.add(self._partition, offset)

    def _finished(self, taken: Sequence[Taken]) -> None:
        member = self._member
        for each in taken:
            for at, kind in enumerate(each.types):
                if kind != _RELEASE:
                    done = ShareFinished(
                        member.name, self._partition, each.first + at, each.counts[at]
                    )
                    member.record(done)

    async def end(self) -> None:
        """Ends the session; what is still locked is released."""
        if self._epoch:
            self._epoch = -1
            await self._acknowledge()

    async def _send(self, request: Any) -> Any | None:
        """The response, or None after an error; then the session begins again."""
        client = self._member.client
        leader = await client.wait_leader(self._partition)
        try:
            response = await client.send_to_node(
                leader.node_id, request, _VERSION, timeout_ms=_TIMEOUT_MS
            )
        except ChannelError:
            await self._lose()
            return None
        if response.error_code:
            await self._lose()
            return None
        self._epoch += 1
        return response

    async def _lose(self) -> None:
        self._epoch = 0
        self._taken = []
        await self._member.client.forget_leader(self._partition)

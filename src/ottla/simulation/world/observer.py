"""Inspects a node after each of its steps and records events for the checkers.

It records only facts that can conflict with those of other nodes: leaders, votes, metadata images
and committed records.
"""

from __future__ import annotations

import hashlib
from collections.abc import Callable, Iterable, Iterator
from dataclasses import fields, is_dataclass
from typing import Any, Final

from ottla.broker.broker import Broker
from ottla.metadata import MetadataImage
from ottla.model import Uuid, uuid_to_text
from ottla.raft import LeaderAndEpoch
from ottla.raft.states import State
from ottla.simulation.history.history import (
    Event,
    ImageSeen,
    PartitionLed,
    QuorumLeaderSeen,
    ReplicaHas,
    VoteSeen,
)
from ottla.simulation.world.node import SimulatedNode
from ottla.wire.errors import ProtocolError
from ottla.wire.records.batch import iterate_batches
from ottla.wire.records.header import BatchHeader
from ottla.wire.records.record import iterate_records
from ottla.wire.schema import Struct

_PARTITIONS_EVERY_SECONDS: Final = 0.02
_NOT_COMPARED: Final = ("_", "dlq.")
_IMAGES_SKIPPED: Final = 4
_READ_BYTES: Final = 1 << 24


class Observer:
    """Observes one node across all of its processes."""

    def __init__(
        self,
        simulated: SimulatedNode,
        *,
        on_broker: Callable[[Broker], None] = lambda _broker: None,
    ) -> None:
        """`on_broker` is called when a process has created its broker."""
        self._simulated = simulated
        self._on_broker = on_broker
        # The broker of the process that the following attributes describe.
        self._broker: Broker | None = None
        # The state of the quorum replica: a new object after every change.
        self._state: object = None
        self._offset = -1
        # The last candidate it voted for, and the epoch of that vote.
        self.vote: tuple[int, int] | None = None
        self._led: dict[tuple[Uuid, int], int] = {}
        self._next_look = 0.0
        self._scheduler = simulated.scheduler
        simulated.observe = self.look

    def look(self) -> None:
        broker = getattr(self._simulated.node, "broker", None)
        if broker is not self._broker:
            self._broker, self._state, self._offset = broker, None, -1
            if broker is not None:
                self._quorum = broker.service.controller.quorum
                # An observer has to read private state here.
                self._raft = self._quorum.raft._quorum  # noqa: SLF001
                self._metadata = self._quorum.metadata
                self._on_broker(broker)
        if broker is None:
            return
        state = self._raft.state
        if state is not self._state:
            self._state = state
            self._look_at_quorum(self._quorum.leader_and_epoch, state)
        offset, now = self._metadata.end_offset, self._scheduler.now
        if offset != self._offset:
            self._offset, self._next_look = offset, now
            # Digesting an image is expensive, so most are skipped; `record_replicas` records the
            # last one.
            if offset % _IMAGES_SKIPPED == 0:
                self._look_at_image(broker)
        if now >= self._next_look:
            self._next_look = now + _PARTITIONS_EVERY_SECONDS
            self._look_at_partitions(broker)

    @property
    def broker(self) -> Broker | None:
        """None if no process has created a broker yet."""
        return getattr(self._simulated.node, "broker", None)

    def record_replicas(self) -> None:
        """Records the content of all replicas on this node, up to their log end offsets."""
        broker = self.broker
        if broker is None:
            return
        self._look_at_image(broker)
        for partition in sorted(broker.partitions, key=lambda each: each.name):
            log = partition.log
            # Internal topics are checked indirectly, by the responses that clients get; dead
            # letters by a claim of their own.
            if log is not None and not partition.name.topic.startswith(_NOT_COMPARED):
                self._record(ReplicaHas(self._name, partition.name, _records(log)))

    def _look_at_quorum(self, leader: LeaderAndEpoch, state: State) -> None:
        if leader.leader_id is not None:
            self._record(QuorumLeaderSeen(self._name, leader.leader_id, leader.epoch))
        voted = getattr(state, "voted", None)
        if voted is not None and (voted.id, state.epoch) != self.vote:
            self.vote = (voted.id, state.epoch)
            self._record(VoteSeen(self._name, voted.id, state.epoch))

    def _look_at_image(self, broker: Broker) -> None:
        metadata = broker.metadata
        if not metadata.is_in_transaction:
            digest = image_digest(broker.cluster.image)
            self._record(ImageSeen(self._name, metadata.end_offset, digest))

    def _look_at_partitions(self, broker: Broker) -> None:
        for partition in broker.partitions:
            if not partition.is_leader or partition.partition_epoch < 0:
                continue
            name, epoch = partition.name, partition.leader_epoch
            key = (partition.topic_id, name.partition)
            if self._led.get(key) != epoch:
                self._led[key] = epoch
                topic_id = uuid_to_text(partition.topic_id)
                self._record(PartitionLed(self._name, name, topic_id, self._simulated.id, epoch))

    @property
    def _name(self) -> str:
        return self._simulated.name

    def _record(self, event: Event) -> None:
        self._simulated.record(event)


def _records(log: Any) -> tuple[tuple[int, int, bytes], ...]:
    found: list[tuple[int, int, bytes]] = []
    offset = log.log_start_offset
    while offset < log.log_end_offset:
        piece = log.read(
            offset, bytes_max=_READ_BYTES, upper_offset=log.log_end_offset, min_one_batch=True
        )
        if piece is None:
            break
        buffer = memoryview(piece.read())
        for position, header in iterate_batches(buffer):
            if not header.is_control:
                found += _values(buffer, position, header)
            offset = header.next_offset
    return tuple(found)


def _values(
    buffer: memoryview, position: int, header: BatchHeader
) -> Iterator[tuple[int, int, bytes]]:
    """The records of a batch; for a damaged batch a value that no producer has sent."""
    try:
        for record in iterate_records(buffer, position):
            yield record.offset, header.leader_epoch, record.value or b""
    except ProtocolError as error:
        yield header.base_offset, header.leader_epoch, str(error).encode()


def image_digest(image: MetadataImage) -> str:
    """A digest of an image. Equal for equal content, independent of the order of changes."""
    return hashlib.blake2b(_canonical(image).encode(), digest_size=6).hexdigest()


def _canonical(value: Any) -> str:
    if isinstance(value, dict):
        pairs = sorted((repr(_plain(key)), _canonical(each)) for key, each in value.items())
        return f"{{{pairs}}}"
    if isinstance(value, set | frozenset):
        return repr(sorted(map(_canonical, value)))
    if is_dataclass(value) and not isinstance(value, type):
        return _joined(
            f"{field.name}={_canonical(getattr(value, field.name))}"
            for field in fields(value)
            if field.compare
        )
    if isinstance(value, Struct):
        # A record's own text hides secrets and shows which enum a code is of.
        return _joined(f"{name}={_plain(getattr(value, name))!r}" for name in value.field_options)
    return repr(value)


def _plain(value: Any) -> Any:
    """The value of a record's field or of a key, of the type that it has after decoding."""
    if type(value) is tuple:
        return tuple(map(_plain, value))
    if isinstance(value, memoryview):
        return bytes(value)
    return int(value) if isinstance(value, int) else value


def _joined(texts: Iterable[str]) -> str:
    return f"({', '.join(texts)})"

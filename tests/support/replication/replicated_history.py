"""Three replicas of one partition through whatever may happen to them, by chance.

Everything between them is delayed, in any order: metadata, fetches and their answers, proposals and
theirs. Nodes die at any time, by a signal or, where every append is synced before it counts, with
their power. What was acknowledged or could be read must be in the log of every leader from then
on, at the same offset and byte by byte. The same seed plays the same history again.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import NamedTuple

from ottla.model import ErrorCode, KafkaError, LeaderEpoch, NodeId, Uuid
from ottla.replication.fetched_partition import FetchedPartition
from ottla.replication.following import (
    apply_fetched,
    fetch_position,
    restart_in_range,
    truncate_to_agree,
)
from ottla.replication.isr_change import (
    CommittedIsr,
    IsrChange,
    ProposingPartition,
)
from ottla.replication.leadership import LeaderContext
from ottla.replication.partition import ACKS_ALL, FetchingFollower, Isolation, Partition
from ottla.simulation.disk.disk import SimulatedDisk
from ottla.simulation.seams.dice import SeededDice
from ottla.storage.epochs.epoch_cache import EpochEnd
from ottla.storage.log.log import Log
from ottla.storage.log_config import LogConfig
from ottla.wire.messages.fetch import EpochEndOffset, FetchPartition, PartitionData
from tests.support.controller.isr_controller import NODES, IsrController
from tests.support.storage.batches import batch_of
from tests.support.storage.log_checks import all_batches, assert_sound
from tests.support.storage.logs import NOW_MS, PARTITION, opened

TOPIC_ID = Uuid(b"t" * 16)
LAG_MAX_MS = 1_000
MIN_ISR = 2
STEPS = 600
CONFIG = LogConfig(segment_bytes=1_500, index_interval_bytes=200)


class Request(NamedTuple):
    """A fetch on its way to the node that the follower considers the leader."""

    follower: Node
    incarnation: int
    fetched: FetchedPartition
    leader: int
    requested: FetchPartition
    sender: FetchingFollower


class Node:
    """One broker with its disk. The partition is made anew in every life."""

    def __init__(self, history: ReplicatedHistory, node_id: int) -> None:
        self._history = history
        self.id = node_id
        self.broker_epoch = node_id
        self.disk = SimulatedDisk()
        self.version = -1
        self.incarnation = 0
        self.is_alive = False
        self.fetched: FetchedPartition | None = None
        self.partition: Partition
        self.start()

    def start(self) -> None:
        self.is_alive = True
        self.incarnation += 1
        self.partition = Partition(
            PARTITION, TOPIC_ID, leader=NodeId(-1), leader_epoch=LeaderEpoch(-1)
        )
        self.partition.is_leader = False
        self.partition.min_insync_replicas = MIN_ISR
        self.partition.log = opened(self.disk, CONFIG)

    @property
    def log(self) -> Log:
        return self.partition.require_log()

    def learn(self) -> None:
        """Applies the next version of the metadata."""
        self.version += 1
        registration = self._history.controller.versions[self.version].registration
        if registration.leader == self.id:
            context = LeaderContext(
                NodeId(self.id),
                lambda: self.broker_epoch,
                lambda node_id: self._history.controller.versions[self.version].brokers[node_id],
                self._history,
                LAG_MAX_MS,
            )
            was_leader = self.partition.is_leader
            epoch = self.partition.leader_epoch
            self.partition.become_leader(registration, context, now_ms=self._history.now_ms)
            if not was_leader or self.partition.leader_epoch != epoch:
                self.fetched = None
                self._history.new_leader(self)
        elif self.partition.become_follower(registration) or self.fetched is None:
            self.fetched = FetchedPartition(self.partition)

    def apply(self, request: Request, data: PartitionData) -> None:
        """As a fetcher does, in one go."""
        if not (self.is_alive and request.fetched is self.fetched and self.fetched.is_current):
            return
        # A fetcher has one request under way; here there may be several for the same place.
        if request.requested != fetch_position(
            self.partition, bytes_max=request.requested.partition_max_bytes
        ):
            return
        if data.error_code == ErrorCode.OFFSET_OUT_OF_RANGE:
            leader = self._history.nodes[request.leader]
            if leader.is_alive and leader.partition.leader_epoch == self.partition.leader_epoch:
                restart_in_range(
                    self.partition,
                    leader_start=leader.log.log_start_offset,
                    leader_end=leader.log.log_end_offset,
                    now_ms=NOW_MS,
                )
        elif data.error_code == ErrorCode.NONE:
            if data.diverging_epoch is not None:
                end = EpochEnd(data.diverging_epoch.epoch, data.diverging_epoch.end_offset)
                assert end.end_offset >= 0
                committed = 0 if self._history.loses_power else self.log.high_watermark
                truncate_to_agree(self.partition, end, now_ms=NOW_MS)
                assert self.log.log_end_offset >= committed, "cut below the high watermark"
            else:
                apply_fetched(self.partition, data, now_ms=NOW_MS)


class ReplicatedHistory:
    """`run` plays it. Also the `IsrChanges` of its nodes."""

    def __init__(self, seed: int | str, *, loses_power: bool = False) -> None:
        self.dice = SeededDice(seed)
        self.loses_power = loses_power
        self.now_ms = 0
        self.controller = IsrController()
        # Batches that must not be lost, by offset.
        self.promised: dict[int, bytes] = {}
        self.acknowledged = 0
        self.elections = 0
        self.truncations = 0
        self._sent = 0
        self._high_watermarks: dict[tuple[int, int, int], int] = {}
        self._network: list[Callable[[], None]] = []
        self._unnoticed: list[int] = []
        self.nodes = {each: Node(self, each) for each in NODES}

    def run(self) -> None:
        steps: list[tuple[int, Callable[[], None]]] = [
            (20, self._append),
            (40, self._fetch),
            (80, self._deliver),
            (20, self._learn),
            (8, self._pass_time),
            (2, self._die),
            (4, self._notice),
            (4, self._come_back),
            (2, self._elect),
        ]
        weighted = [step for weight, step in steps for _ in range(weight)]
        for _ in range(STEPS):
            self.dice.choice(weighted)()
            self._look()
        self._heal()

    def propose(self, partition: ProposingPartition, change: IsrChange) -> None:
        node = next(each for each in self.nodes.values() if each.partition is partition)
        incarnation = node.incarnation

        def answer(answered: CommittedIsr | ErrorCode) -> None:
            if not node.is_alive or node.incarnation != incarnation:
                return
            if isinstance(answered, CommittedIsr):
                partition.isr_change_committed(change, answered)
            else:
                partition.isr_change_refused(change, answered)

        def send() -> None:
            answered = self.controller.alter_partition(node.id, change)
            self._network.append(lambda: answer(answered))

        self._network.append(send)

    def new_leader(self, node: Node) -> None:
        self.elections += 1
        if node.partition.leader_epoch < self.controller.registration.leader_epoch:
            # It does not know yet that it was deposed, and cannot commit anything.
            return
        batches: dict[int, bytes] = {
            each.header.base_offset: each.data for each in all_batches(node.log)
        }
        for offset, batch in self.promised.items():
            assert batches.get(offset) == batch, f"node {node.id} leads without offset {offset}"

    # ---- steps

    def _alive(self) -> list[Node]:
        return [each for each in self.nodes.values() if each.is_alive]

    def _append(self) -> None:
        leaders = [each for each in self._alive() if each.partition.is_leader]
        if not leaders:
            return
        node = self.dice.choice(leaders)
        self._sent += 1
        batch = batch_of(b"%d" % self._sent * self.dice.choice((1, 20)))
        acks = self.dice.choice((ACKS_ALL, 1))
        try:
            result = node.partition.append(batch, now_ms=NOW_MS, acks=acks)
        except KafkaError as error:
            if error.code is not ErrorCode.NOT_ENOUGH_REPLICAS:
                raise
            return
        if acks == ACKS_ALL:

            def acknowledged(error: ErrorCode) -> None:
                if error is ErrorCode.NONE:
                    if self.loses_power:
                        node.log.flush()
                    self.acknowledged += 1
                    self._promise(result.first_offset, bytes(batch))

            node.partition.when_acknowledged(result.last_offset + 1, acknowledged)

    def _promise(self, offset: int, batch: bytes) -> None:
        assert self.promised.setdefault(offset, batch) == batch, f"two records at {offset}"

    def _fetch(self) -> None:
        node = self.dice.choice(list(self.nodes.values()))
        fetched = node.fetched
        if not node.is_alive or fetched is None or not fetched.is_current:
            return
        leader = node.partition.leader
        if leader not in self.nodes:
            return
        if self.loses_power:
            node.log.flush()
        requested = fetch_position(node.partition, bytes_max=self.dice.choice((1, 500, 10_000)))
        sender = FetchingFollower(node.id, node.broker_epoch)
        request = Request(node, node.incarnation, fetched, leader, requested, sender)
        self._network.append(lambda: self._serve(request))

    def _serve(self, request: Request) -> None:
        leader = self.nodes[request.leader]
        if not leader.is_alive:
            return
        requested = request.requested
        data = PartitionData(partition_index=requested.partition)
        try:
            leader.partition.record_follower_fetch(request.sender, requested, now_ms=self.now_ms)
            read = leader.partition.read_for_follower(
                request.sender,
                requested,
                bytes_max=requested.partition_max_bytes,
                min_one_batch=True,
            )
        except KafkaError as error:
            data.error_code = error.code
        else:
            data.high_watermark = read.high_watermark
            data.log_start_offset = read.log_start_offset
            data.records = None if read.records is None else bytearray(read.records.read())
            if read.diverging_epoch is not None:
                self.truncations += 1
                data.diverging_epoch = EpochEndOffset(
                    epoch=read.diverging_epoch.epoch, end_offset=read.diverging_epoch.end_offset
                )
        follower = request.follower
        if follower.incarnation == request.incarnation:
            self._network.append(lambda: follower.apply(request, data))

    def _deliver(self) -> None:
        if self._network:
            self._network.pop(self.dice.below(len(self._network)))()

    def _learn(self) -> None:
        node = self.dice.choice(list(self.nodes.values()))
        if node.is_alive and node.version + 1 < len(self.controller.versions):
            node.learn()

    def _pass_time(self) -> None:
        self.now_ms += self.dice.below(LAG_MAX_MS)
        for node in self._alive():
            node.partition.maybe_shrink_isr(now_ms=self.now_ms)

    def _die(self) -> None:
        node = self.dice.choice(list(self.nodes.values()))
        if not node.is_alive:
            return
        node.is_alive = False
        self._unnoticed.append(node.id)
        if self.loses_power:
            node.disk.crash(self.dice)
        else:
            node.disk.kill()

    def _notice(self) -> None:
        if self._unnoticed:
            self.controller.fence(self._unnoticed.pop(0))

    def _come_back(self) -> None:
        for node in self.nodes.values():
            if not node.is_alive:
                if node.id in self._unnoticed:
                    self._unnoticed.remove(node.id)
                node.broker_epoch = self.controller.register(node.id)
                node.start()
                # A broker acts on nothing older than its own registration: it may have led under
                # that, and have lost what it appended then.
                node.version = len(self.controller.versions) - 2
                node.fetched = None
                return

    def _elect(self) -> None:
        self.controller.elect(self.dice.choice(NODES))

    # ---- claims

    def _look(self) -> None:
        for node in self._alive():
            partition = node.partition
            if not partition.is_leader:
                continue
            high_watermark = node.log.high_watermark
            life = (node.id, node.incarnation, partition.leader_epoch)
            before = self._high_watermarks.get(life, 0)
            assert high_watermark >= before, f"the high watermark of {life} goes back"
            self._high_watermarks[life] = high_watermark
            while before < high_watermark:
                before = self._consume(node, before)

    def _consume(self, node: Node, offset: int) -> int:
        """Reads a committed batch, which must not be lost from now on."""
        read = node.partition.read(
            offset, bytes_max=1, isolation=Isolation.READ_UNCOMMITTED, min_one_batch=True
        )
        assert read.records is not None
        if self.loses_power:
            # Only what is acknowledged was promised to be on the device of the leader too.
            return offset + 1
        self._promise(offset, bytes(read.records.read()))
        return offset + 1

    def _heal(self) -> None:
        """All replicas are back and get all metadata; then their logs are equal and complete."""
        while any(not each.is_alive for each in self.nodes.values()):
            self._come_back()
        for _ in range(60):
            for node in self.nodes.values():
                while node.version + 1 < len(self.controller.versions):
                    node.learn()
                self.now_ms += 1
            for _ in NODES:
                self._fetch()
            while self._network:
                self._network.pop(0)()
            self._look()
            if len(self.controller.registration.isr) == len(NODES) and self._are_even():
                break
        leader = self.nodes[self.controller.registration.leader]
        content = [each.data for each in all_batches(leader.log)]
        assert len(self.controller.registration.isr) == len(NODES), "not all are in sync again"
        for node in self.nodes.values():
            assert [each.data for each in all_batches(node.log)] == content
            assert_sound(node.log)
        for offset, batch in self.promised.items():
            assert content[offset] == batch

    def _are_even(self) -> bool:
        logs = [each.log for each in self.nodes.values()]
        return (
            len({offset for log in logs for offset in (log.log_end_offset, log.high_watermark)})
            == 1
        )

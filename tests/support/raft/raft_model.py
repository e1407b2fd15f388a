"""A quorum under a seed's worth of trouble, and what must hold after every step of it.

Packets are lost, delayed, reordered and sent twice; replicas crash, lose what they had not flushed
and come back; the network splits; logs are cut in favour of snapshots; voters come and go. Chance
picks every step, so a seed is a history.
"""

from __future__ import annotations

import random  # noqa: TID251  the seed's own
from dataclasses import dataclass, field, replace

from ottla.raft.states import Leader, Resigned
from ottla.runtime.dice import RandomDice
from ottla.wire.messages.add_raft_voter import AddRaftVoterRequest, Listener
from ottla.wire.messages.api_versions import ApiVersionsRequest
from ottla.wire.messages.remove_raft_voter import RemoveRaftVoterRequest
from ottla.wire.schema import Message
from tests.support.raft.raft_log import Entry, ReplicaDisk
from tests.support.raft.raft_replica import (
    API_VERSIONS,
    CLUSTER_ID,
    Packet,
    Replica,
    config,
    formatted_disk,
    voter,
    voter_set,
)


class InvariantError(AssertionError):
    """One of the claims below does not hold."""


@dataclass
class Invariants:
    """What is remembered of the history so far."""

    leaders: dict[int, int] = field(default_factory=dict)
    committed: list[Entry] = field(default_factory=list)
    high_watermarks: dict[int, int] = field(default_factory=dict)

    def check(self, replica: Replica, disks: dict[int, ReplicaDisk]) -> None:
        self._single_leader_per_epoch(replica)
        self._monotonic_high_watermark(replica)
        self._leader_commits_in_its_epoch(replica)
        self._committed_is_on_majority(replica, disks)
        self._committed_is_never_lost(replica)

    def forget(self, node_id: int) -> None:
        """A replica that restarts does not know what was committed."""
        self.high_watermarks.pop(node_id, None)

    def _single_leader_per_epoch(self, replica: Replica) -> None:
        state = replica.raft.state
        if isinstance(state, Leader | Resigned):
            leader = self.leaders.setdefault(state.epoch, replica.id)
            if leader != replica.id:
                raise InvariantError(f"{leader} and {replica.id} both lead epoch {state.epoch}")

    def _monotonic_high_watermark(self, replica: Replica) -> None:
        now, before = replica.raft.high_watermark, self.high_watermarks.get(replica.id)
        if before is not None and (now is None or now < before):
            raise InvariantError(f"the high watermark of {replica.id} went from {before} to {now}")
        if now is not None:
            self.high_watermarks[replica.id] = now

    def _leader_commits_in_its_epoch(self, replica: Replica) -> None:
        """Older records are committed by what comes after them only (Raft, 5.4.2)."""
        state = replica.raft.state
        if not isinstance(state, Leader) or state.progress.high_watermark is None:
            return
        last = replica.disk.log.all_entries()[state.progress.high_watermark - 1]
        if last.epoch != state.epoch:
            raise InvariantError(f"{replica.id} commits {last} of epoch {last.epoch}")

    def _committed_is_on_majority(self, replica: Replica, disks: dict[int, ReplicaDisk]) -> None:
        high_watermark = replica.raft.high_watermark or 0
        if not isinstance(replica.raft.state, Leader) or high_watermark <= len(self.committed):
            return
        entries = replica.disk.log.all_entries()[:high_watermark]
        voters = replica.raft.voters
        holding = 0
        for voter_id in voters.ids:
            log = disks[voter_id].log
            is_flushed = log.flushed_end_offset >= high_watermark
            holding += is_flushed and log.all_entries()[:high_watermark] == entries
        if holding < voters.majority:
            raise InvariantError(
                f"{replica.id} commits up to {high_watermark} with {holding} of {voters.ids}"
            )

    def _committed_is_never_lost(self, replica: Replica) -> None:
        """Also not by a leader: the latest one has all of it."""
        entries = replica.disk.log.all_entries()
        high_watermark = replica.raft.high_watermark or 0
        if high_watermark > len(entries):
            raise InvariantError(f"{replica.id} lacks what it knows to be committed")
        common = min(high_watermark, len(self.committed))
        if entries[:common] != self.committed[:common]:
            raise InvariantError(f"{replica.id} committed other records below {common}")
        self.committed.extend(entries[len(self.committed) : high_watermark])
        state = replica.raft.state
        is_latest_leader = isinstance(state, Leader) and state.epoch == max(self.leaders)
        if is_latest_leader and entries[: len(self.committed)] != self.committed:
            raise InvariantError(f"{replica.id} leads without all that is committed")


@dataclass
class Trouble:
    """How likely each kind is, among a hundred or so steps."""

    deliver: int = 60
    lose: int = 4
    duplicate: int = 3
    elapse: int = 20
    append: int = 8
    flush: int = 20
    crash: int = 2
    start: int = 3
    split: int = 1
    heal: int = 2
    snapshot: int = 1
    change_voters: int = 1


class Model:
    def __init__(self, seed: int, node_count: int, *, trouble: Trouble | None = None) -> None:
        self.random = random.Random(seed)
        self.now_ms = 0
        self.invariants = Invariants()
        self.packets: list[Packet] = []
        self.replicas: dict[int, Replica] = {}
        self.groups: dict[int, int] = {}
        self.appended = 0
        self._trouble = trouble or Trouble()
        first = voter_set(*range(1, node_count + 1))
        self.disks = {each: formatted_disk(first) for each in first.ids}
        self.disks[node_count + 1] = ReplicaDisk()
        # Half of the histories have one record at a time fetched, and snapshots in many pieces.
        bytes_max = self.random.choice([1, 1 << 20])
        self.configs = {
            each: replace(
                config(each, bootstrap=tuple(first.ids)),
                fetch_bytes_max=bytes_max,
                fetch_snapshot_bytes_max=max(bytes_max, 200),
            )
            for each in self.disks
        }
        for node_id in self.disks:
            self._start(node_id)

    # ---- the trouble

    def run(self, steps: int) -> None:
        actions = [
            (getattr(self, f"_{name}"), weight) for name, weight in vars(self._trouble).items()
        ]
        methods, weights = [each[0] for each in actions], [each[1] for each in actions]
        for _ in range(steps):
            self.random.choices(methods, weights)[0]()
            self._check()

    def heal_and_settle(self, duration_ms: int = 30_000) -> None:
        """Nothing goes wrong any more for a while."""
        self.groups.clear()
        for node_id in self.disks:
            if node_id not in self.replicas:
                self._start(node_id)
        for replica in self.replicas.values():
            replica.is_flushing_at_once = True
            replica.flush()
        end_ms = self.now_ms + duration_ms
        while self.now_ms < end_ms:
            while self.packets:
                self._hand_over(self.packets.pop(0))
                self._check()
            deadlines = [each.raft.next_deadline_ms for each in self.replicas.values()]
            known = [each for each in deadlines if each is not None]
            self.now_ms = max(self.now_ms + 1, min([*known, end_ms]))
            self._advance()
            self._check()

    def leader(self) -> Replica | None:
        """Of the latest epoch."""
        leading = [each for each in self.replicas.values() if each.raft.is_leader]
        return max(leading, key=lambda each: each.raft.leader_and_epoch.epoch, default=None)

    def _check(self) -> None:
        for replica in self.replicas.values():
            self.invariants.check(replica, self.disks)

    def _deliver(self) -> None:
        if self.packets:
            self._hand_over(self.packets.pop(self.random.randrange(len(self.packets))))

    def _lose(self) -> None:
        if self.packets:
            self.packets.pop(self.random.randrange(len(self.packets)))

    def _duplicate(self) -> None:
        if self.packets:
            self._hand_over(self.random.choice(self.packets))

    def _elapse(self) -> None:
        self.now_ms += self.random.choice([1, 10, 50, 100, 500])
        self._advance()

    def _append(self) -> None:
        """Every replica that takes itself for the leader gets writes, also a deposed one."""
        leading = [each for each in self.replicas.values() if each.raft.is_leader]
        if leading:
            self.appended += 1
            self.random.choice(leading).append(f"value {self.appended}")

    def _flush(self) -> None:
        if self.replicas:
            self._any().flush()

    def _crash(self) -> None:
        if self.replicas:
            node_id = self._any().id
            del self.replicas[node_id]
            self.disks[node_id].log.crash()
            self.invariants.forget(node_id)

    def _start(self, node_id: int | None = None) -> None:
        down = sorted(self.disks.keys() - self.replicas.keys())
        if down:
            node_id = self.random.choice(down) if node_id is None else node_id
            self.replicas[node_id] = Replica(
                self.configs[node_id],
                self.disks[node_id],
                RandomDice(self.random),
                self._send,
                self.now_ms,
                is_flushing_at_once=False,
            )

    def _split(self) -> None:
        self.groups = {node_id: self.random.randrange(2) for node_id in self.disks}

    def _heal(self) -> None:
        self.groups.clear()

    def _snapshot(self) -> None:
        if self.replicas:
            replica = self._any()
            high_watermark = replica.raft.high_watermark or 0
            if high_watermark > replica.disk.log.start.offset:
                replica.snapshot(high_watermark)

    def _change_voters(self) -> None:
        leader = self.leader()
        if leader is None:
            return
        node_id = self.random.choice(sorted(self.disks))
        key, endpoints, _ = voter(node_id)
        request: Message
        if node_id in leader.raft.voters.ids:
            request = RemoveRaftVoterRequest(
                cluster_id=CLUSTER_ID, voter_id=node_id, voter_directory_id=key.directory_id
            )
        else:
            name, host, port = endpoints[0]
            request = AddRaftVoterRequest(
                cluster_id=CLUSTER_ID,
                voter_id=node_id,
                voter_directory_id=key.directory_id,
                listeners=[Listener(name=name, host=host, port=port)],
            )
        leader.request(request, self.now_ms)

    # ---- the world

    def _any(self) -> Replica:
        return self.replicas[self.random.choice(sorted(self.replicas))]

    def _advance(self) -> None:
        for replica in self.replicas.values():
            deadline_ms = replica.raft.next_deadline_ms
            if deadline_ms is not None and deadline_ms <= self.now_ms:
                replica.advance(self.now_ms)

    def _send(self, packet: Packet) -> None:
        """What travels is bytes, in the latest version."""
        cls = type(packet.message)
        version = cls.versions.highest
        message = cls.decode(packet.message.encode(version), version)
        self.packets.append(packet._replace(message=message))

    def _hand_over(self, packet: Packet) -> None:
        is_cut = self.groups.get(packet.source) != self.groups.get(packet.target)
        target = self.replicas.get(packet.target)
        if is_cut or target is None:
            return
        if packet.is_response and packet.connection is not target.raft:
            return
        if isinstance(packet.message, ApiVersionsRequest):
            self.packets.append(packet.answered(API_VERSIONS))
        else:
            target.deliver(packet, self.now_ms)

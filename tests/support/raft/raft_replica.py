"""A replica as its driver runs it: decisions carried out on a disk in memory, in the right order.

The bootstrap snapshot of a formatted voter is in its log from the beginning, at offset -1.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, replace
from typing import NamedTuple

from ottla.model import Uuid
from ottla.raft import (
    BOOTSTRAP_SNAPSHOT_ID,
    BootstrapServer,
    Decisions,
    Destination,
    ElectionDice,
    KRaftVersions,
    LeaderAndEpoch,
    Raft,
    RaftConfig,
    ReadLog,
    ReadSnapshot,
    ReplicaKey,
    Voter,
    VoterEndpoint,
    VoterSet,
)
from ottla.wire.messages.api_versions import ApiVersionsResponse, SupportedFeatureKey
from ottla.wire.schema import Message
from ottla.wire.stored.quorum import KRaftVersionRecord
from tests.support.raft.raft_log import Entry, ReplicaDisk, StoredSnapshot, decode

CLUSTER_ID = "raft-test"
API_VERSIONS = ApiVersionsResponse(
    supported_features=[SupportedFeatureKey(name="kraft.version", min_version=0, max_version=1)]
)


class Packet(NamedTuple):
    """A request from a replica to an address, or the response to it.

    `connection` is the process that asked: a later one never sees the response.
    """

    source: int
    target: int
    connection: object
    number: int
    message: Message
    is_response: bool

    def answered(self, response: Message) -> Packet:
        return Packet(
            self.target, self.source, self.connection, self.number, response, is_response=True
        )


def directory_id(node_id: int) -> Uuid:
    return Uuid(node_id.to_bytes(16))


def voter(node_id: int, *, directory: Uuid | None = None) -> Voter:
    endpoint = VoterEndpoint("CONTROLLER", f"n{node_id}", 9000 + node_id)
    key = ReplicaKey(node_id, directory_id(node_id) if directory is None else directory)
    return Voter(key, (endpoint,), KRaftVersions(0, 1))


def voter_set(*node_ids: int) -> VoterSet:
    return VoterSet.of(voter(node_id) for node_id in node_ids)


def config(node_id: int, *, bootstrap: tuple[int, ...] = ()) -> RaftConfig:
    local = voter(node_id)
    servers = tuple(BootstrapServer(f"n{each}", 9000 + each) for each in bootstrap)
    return RaftConfig(
        cluster_id=CLUSTER_ID,
        local=local.key,
        endpoints=local.endpoints,
        bootstrap_servers=servers,
    )


def formatted_disk(voters: VoterSet) -> ReplicaDisk:
    """As formatting leaves it, with the voters of the first hour."""
    disk = ReplicaDisk()
    control = (KRaftVersionRecord(kraft_version=1), voters.to_record())
    disk.log.snapshots[BOOTSTRAP_SNAPSHOT_ID] = StoredSnapshot((), control)
    return disk


@dataclass
class Replica:
    """One process: made over a disk, gone with `crash`."""

    config: RaftConfig
    disk: ReplicaDisk
    dice: ElectionDice
    send: Callable[[Packet], None]
    now_ms: int
    is_flushing_at_once: bool = True

    def __post_init__(self) -> None:
        self.leaders: list[LeaderAndEpoch] = []
        self.high_watermarks: list[int] = []
        self._clients: dict[int, Packet] = {}
        self._download = bytearray()
        self.answers: dict[int, Message] = {}
        self.raft = Raft(
            self.config,
            self.disk.log,
            self.dice,
            state=self.disk.quorum_state,
            control_records=self.disk.log.all_control_records(),
            now_ms=self.now_ms,
        )
        self.carry_out()

    @property
    def id(self) -> int:
        return self.config.local.id

    # ---- events

    def deliver(self, packet: Packet, now_ms: int) -> None:
        if packet.is_response:
            assert packet.connection is self.raft
            self.raft.respond(packet.number, packet.message, now_ms=now_ms)
        else:
            number = self.raft.receive(packet.message, now_ms=now_ms)
            self._clients[number] = packet
        self.now_ms = now_ms
        self.carry_out()

    def request(self, request: Message, now_ms: int) -> int:
        """A request of a client that is not a replica; its response comes to `answers`."""
        self.now_ms = now_ms
        number = self.raft.receive(request, now_ms=now_ms)
        self.carry_out()
        return number

    def fail(self, number: int, now_ms: int) -> None:
        self.now_ms = now_ms
        self.raft.fail(number, now_ms=now_ms)
        self.carry_out()

    def advance(self, now_ms: int) -> None:
        self.now_ms = now_ms
        self.raft.advance(now_ms=now_ms)
        self.carry_out()

    def append(self, *values: str) -> None:
        assert self.raft.is_leader
        epoch = self.raft.leader_and_epoch.epoch
        self.disk.log.append([Entry(epoch, value) for value in values])
        self.raft.appended(now_ms=self.now_ms)
        self.carry_out()

    def flush(self) -> None:
        self.disk.log.flush()
        self.raft.flushed(now_ms=self.now_ms)
        self.carry_out()

    def begin_shutdown(self, now_ms: int) -> None:
        self.raft.begin_shutdown(now_ms=now_ms)
        self.carry_out()

    def resign(self, now_ms: int) -> None:
        self.raft.resign(now_ms=now_ms)
        self.carry_out()

    def snapshot(self, end_offset: int) -> None:
        self.disk.log.snapshot(end_offset, self.raft.quorum_at(end_offset))

    # ---- decisions

    def carry_out(self) -> None:
        while decisions := self.raft.take_decisions():
            self._write(decisions)
            if decisions.high_watermark is not None:
                self.high_watermarks.append(decisions.high_watermark)
            if decisions.leader is not None:
                self.leaders.append(decisions.leader)
            self._talk(decisions)
            log = self.disk.log
            if self.is_flushing_at_once and log.flushed_end_offset < log.end.offset:
                log.flush()
                self.raft.flushed(now_ms=self.now_ms)

    def _write(self, decisions: Decisions) -> None:
        log = self.disk.log
        if decisions.quorum_state is not None:
            self.persist(decisions)
        if decisions.truncate_to is not None:
            log.truncate_to(decisions.truncate_to)
            self.raft.truncated(now_ms=self.now_ms)
        if decisions.append is not None:
            fetched = decode(bytes(decisions.append))
            self.raft.appended(log.append(fetched), now_ms=self.now_ms)
        if decisions.append_control:
            epoch = self.raft.leader_and_epoch.epoch
            entries = [Entry(epoch, record) for record in decisions.append_control]
            self.raft.appended(log.append(entries), now_ms=self.now_ms)
        if decisions.snapshot_chunk is not None:
            snapshot_id, position, data, is_last = decisions.snapshot_chunk
            self._download[position:] = data
            if is_last:
                records = log.install(snapshot_id, bytes(self._download))
                self.raft.snapshot_installed(records, now_ms=self.now_ms)

    def persist(self, decisions: Decisions) -> None:
        assert decisions.quorum_state is not None
        version = min(self.raft.kraft_version, 1)
        stored = decisions.quorum_state.encode(version)
        self.disk.quorum_state = type(decisions.quorum_state).decode(stored, version)

    def _talk(self, decisions: Decisions) -> None:
        for number, destination, request in decisions.sends:
            target = _node_id(destination)
            self.send(Packet(self.id, target, self.raft, number, request, is_response=False))
        for reply in decisions.replies:
            if isinstance(reply.read, ReadLog):
                reply.fill(self.disk.log.read(reply.read.offset, reply.read.bytes_max))
            elif isinstance(reply.read, ReadSnapshot):
                data = self.disk.log.snapshots[reply.read.id].encode()
                start = reply.read.position
                reply.fill(data[start : start + reply.read.bytes_max])
            packet = self._clients.pop(reply.number, None)
            if packet is None:
                self.answers[reply.number] = reply.response
            else:
                self.send(packet.answered(reply.response))


def _node_id(destination: Destination) -> int:
    """Every test replica listens where its id says, also for those that do not know its id."""
    assert destination.host == f"n{destination.port - 9000}"
    return destination.port - 9000


def with_endpoint(config: RaftConfig, port: int) -> RaftConfig:
    endpoint = config.endpoints[0]._replace(port=port, host=f"n{port - 9000}")
    return replace(config, endpoints=(endpoint,))

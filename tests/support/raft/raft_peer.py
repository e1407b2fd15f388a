"""One replica, and the test in the place of all the others."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

from ottla.model import ZERO_UUID, Uuid
from ottla.raft import VoterSet
from ottla.raft.messages import TOPIC, TOPIC_ID
from ottla.raft.states import State
from ottla.wire.messages import begin_quorum_epoch as begin
from ottla.wire.messages import end_quorum_epoch as end
from ottla.wire.messages import fetch, fetch_snapshot, vote
from ottla.wire.schema import Message
from ottla.wire.stored.quorum_state import QuorumStateData
from tests.support.raft.raft_log import Entry
from tests.support.raft.raft_replica import (
    CLUSTER_ID,
    Packet,
    Replica,
    config,
    directory_id,
    formatted_disk,
    voter,
    voter_set,
)


class NoDice:
    def below(self, bound: int) -> int:
        return 0


class Peer:
    """Replica 1 of some voters, with what it sent. Timeouts have no jitter."""

    def __init__(
        self,
        voters: VoterSet | None = None,
        *,
        epochs: tuple[int, ...] = (),
        stored: QuorumStateData | None = None,
        is_flushing_at_once: bool = True,
        **settings: Any,
    ) -> None:
        disk = formatted_disk(voter_set(1, 2, 3) if voters is None else voters)
        disk.log.append([Entry(epoch, f"of {epoch}") for epoch in epochs])
        disk.log.flush()
        disk.quorum_state = stored
        self.sent: list[Packet] = []
        self.now_ms = 1000
        self.replica = Replica(
            replace(config(1), **settings),
            disk,
            NoDice(),
            self.sent.append,
            self.now_ms,
            is_flushing_at_once=is_flushing_at_once,
        )
        self.raft = self.replica.raft
        self.log = disk.log

    def state(self) -> type[State]:
        return type(self.raft.state)

    def send_request(self, request: Message) -> Any:
        """The partition of the response, or all of one that has none; None if it has to wait."""
        number = self.replica.request(request, self.now_ms)
        return partition_of(self.replica.answers.pop(number, None))

    def requests(self, kind: type[Message]) -> list[Packet]:
        """Takes what was sent of a kind."""
        found = [each for each in self.sent if isinstance(each.message, kind)]
        self.sent[:] = [each for each in self.sent if each not in found]
        return found

    def respond(self, packet: Packet, response: Message) -> None:
        self.replica.deliver(packet.answered(response), self.now_ms)

    def wait(self, duration_ms: int) -> None:
        self.now_ms += duration_ms
        self.replica.advance(self.now_ms)

    def become_leader(self) -> None:
        """In the next epoch, with the vote of 2."""
        state = self.raft.state
        deadline_ms = getattr(state, "election_deadline_ms", None) or self.now_ms
        self.sent.clear()
        self.wait(max(0, deadline_ms - self.now_ms))
        for _ in ("pre-vote", "vote"):
            packet = next(each for each in self.requests(vote.VoteRequest) if each.target == 2)
            self.respond(packet, vote_granted(self.raft.leader_and_epoch.epoch))
        assert self.raft.is_leader

    def follow(self, leader_id: int, epoch: int) -> None:
        assert self.send_request(begin_request(leader_id, epoch)).error_code == 0


def partition_of(response: Any) -> Any:
    topics = getattr(response, "topics", None) or getattr(response, "responses", None)
    return topics[0].partitions[0] if topics else response


def vote_request(
    node_id: int,
    epoch: int,
    *,
    end: tuple[int, int] = (0, 0),
    is_pre_vote: bool = False,
    voter_id: int = 1,
    voter_directory: Uuid = ZERO_UUID,
    cluster_id: str | None = CLUSTER_ID,
) -> vote.VoteRequest:
    requested = vote.VoteRequestPartitionData(
        replica_epoch=epoch,
        replica_id=node_id,
        replica_directory_id=directory_id(node_id),
        voter_directory_id=voter_directory,
        last_offset=end[0],
        last_offset_epoch=end[1],
        pre_vote=is_pre_vote,
    )
    topic = vote.VoteRequestTopicData(topic_name=TOPIC, partitions=[requested])
    return vote.VoteRequest(cluster_id=cluster_id, voter_id=voter_id, topics=[topic])


def vote_granted(epoch: int, *, is_granted: bool = True) -> vote.VoteResponse:
    answer = vote.VoteResponsePartitionData(
        leader_id=-1, leader_epoch=epoch, vote_granted=is_granted
    )
    topic = vote.VoteResponseTopicData(topic_name=TOPIC, partitions=[answer])
    return vote.VoteResponse(topics=[topic])


def begin_request(leader_id: int, epoch: int) -> begin.BeginQuorumEpochRequest:
    partition = begin.BeginQuorumEpochRequestPartitionData(leader_id=leader_id, leader_epoch=epoch)
    name, host, port = voter(leader_id).endpoints[0]
    return begin.BeginQuorumEpochRequest(
        cluster_id=CLUSTER_ID,
        topics=[begin.BeginQuorumEpochRequestTopicData(topic_name=TOPIC, partitions=[partition])],
        leader_endpoints=[begin.LeaderEndpoint(name=name, host=host, port=port)],
    )


def end_request(leader_id: int, epoch: int, *successors: int) -> end.EndQuorumEpochRequest:
    partition = end.EndQuorumEpochRequestPartitionData(
        leader_id=leader_id,
        leader_epoch=epoch,
        preferred_candidates=[
            end.ReplicaInfo(candidate_id=each, candidate_directory_id=directory_id(each))
            for each in successors
        ],
    )
    return end.EndQuorumEpochRequest(
        cluster_id=CLUSTER_ID,
        topics=[end.EndQuorumEpochRequestTopicData(topic_name=TOPIC, partitions=[partition])],
    )


def fetch_request(
    node_id: int,
    epoch: int,
    offset: int,
    last_epoch: int,
    *,
    wait_ms: int = 500,
    high_watermark: int = 2**63 - 1,
    cluster_id: str | None = CLUSTER_ID,
) -> fetch.FetchRequest:
    requested = fetch.FetchPartition(
        current_leader_epoch=epoch,
        fetch_offset=offset,
        last_fetched_epoch=last_epoch,
        replica_directory_id=directory_id(node_id),
        high_watermark=high_watermark,
    )
    return fetch.FetchRequest(
        cluster_id=cluster_id,
        replica_state=fetch.ReplicaState(replica_id=node_id),
        max_wait_ms=wait_ms,
        topics=[fetch.FetchTopic(topic_id=TOPIC_ID, partitions=[requested])],
    )


def fetched(
    leader_id: int, epoch: int, *, high_watermark: int = -1, records: bytes = b"", **others: Any
) -> fetch.FetchResponse:
    answer = fetch.PartitionData(
        high_watermark=high_watermark,
        records=records,
        current_leader=fetch.LeaderIdAndEpoch(leader_id=leader_id, leader_epoch=epoch),
        **others,
    )
    topic = fetch.FetchableTopicResponse(topic_id=TOPIC_ID, partitions=[answer])
    return fetch.FetchResponse(responses=[topic])


def snapshot_request(
    node_id: int, epoch: int, snapshot_id: tuple[int, int], *, position: int = 0
) -> fetch_snapshot.FetchSnapshotRequest:
    requested = fetch_snapshot.FetchSnapshotRequestPartitionSnapshot(
        current_leader_epoch=epoch,
        snapshot_id=fetch_snapshot.SnapshotId(end_offset=snapshot_id[0], epoch=snapshot_id[1]),
        position=position,
        replica_directory_id=directory_id(node_id),
    )
    return fetch_snapshot.FetchSnapshotRequest(
        cluster_id=CLUSTER_ID,
        replica_id=node_id,
        topics=[
            fetch_snapshot.FetchSnapshotRequestTopicSnapshot(name=TOPIC, partitions=[requested])
        ],
    )


def snapshot_piece(
    leader_id: int,
    epoch: int,
    snapshot_id: tuple[int, int],
    data: bytes,
    *,
    position: int,
    size: int,
) -> fetch_snapshot.FetchSnapshotResponse:
    piece = fetch_snapshot.FetchSnapshotResponsePartitionSnapshot(
        snapshot_id=fetch_snapshot.SnapshotId(end_offset=snapshot_id[0], epoch=snapshot_id[1]),
        current_leader=fetch_snapshot.LeaderIdAndEpoch(leader_id=leader_id, leader_epoch=epoch),
        size=size,
        position=position,
        unaligned_records=data,
    )
    topic = fetch_snapshot.FetchSnapshotResponseTopicSnapshot(name=TOPIC, partitions=[piece])
    return fetch_snapshot.FetchSnapshotResponse(topics=[topic])

"""Builds the responses of a replica, each with the leader as this replica sees it."""

from __future__ import annotations

from collections.abc import Callable
from typing import Final, TypeAlias, TypeVar

from ottla.model import ErrorCode
from ottla.raft.log import Diverging, OffsetAndEpoch, ReplicatedLog, SnapshotNeeded
from ottla.raft.messages import PARTITION, TOPIC, TOPIC_ID, LeaderView
from ottla.raft.voters import VoterEndpoint
from ottla.wire.messages import begin_quorum_epoch as begin
from ottla.wire.messages import end_quorum_epoch as end
from ottla.wire.messages import fetch, fetch_snapshot, vote
from ottla.wire.messages.add_raft_voter import AddRaftVoterRequest, AddRaftVoterResponse
from ottla.wire.messages.remove_raft_voter import RemoveRaftVoterRequest, RemoveRaftVoterResponse
from ottla.wire.messages.update_raft_voter import CurrentLeader, UpdateRaftVoterResponse
from ottla.wire.schema import Message

VoterChangeRequest: TypeAlias = AddRaftVoterRequest | RemoveRaftVoterRequest
VoterChangeResponse: TypeAlias = AddRaftVoterResponse | RemoveRaftVoterResponse
E = TypeVar("E")
_WITH_NODE_ENDPOINTS: Final = (
    vote.VoteResponse,
    begin.BeginQuorumEpochResponse,
    end.EndQuorumEpochResponse,
    fetch.FetchResponse,
    fetch_snapshot.FetchSnapshotResponse,
)
_NO_SNAPSHOT: Final = OffsetAndEpoch(-1, -1)


def vote_response(
    leader: LeaderView, error: ErrorCode, *, is_granted: bool = False
) -> vote.VoteResponse:
    partition = vote.VoteResponsePartitionData(
        partition_index=PARTITION,
        error_code=error,
        leader_id=leader.id_or_minus_one,
        leader_epoch=leader.epoch,
        vote_granted=is_granted,
    )
    return vote.VoteResponse(
        topics=[vote.VoteResponseTopicData(topic_name=TOPIC, partitions=[partition])],
        node_endpoints=_node_endpoints(vote.NodeEndpoint, leader),
    )


def begin_response(leader: LeaderView, error: ErrorCode) -> begin.BeginQuorumEpochResponse:
    partition = begin.BeginQuorumEpochResponsePartitionData(
        partition_index=PARTITION,
        error_code=error,
        leader_id=leader.id_or_minus_one,
        leader_epoch=leader.epoch,
    )
    return begin.BeginQuorumEpochResponse(
        topics=[begin.BeginQuorumEpochResponseTopicData(topic_name=TOPIC, partitions=[partition])],
        node_endpoints=_node_endpoints(begin.NodeEndpoint, leader),
    )


def end_response(leader: LeaderView, error: ErrorCode) -> end.EndQuorumEpochResponse:
    partition = end.EndQuorumEpochResponsePartitionData(
        partition_index=PARTITION,
        error_code=error,
        leader_id=leader.id_or_minus_one,
        leader_epoch=leader.epoch,
    )
    return end.EndQuorumEpochResponse(
        topics=[end.EndQuorumEpochResponseTopicData(topic_name=TOPIC, partitions=[partition])],
        node_endpoints=_node_endpoints(end.NodeEndpoint, leader),
    )


def fetch_response(
    leader: LeaderView,
    log: ReplicatedLog,
    error: ErrorCode,
    *,
    high_watermark: int | None = None,
    obstacle: Diverging | SnapshotNeeded | None = None,
) -> fetch.FetchResponse:
    partition = fetch.PartitionData(
        partition_index=PARTITION,
        error_code=error,
        high_watermark=-1 if high_watermark is None else high_watermark,
        log_start_offset=log.start.offset,
        current_leader=fetch.LeaderIdAndEpoch(
            leader_id=leader.id_or_minus_one, leader_epoch=leader.epoch
        ),
        records=b"",
    )
    if isinstance(obstacle, Diverging):
        offset, epoch = obstacle.end
        partition.diverging_epoch = fetch.EpochEndOffset(epoch=epoch, end_offset=offset)
    elif isinstance(obstacle, SnapshotNeeded):
        offset, epoch = obstacle.id
        partition.snapshot_id = fetch.SnapshotId(end_offset=offset, epoch=epoch)
    return fetch.FetchResponse(
        responses=[
            fetch.FetchableTopicResponse(topic=TOPIC, topic_id=TOPIC_ID, partitions=[partition])
        ],
        node_endpoints=_node_endpoints(fetch.NodeEndpoint, leader),
    )


def fetch_snapshot_response(
    leader: LeaderView,
    error: ErrorCode,
    *,
    snapshot_id: OffsetAndEpoch = _NO_SNAPSHOT,
    size: int = 0,
    position: int = 0,
) -> fetch_snapshot.FetchSnapshotResponse:
    partition = fetch_snapshot.FetchSnapshotResponsePartitionSnapshot(
        index=PARTITION,
        error_code=error,
        snapshot_id=fetch_snapshot.SnapshotId(
            end_offset=snapshot_id.offset, epoch=snapshot_id.epoch
        ),
        current_leader=fetch_snapshot.LeaderIdAndEpoch(
            leader_id=leader.id_or_minus_one, leader_epoch=leader.epoch
        ),
        size=size,
        position=position,
    )
    return fetch_snapshot.FetchSnapshotResponse(
        topics=[
            fetch_snapshot.FetchSnapshotResponseTopicSnapshot(name=TOPIC, partitions=[partition])
        ],
        node_endpoints=_node_endpoints(fetch_snapshot.NodeEndpoint, leader),
    )


def voter_change_response(
    request: VoterChangeRequest, error: ErrorCode, message: str | None = None
) -> VoterChangeResponse:
    if isinstance(request, AddRaftVoterRequest):
        return AddRaftVoterResponse(error_code=error, error_message=message)
    return RemoveRaftVoterResponse(error_code=error, error_message=message)


def update_voter_response(leader: LeaderView, error: ErrorCode) -> UpdateRaftVoterResponse:
    current = CurrentLeader(leader_id=leader.id_or_minus_one, leader_epoch=leader.epoch)
    if leader.endpoint is not None:
        _, current.host, current.port = leader.endpoint
    return UpdateRaftVoterResponse(error_code=error, current_leader=current)


def replace_leader_address(response: Message, endpoint: VoterEndpoint | None) -> None:
    """Names another address of the leader in a response, or none."""
    if isinstance(response, UpdateRaftVoterResponse):
        leader = response.current_leader
        if leader is not None and leader.host:
            leader.host, leader.port = ("", 0) if endpoint is None else endpoint[1:]
    elif isinstance(response, _WITH_NODE_ENDPOINTS):
        if endpoint is None:
            response.node_endpoints = []
            return
        for each in response.node_endpoints:
            _, each.host, each.port = endpoint


def _node_endpoints(endpoint: Callable[..., E], leader: LeaderView) -> list[E]:
    """The leader's address. Each response has its own struct for it."""
    if leader.endpoint is None:
        return []
    _, host, port = leader.endpoint
    return [endpoint(node_id=leader.id_or_minus_one, host=host, port=port)]

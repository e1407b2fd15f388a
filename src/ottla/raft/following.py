"""The follower's side of replication: find the leader, fetch, truncate, commit.

At most one fetch is in flight, and none until the fetched records are flushed: the leader treats
the fetch offset as an acknowledgement.
"""

from __future__ import annotations

from collections.abc import Sequence

from ottla.model import ErrorCode
from ottla.raft.decisions import Destination
from ottla.raft.errors import CommittedRecordsLostError
from ottla.raft.leader_updates import Handled, error_of, take_response
from ottla.raft.log import OffsetAndEpoch, truncation_offset
from ottla.raft.messages import PARTITION, TOPIC, TOPIC_ID, LeaderView, only_partition
from ottla.raft.quorum import Quorum
from ottla.raft.snapshots import fetch_snapshot_request
from ottla.raft.states import Follower, SnapshotDownload, Unattached
from ottla.raft.validation import leader_endpoint
from ottla.raft.voter_updates import maybe_update_voter
from ottla.wire.messages.fetch import (
    FetchPartition,
    FetchRequest,
    FetchResponse,
    FetchTopic,
    PartitionData,
    ReplicaState,
)


def poll_unattached(quorum: Quorum, state: Unattached, *, now_ms: int) -> None:
    deadline_ms = state.election_deadline_ms
    if quorum.may_stand and deadline_ms is not None and now_ms >= deadline_ms:
        quorum.become_prospective(now_ms=now_ms)
    else:
        _fetch_from_anyone(quorum, now_ms=now_ms)


def poll_follower(quorum: Quorum, state: Follower, *, now_ms: int) -> None:
    """If the leader does not respond, fetches from other nodes to learn of a newer leader."""
    if quorum.may_stand and now_ms >= state.fetch_deadline_ms:
        quorum.become_prospective(now_ms=now_ms)
        return
    endpoint = state.leader_endpoint
    leader = Destination(state.leader_id, endpoint.host, endpoint.port)
    if quorum.connections.is_backing_off(leader.node_id):
        _fetch_from_anyone(quorum, now_ms=now_ms)
    elif _may_fetch(quorum) and not maybe_update_voter(quorum, state, leader, now_ms=now_ms):
        request = fetch_snapshot_request(quorum, state) if state.download else None
        quorum.send(leader, request or _fetch_request(quorum), now_ms=now_ms)


def _fetch_from_anyone(quorum: Quorum, *, now_ms: int) -> None:
    """A node that is not the leader responds with an error and the leader that it knows."""
    known = _acquaintances(quorum)
    ready = [each for each in known if quorum.connections.is_ready(each.node_id)]
    if ready and _may_fetch(quorum):
        anyone = ready[quorum.dice.below(len(ready))]
        quorum.send(anyone, _fetch_request(quorum), now_ms=now_ms)


def _acquaintances(quorum: Quorum) -> Sequence[Destination]:
    """The current voters, and the bootstrap servers with other addresses."""
    taken = {(endpoint.host, endpoint.port) for endpoint in quorum.config.endpoints}
    found = [quorum.destination(voter_id) for voter_id in quorum.voters.ids]
    found += [
        Destination(-2 - index, server.host, server.port)
        for index, server in enumerate(quorum.config.bootstrap_servers)
    ]
    others = []
    for each in found:
        if each is not None and (each.host, each.port) not in taken:
            taken.add((each.host, each.port))
            others.append(each)
    return others


def _may_fetch(quorum: Quorum) -> bool:
    state = quorum.state
    if isinstance(state, Follower) and (
        state.is_log_changing or (state.download is not None and state.download.is_complete)
    ):
        return False
    return quorum.is_flushed and not quorum.connections.is_any_in_flight


def _fetch_request(quorum: Quorum) -> FetchRequest:
    config, end = quorum.config, quorum.log.end
    partition = FetchPartition(
        partition=PARTITION,
        current_leader_epoch=quorum.epoch,
        fetch_offset=end.offset,
        last_fetched_epoch=end.epoch,
        partition_max_bytes=config.fetch_bytes_max,
        replica_directory_id=quorum.local.directory_id,
        high_watermark=-1 if quorum.high_watermark is None else quorum.high_watermark,
    )
    return FetchRequest(
        cluster_id=config.cluster_id,
        replica_id=quorum.local.id,
        replica_state=ReplicaState(replica_id=quorum.local.id),
        max_wait_ms=config.fetch_wait_ms_max,
        max_bytes=config.fetch_bytes_max,
        topics=[FetchTopic(topic=TOPIC, topic_id=TOPIC_ID, partitions=[partition])],
    )


# ---- responses


def take_fetch_response(quorum: Quorum, response: FetchResponse, *, now_ms: int) -> Handled:
    answer = only_partition(
        [
            (TOPIC if t.topic_id == TOPIC_ID else t.topic, p.partition_index, p)
            for t in response.responses
            for p in t.partitions
        ]
    )
    if response.error_code != ErrorCode.NONE or answer is None or answer.current_leader is None:
        return Handled.FAILED
    leader = answer.current_leader
    endpoint = leader_endpoint(quorum, leader.leader_id, response.node_endpoints)
    view = LeaderView.from_message(leader.leader_id, epoch=leader.leader_epoch, endpoint=endpoint)
    handled = take_response(quorum, error_of(answer.error_code), view, now_ms=now_ms)
    if handled is not None:
        return handled
    state = quorum.state
    if not isinstance(state, Follower):
        return Handled.FAILED
    quorum.connections.make_ready(state.leader_id)
    _take_fetched(quorum, state, answer)
    state.leader_responded(fetch_deadline_ms=quorum.fetch_deadline_ms(now_ms))
    return Handled.DONE


def _take_fetched(quorum: Quorum, state: Follower, answer: PartitionData) -> None:
    diverging, snapshot = answer.diverging_epoch, answer.snapshot_id
    if diverging is not None and diverging.epoch >= 0:
        _truncate(quorum, state, OffsetAndEpoch(diverging.end_offset, diverging.epoch))
    elif snapshot is not None and min(snapshot.end_offset, snapshot.epoch) >= 0:
        state.download = SnapshotDownload(OffsetAndEpoch(snapshot.end_offset, snapshot.epoch))
    else:
        state.leader_high_watermark = answer.high_watermark
        if answer.records:
            state.is_log_changing = True
            quorum.decisions.append = answer.records
        else:
            follow_high_watermark(quorum, state)


def _truncate(quorum: Quorum, state: Follower, diverging: OffsetAndEpoch) -> None:
    offset = truncation_offset(quorum.log, diverging)
    if quorum.high_watermark is not None and offset < quorum.high_watermark:
        raise CommittedRecordsLostError(
            f"the leader {quorum.leader.leader_id} of epoch {quorum.epoch} has other records from "
            f"offset {offset} on, but everything below {quorum.high_watermark} was committed: a "
            "majority of the voters has lost data. Stop the quorum and restore the voters that "
            "hold the most"
        )
    quorum.decisions.truncate_to = offset
    quorum.history.truncate(offset)
    state.is_log_changing = True


def follow_high_watermark(quorum: Quorum, state: Follower) -> None:
    """Advances to the leader's high watermark, but not past the end of the local log."""
    offset = min(state.leader_high_watermark, quorum.log.end.offset)
    if offset >= 0:
        quorum.advance_high_watermark(offset)

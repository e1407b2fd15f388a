"""The quorum's messages in a few words, for scripts."""

from __future__ import annotations

from ottla.model import ErrorCode
from ottla.wire.messages.add_raft_voter import AddRaftVoterResponse
from ottla.wire.messages.begin_quorum_epoch import (
    BeginQuorumEpochRequest,
    BeginQuorumEpochResponse,
)
from ottla.wire.messages.end_quorum_epoch import EndQuorumEpochRequest, EndQuorumEpochResponse
from ottla.wire.messages.fetch import FetchRequest, FetchResponse
from ottla.wire.messages.fetch_snapshot import FetchSnapshotRequest, FetchSnapshotResponse
from ottla.wire.messages.remove_raft_voter import RemoveRaftVoterResponse
from ottla.wire.messages.vote import VoteRequest, VoteResponse
from ottla.wire.schema import Message
from tests.support.raft.raft_log import decode


def is_chatter(message: Message) -> bool:
    return isinstance(message, FetchRequest | FetchResponse)


def text_of(message: Message) -> str:
    match message:
        case VoteRequest():
            vote = message.topics[0].partitions[0]
            kind = "pre-vote" if vote.pre_vote else "vote"
            end = f"{vote.last_offset}@{vote.last_offset_epoch}"
            return f"{kind} epoch {vote.replica_epoch} end {end}"
        case VoteResponse():
            answer = message.topics[0].partitions[0]
            word = "granted" if answer.vote_granted else "refused"
            return f"{word} epoch {answer.leader_epoch}{_error(answer.error_code)}"
        case BeginQuorumEpochRequest():
            begun = message.topics[0].partitions[0]
            return f"begin-quorum-epoch {begun.leader_epoch}"
        case EndQuorumEpochRequest():
            ended = message.topics[0].partitions[0]
            candidates = [each.candidate_id for each in ended.preferred_candidates]
            return f"end-quorum-epoch {ended.leader_epoch}, successors {candidates}"
        case BeginQuorumEpochResponse() | EndQuorumEpochResponse():
            response = message.topics[0].partitions[0]
            return f"heard, epoch {response.leader_epoch}{_error(response.error_code)}"
        case FetchRequest():
            fetch = message.topics[0].partitions[0]
            end = f"{fetch.fetch_offset}@{fetch.last_fetched_epoch}"
            return f"fetch epoch {fetch.current_leader_epoch} from {end}"
        case FetchResponse():
            return _fetched(message)
        case FetchSnapshotRequest():
            requested = message.topics[0].partitions[0]
            snapshot = f"{requested.snapshot_id.end_offset}@{requested.snapshot_id.epoch}"
            return f"fetch-snapshot {snapshot} at {requested.position}"
        case FetchSnapshotResponse():
            piece = message.topics[0].partitions[0]
            is_last = piece.position + len(piece.unaligned_records) == piece.size
            what = "all" if is_last else "some"
            return f"snapshot bytes, {what}{_error(piece.error_code)}"
        case AddRaftVoterResponse() | RemoveRaftVoterResponse():
            return f"{type(message).__name__} {ErrorCode(message.error_code).name}"
    return type(message).__name__


def _fetched(message: FetchResponse) -> str:
    data = message.responses[0].partitions[0]
    if data.error_code:
        leader = data.current_leader
        assert leader is not None
        return f"fetched nothing, leader {leader.leader_id} epoch {leader.leader_epoch}" + _error(
            data.error_code
        )
    if data.diverging_epoch is not None and data.diverging_epoch.epoch >= 0:
        return f"diverging at {data.diverging_epoch.end_offset}@{data.diverging_epoch.epoch}"
    if data.snapshot_id is not None and data.snapshot_id.epoch >= 0:
        return f"snapshot {data.snapshot_id.end_offset}@{data.snapshot_id.epoch} needed"
    entries = [str(entry) for entry in decode(bytes(data.records or b""))]
    return f"fetched {entries}, high watermark {data.high_watermark}"


def _error(code: int) -> str:
    return f" ({ErrorCode(code).name})" if code else ""

"""Leader and epoch in messages: every message of a peer has its epoch, most also its leader.

This is how a replica learns of elections that it did not take part in, and how a replica that fell
behind reaches the current epoch.
"""

from __future__ import annotations

from enum import Enum

from ottla.model import ErrorCode
from ottla.raft.messages import LeaderView
from ottla.raft.quorum import Quorum
from ottla.raft.states import Follower, Leader, Resigned
from ottla.raft.voters import VoterEndpoint

# The requester has an old epoch, or the peer is not the leader.
_MISPLACED = (ErrorCode.FENCED_LEADER_EPOCH, ErrorCode.NOT_LEADER_OR_FOLLOWER)


class Handled(Enum):
    """The outcome of a response: after FAILED the node is not contacted for the retry backoff."""

    DONE = "done"
    FAILED = "failed"


def is_contradicting(quorum: Quorum, view: LeaderView) -> bool:
    """Whether the message names a second leader for this epoch, which only a faulty peer does."""
    known = quorum.leader.leader_id
    if view.leader_id is None or view.epoch != quorum.epoch:
        return False
    if view.leader_id == quorum.local.id:
        return not isinstance(quorum.state, Leader | Resigned)
    return known is not None and known != view.leader_id


def maybe_adopt_leader(quorum: Quorum, view: LeaderView, *, now_ms: int) -> bool:
    """Adopts a later epoch, or the leader of the current epoch; returns whether the state changed.

    A leader without a known address is not followed: it will send BeginQuorumEpoch.
    """
    assert not is_contradicting(quorum, view)
    view = view._replace(endpoint=view.endpoint or voter_endpoint(quorum, view.leader_id))
    is_followable = view.endpoint is not None and view.leader_id not in (None, quorum.local.id)
    if view.epoch > quorum.epoch:
        if is_followable:
            quorum.become_follower(view, now_ms=now_ms)
        else:
            quorum.become_unattached(view.epoch, now_ms=now_ms)
        return True
    is_new = not isinstance(quorum.state, Follower) and quorum.leader.endpoint is None
    if view.epoch == quorum.epoch and is_followable and is_new:
        quorum.become_follower(view, now_ms=now_ms)
        return True
    return False


def take_response(
    quorum: Quorum, error: ErrorCode, view: LeaderView, *, now_ms: int
) -> Handled | None:
    """Handles the leader, epoch and error of any response. Returns None if the caller has to handle
    the rest of the response.

    The rest of a response from an earlier epoch, or of one that started a new epoch here, is not
    used. A response that only brought the leader of the current epoch is used, so that an observer
    finds the leader and fetches from it in one round trip.
    """
    if view.epoch < quorum.epoch or is_contradicting(quorum, view):
        return Handled.FAILED
    if view.epoch > quorum.epoch or error in _MISPLACED:
        is_new = maybe_adopt_leader(quorum, view, now_ms=now_ms)
        return Handled.DONE if is_new else Handled.FAILED
    is_new = maybe_adopt_leader(quorum, view, now_ms=now_ms)
    if error is not ErrorCode.NONE:
        return Handled.DONE if is_new else Handled.FAILED
    return None


def voter_endpoint(quorum: Quorum, voter_id: int | None) -> VoterEndpoint | None:
    voter = None if voter_id is None else quorum.voters.get(voter_id)
    return voter and voter.endpoint(quorum.config.listener_name)


def error_of(code: int) -> ErrorCode:
    """The error of a response. Later versions of Kafka may use codes that are unknown here."""
    try:
        return ErrorCode(code)
    except ValueError:
        return ErrorCode.UNKNOWN_SERVER_ERROR

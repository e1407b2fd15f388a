"""Word of a leader: every message of a peer tells its epoch, and mostly whom it takes for leader.

It is how a replica learns of elections that it had no part in, and how one that has fallen behind
is brought into the present epoch.
"""

from __future__ import annotations

from enum import Enum

from ottla.model import ErrorCode
from ottla.raft.messages import LeaderView
from ottla.raft.quorum import Quorum
from ottla.raft.states import Follower, Leader, Resigned
from ottla.raft.voters import VoterEndpoint

# Errors by which a peer says that the asker is behind or asked the wrong replica.
_MISPLACED = (ErrorCode.FENCED_LEADER_EPOCH, ErrorCode.NOT_LEADER_OR_FOLLOWER)


class Handled(Enum):
    """What became of a response: a node that FAILED is left alone for a while."""

    DONE = "done"
    FAILED = "failed"


def is_contradicting(quorum: Quorum, news: LeaderView) -> bool:
    """Whether the news name a second leader of this epoch, which only a broken peer can do."""
    known = quorum.leader.leader_id
    if news.leader_id is None or news.epoch != quorum.epoch:
        return False
    if news.leader_id == quorum.local.id:
        return not isinstance(quorum.state, Leader | Resigned)
    return known is not None and known != news.leader_id


def take_news(quorum: Quorum, news: LeaderView, *, now_ms: int) -> bool:
    """Goes along with a later epoch, or with the leader of this one; says if that was new.

    A leader that nobody can tell the address of is no use: it will make itself known.
    """
    assert not is_contradicting(quorum, news)
    news = news._replace(endpoint=news.endpoint or voter_endpoint(quorum, news.leader_id))
    is_followable = news.endpoint is not None and news.leader_id not in (None, quorum.local.id)
    if news.epoch > quorum.epoch:
        if is_followable:
            quorum.become_follower(news, now_ms=now_ms)
        else:
            quorum.become_unattached(news.epoch, now_ms=now_ms)
        return True
    is_new = not isinstance(quorum.state, Follower) and quorum.leader.endpoint is None
    if news.epoch == quorum.epoch and is_followable and is_new:
        quorum.become_follower(news, now_ms=now_ms)
        return True
    return False


def take_response(
    quorum: Quorum, error: ErrorCode, news: LeaderView, *, now_ms: int
) -> Handled | None:
    """What any response says whatever it was asked; None if it is to be looked into.

    A response in an epoch that is past is not, nor is one that brought a new epoch. The first word
    of this epoch's leader is, so that an observer finds it and fetches from it in one go.
    """
    if news.epoch < quorum.epoch or is_contradicting(quorum, news):
        return Handled.FAILED
    if news.epoch > quorum.epoch or error in _MISPLACED:
        is_new = take_news(quorum, news, now_ms=now_ms)
        return Handled.DONE if is_new else Handled.FAILED
    is_new = take_news(quorum, news, now_ms=now_ms)
    if error is not ErrorCode.NONE:
        return Handled.DONE if is_new else Handled.FAILED
    return None


def voter_endpoint(quorum: Quorum, voter_id: int | None) -> VoterEndpoint | None:
    voter = None if voter_id is None else quorum.voters.get(voter_id)
    return voter and voter.endpoint(quorum.config.listener_name)


def error_of(code: int) -> ErrorCode:
    """The error of a response. Later versions of Kafka may know more of them."""
    try:
        return ErrorCode(code)
    except ValueError:
        return ErrorCode.UNKNOWN_SERVER_ERROR

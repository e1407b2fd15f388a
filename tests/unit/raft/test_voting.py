import pytest

from ottla.model import ErrorCode
from ottla.raft.states import Candidate, Follower, Prospective, Resigned, Unattached
from ottla.wire.messages.fetch import FetchRequest
from ottla.wire.messages.vote import VoteRequest, VoteResponse
from ottla.wire.stored.quorum_state import QuorumStateData
from tests.support.raft.raft_peer import Peer, fetched, partition_of, vote_granted, vote_request
from tests.support.raft.raft_replica import directory_id, voter_set


def test_vote_is_granted_once_per_epoch_and_again_to_the_same_candidate() -> None:
    peer = Peer()
    assert peer.send_request(vote_request(2, 1)).vote_granted
    assert not peer.send_request(vote_request(3, 1)).vote_granted
    assert peer.send_request(vote_request(2, 1)).vote_granted
    assert peer.send_request(vote_request(3, 2)).vote_granted


def test_vote_is_on_disk_with_the_candidates_directory() -> None:
    peer = Peer()
    peer.send_request(vote_request(2, 4))
    stored = peer.replica.disk.quorum_state
    assert stored == QuorumStateData(
        leader_id=-1, leader_epoch=4, voted_id=2, voted_directory_id=directory_id(2)
    )


@pytest.mark.parametrize(
    ("end", "is_granted"),
    [((2, 2), True), ((9, 2), True), ((1, 3), True), ((1, 2), False), ((9, 1), False)],
)
def test_vote_goes_to_no_shorter_log(end: tuple[int, int], is_granted: bool) -> None:
    peer = Peer(epochs=(1, 2))
    assert peer.send_request(vote_request(2, 4, end=end)).vote_granted is is_granted


def test_vote_in_a_past_epoch_is_fenced() -> None:
    peer = Peer()
    peer.follow(2, 5)
    answer = peer.send_request(vote_request(3, 4))
    assert answer.error_code == ErrorCode.FENCED_LEADER_EPOCH
    assert (answer.leader_id, answer.leader_epoch) == (2, 5)


def test_no_vote_in_an_epoch_that_has_a_leader() -> None:
    peer = Peer()
    peer.follow(2, 5)
    assert not peer.send_request(vote_request(3, 5)).vote_granted


def test_word_of_a_later_epoch_deposes_even_if_the_vote_is_refused() -> None:
    peer = Peer()
    peer.become_leader()
    assert not peer.send_request(vote_request(2, 9)).vote_granted
    assert peer.state() is Unattached
    assert peer.raft.leader_and_epoch == (None, 9)


def test_request_for_another_cluster_is_refused() -> None:
    assert (
        Peer().send_request(vote_request(2, 1, cluster_id="other")).error_code
        == ErrorCode.INCONSISTENT_CLUSTER_ID
    )
    assert Peer().send_request(vote_request(2, 1, cluster_id=None)).vote_granted


def test_request_for_the_replica_that_had_this_disk_before_is_refused() -> None:
    for request in (
        vote_request(2, 1, voter_directory=directory_id(9)),
        vote_request(2, 1, voter_id=7),
    ):
        answer = Peer().send_request(request)
        assert answer.error_code == ErrorCode.INVALID_VOTER_KEY
        assert not answer.vote_granted


def test_request_about_no_partition_is_invalid() -> None:
    assert Peer().send_request(VoteRequest()).error_code == ErrorCode.INVALID_REQUEST


@pytest.mark.parametrize("end", [(-1, 0), (0, -1), (0, 1), (0, 2)])
def test_impossible_log_end_is_invalid(end: tuple[int, int]) -> None:
    assert Peer().send_request(vote_request(2, 1, end=end)).error_code == ErrorCode.INVALID_REQUEST


def test_pre_vote_may_end_in_the_epoch_it_is_in() -> None:
    assert Peer().send_request(vote_request(2, 1, end=(3, 1), is_pre_vote=True)).vote_granted


# ---- pre-votes (KIP-996)


def test_pre_vote_binds_no_voter() -> None:
    peer = Peer()
    assert peer.send_request(vote_request(2, 1, is_pre_vote=True)).vote_granted
    assert peer.send_request(vote_request(3, 1, is_pre_vote=True)).vote_granted
    assert peer.send_request(vote_request(3, 1)).vote_granted


def test_follower_with_a_live_leader_refuses_pre_votes() -> None:
    peer = Peer()
    peer.follow(2, 1)
    assert peer.send_request(vote_request(3, 1, is_pre_vote=True)).vote_granted
    [fetch] = [each for each in peer.requests(FetchRequest) if each.target == 2][-1:]
    peer.respond(fetch, fetched(2, 1))
    assert not peer.send_request(vote_request(3, 1, is_pre_vote=True)).vote_granted


def test_leader_refuses_pre_votes() -> None:
    peer = Peer()
    peer.become_leader()
    assert not peer.send_request(vote_request(3, 1, end=(99, 1), is_pre_vote=True)).vote_granted
    assert peer.raft.is_leader


def test_voter_raises_the_epoch_only_once_it_would_win() -> None:
    peer = Peer()
    peer.wait(1000)
    assert peer.state() is Prospective
    assert peer.raft.leader_and_epoch.epoch == 0
    sent = peer.requests(VoteRequest)
    assert {each.target for each in sent} == {2, 3}
    assert all(partition_of(each.message).pre_vote for each in sent)
    peer.respond(sent[0], vote_granted(0))
    assert peer.state() is Candidate
    assert peer.raft.leader_and_epoch.epoch == 1


def test_prospective_that_is_refused_goes_back_to_its_leader() -> None:
    peer = Peer()
    peer.follow(2, 3)
    peer.wait(2000)
    assert peer.state() is Prospective
    for sent in peer.requests(VoteRequest):
        peer.respond(sent, vote_granted(3, is_granted=False))
    assert peer.state() is Follower
    assert peer.raft.leader_and_epoch == (2, 3)


def test_candidate_that_loses_waits_and_requests_pre_votes_again() -> None:
    peer = Peer()
    peer.wait(1000)
    peer.respond(peer.requests(VoteRequest)[0], vote_granted(0))
    for sent in peer.requests(VoteRequest):
        peer.respond(sent, vote_granted(1, is_granted=False))
    assert peer.state() is Candidate
    peer.wait(1000)
    assert peer.state() is Prospective
    assert peer.raft.leader_and_epoch.epoch == 1


def test_refused_and_lost_votes_do_not_elect() -> None:
    peer = Peer(voter_set(1, 2, 3, 4, 5))
    peer.wait(1000)
    sent = peer.requests(VoteRequest)
    peer.respond(sent[0], vote_granted(0))
    peer.respond(sent[1], vote_granted(0, is_granted=False))
    peer.respond(sent[0], vote_granted(0))
    peer.respond(sent[2], VoteResponse(error_code=ErrorCode.UNKNOWN_SERVER_ERROR))
    assert peer.state() is Prospective


def test_vote_is_requested_again_after_a_failure_and_after_a_timeout() -> None:
    peer = Peer(election_timeout_ms=10_000)
    peer.wait(10_000)
    sent = peer.requests(VoteRequest)
    peer.replica.fail(sent[0].number, peer.now_ms)
    assert peer.requests(VoteRequest) == []
    peer.wait(20)
    assert [each.target for each in peer.requests(VoteRequest)] == [sent[0].target]
    peer.wait(2000)
    peer.wait(20)
    assert {each.target for each in peer.requests(VoteRequest)} == {2, 3}


def test_votes_are_not_requested_with_a_log_that_is_not_flushed() -> None:
    peer = Peer(is_flushing_at_once=False)
    peer.log.append([])
    peer.log.flushed_end_offset = -1
    peer.wait(1000)
    assert peer.state() is Prospective
    assert peer.requests(VoteRequest) == []
    peer.replica.flush()
    assert len(peer.requests(VoteRequest)) == 2


# ---- shutting down


def test_no_state_of_a_voter_that_shuts_down_leads_to_its_election() -> None:
    waits, follows, prospective, stands = Peer(), Peer(), Peer(), Peer()
    follows.follow(2, 3)
    for peer in (prospective, stands):
        peer.wait(1000)
    stands.respond(stands.requests(VoteRequest)[0], vote_granted(0))
    assert (prospective.state(), stands.state()) == (Prospective, Candidate)
    for peer in (waits, follows, prospective, stands):
        sent = peer.requests(VoteRequest)
        peer.replica.begin_shutdown(peer.now_ms)
        for each in sent:
            peer.respond(each, vote_granted(peer.raft.leader_and_epoch.epoch))
        peer.wait(10_000)
        assert peer.state() in (Unattached, Follower)
        assert peer.requests(VoteRequest) == []


def test_a_follower_that_shuts_down_pre_votes_once_its_leader_is_silent() -> None:
    peer = Peer()
    peer.follow(2, 3)
    peer.respond(peer.requests(FetchRequest)[-1], fetched(2, 3))
    peer.replica.begin_shutdown(peer.now_ms)
    assert not peer.send_request(vote_request(3, 3, is_pre_vote=True)).vote_granted
    peer.wait(2_000)
    assert peer.send_request(vote_request(3, 3, is_pre_vote=True)).vote_granted


def test_a_candidate_that_shuts_down_keeps_to_its_vote() -> None:
    peer = Peer()
    peer.wait(1000)
    peer.respond(peer.requests(VoteRequest)[0], vote_granted(0))
    peer.replica.begin_shutdown(peer.now_ms)
    assert not peer.send_request(vote_request(2, 1)).vote_granted
    assert peer.send_request(vote_request(2, 2)).vote_granted


def test_a_leader_that_shuts_down_leads_until_it_resigns() -> None:
    peer = Peer()
    peer.become_leader()
    peer.replica.begin_shutdown(peer.now_ms)
    assert peer.raft.is_leader
    peer.replica.resign(peer.now_ms)
    assert peer.state() is Resigned
    peer.wait(10_000)
    assert peer.state() is Unattached


# ---- starting


def test_only_voter_leads_at_once() -> None:
    peer = Peer(voter_set(1))
    assert peer.raft.is_leader
    assert peer.raft.leader_and_epoch == (1, 1)
    assert peer.raft.high_watermark == 3


def test_leader_starts_as_resigned() -> None:
    peer = Peer(stored=QuorumStateData(leader_id=1, leader_epoch=4))
    assert peer.state() is Resigned
    assert peer.raft.leader_and_epoch == (None, 4)
    assert not peer.send_request(vote_request(2, 4)).vote_granted


def test_only_voter_that_led_leads_in_the_next_epoch() -> None:
    peer = Peer(voter_set(1), stored=QuorumStateData(leader_id=1, leader_epoch=4))
    assert peer.raft.leader_and_epoch == (1, 5)


def test_vote_outlasts_a_restart() -> None:
    stored = QuorumStateData(leader_epoch=4, voted_id=2, voted_directory_id=directory_id(2))
    peer = Peer(stored=stored)
    assert not peer.send_request(vote_request(3, 4)).vote_granted
    assert peer.send_request(vote_request(2, 4)).vote_granted


def test_follower_starts_as_follower() -> None:
    peer = Peer(stored=QuorumStateData(leader_id=3, leader_epoch=4))
    assert peer.raft.leader_and_epoch == (3, 4)
    assert [each.target for each in peer.requests(FetchRequest)] == [3]


def test_candidate_starts_as_candidate() -> None:
    stored = QuorumStateData(leader_epoch=4, voted_id=1, voted_directory_id=directory_id(1))
    peer = Peer(stored=stored)
    assert peer.state() is Candidate
    assert peer.raft.leader_and_epoch.epoch == 4


def test_epoch_of_the_log_counts_if_the_file_is_behind() -> None:
    peer = Peer(epochs=(1, 6), stored=QuorumStateData(leader_id=2, leader_epoch=4))
    assert peer.raft.leader_and_epoch == (None, 6)
    assert peer.replica.disk.quorum_state is not None
    assert peer.replica.disk.quorum_state.leader_epoch == 6

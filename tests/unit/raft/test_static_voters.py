"""A quorum whose voters are configured, not in the log: `kraft.version` 0."""

from dataclasses import replace

from ottla.model import ZERO_UUID, ErrorCode
from ottla.raft import VoterSet
from ottla.wire.messages.remove_raft_voter import RemoveRaftVoterRequest
from ottla.wire.stored.quorum import LeaderChangeMessage
from ottla.wire.stored.quorum_state import quorum_state_to_json
from tests.support.raft.raft_log import ReplicaDisk
from tests.support.raft.raft_replica import CLUSTER_ID, Packet, Replica, config, directory_id, voter
from tests.support.raft.raft_scenarios import NoDice


def elected() -> tuple[Replica, Replica]:
    """The leader, which has committed, and its follower."""
    sent: list[Packet] = []
    voters = VoterSet.of(voter(each, directory=ZERO_UUID) for each in (1, 2))
    both = {
        each: Replica(
            replace(config(each), static_voters=voters),
            ReplicaDisk(),
            NoDice(each),
            sent.append,
            0,
        )
        for each in (1, 2)
    }
    sent.clear()
    both[1].advance(1010)
    while sent and both[1].raft.high_watermark is None:
        packet = sent.pop(0)
        if not packet.is_response or packet.connection is both[packet.target].raft:
            both[packet.target].deliver(packet, 1010)
    return both[1], both[2]


def test_configured_voters_elect_and_keep_the_old_quorum_state() -> None:
    leader, follower = elected()
    assert leader.raft.leader_and_epoch == (1, 1)
    assert [type(entry.value) for entry in leader.disk.log.entries] == [LeaderChangeMessage]
    stored = follower.disk.quorum_state
    assert stored is not None
    assert quorum_state_to_json(stored, 0) == (
        '{"clusterId":"","leaderId":1,"leaderEpoch":1,"votedId":1,"appliedOffset":0,'
        '"currentVoters":[{"voterId":1},{"voterId":2}],"data_version":0}'
    )


def test_configured_voters_do_not_change_at_run_time() -> None:
    leader, _ = elected()
    request = RemoveRaftVoterRequest(
        cluster_id=CLUSTER_ID, voter_id=2, voter_directory_id=directory_id(2)
    )
    answer = leader.answers[leader.request(request, 1010)]
    assert answer.error_code == ErrorCode.UNSUPPORTED_VERSION  # type: ignore[attr-defined]

"""Replicas with two listeners, while some of them already connect to the other one."""

from __future__ import annotations

from typing import Any

import pytest

from ottla.raft import VoterEndpoint, VoterSet
from ottla.wire.messages.update_raft_voter import UpdateRaftVoterRequest
from ottla.wire.messages.vote import VoteRequest
from ottla.wire.schema import Message
from tests.support.raft.raft_peer import (
    Peer,
    begin_request,
    end_request,
    fetch_request,
    snapshot_request,
    vote_request,
)
from tests.support.raft.raft_replica import CLUSTER_ID, config, directory_id, voter

SECURED = "SECURED"


def both(node_id: int) -> tuple[VoterEndpoint, ...]:
    [endpoint] = voter(node_id).endpoints
    return endpoint, VoterEndpoint(SECURED, f"secured-{node_id}", 9100 + node_id)


def peer() -> Peer:
    voters = VoterSet.of(voter(each)._replace(endpoints=both(each)) for each in (1, 2, 3))
    return Peer(voters, endpoints=both(1))


def update_request(epoch: int) -> UpdateRaftVoterRequest:
    return UpdateRaftVoterRequest(
        cluster_id=CLUSTER_ID,
        current_leader_epoch=epoch,
        voter_id=3,
        voter_directory_id=directory_id(3),
    )


def answer(replica: Peer, request: Message, listener: str | None) -> Any:
    number = replica.raft.receive(request, now_ms=replica.now_ms, listener_name=listener)
    replica.replica.carry_out()
    return replica.replica.answers.pop(number)


def leader_of(response: Any) -> list[tuple[str, int]]:
    if hasattr(response, "node_endpoints"):
        return [(each.host, each.port) for each in response.node_endpoints]
    current = response.current_leader
    return [(current.host, current.port)] if current.host else []


STALE = [
    fetch_request(3, 4, 0, 0),
    snapshot_request(3, 4, (1, 1)),
    vote_request(3, 4),
    begin_request(3, 4),
    end_request(3, 4),
    update_request(4),
]


@pytest.mark.parametrize("request_", STALE, ids=lambda request: type(request).__name__)
def test_a_response_names_the_leader_on_the_listener_of_the_request(request_: Message) -> None:
    follower = peer()
    follower.follow(2, 5)
    assert leader_of(answer(follower, request_, None)) == [("n2", 9002)]
    assert leader_of(answer(follower, request_, "CONTROLLER")) == [("n2", 9002)]
    assert leader_of(answer(follower, request_, SECURED)) == [("secured-2", 9102)]
    assert leader_of(answer(follower, request_, "OTHER")) == []


def test_a_leader_names_its_own_address_on_the_listener_of_the_request() -> None:
    leader = peer()
    leader.become_leader()
    for listener, address in (("CONTROLLER", ("n1", 9001)), (SECURED, ("secured-1", 9101))):
        assert leader_of(answer(leader, fetch_request(3, 0, 0, 0), listener)) == [address]


def test_a_replica_connects_to_the_first_of_its_own_listeners() -> None:
    voters = VoterSet.of(voter(each)._replace(endpoints=both(each)[::-1]) for each in (1, 2, 3))
    first = Peer(voters, endpoints=config(1).endpoints)
    first.wait(3_000)
    assert {each.target for each in first.requests(VoteRequest)} == {2, 3}

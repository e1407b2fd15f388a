"""The metadata quorum: its voters and observers (KIP-595, KIP-853)."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Final, NamedTuple

from ottla.client.administration.requests import AdminRequests, require
from ottla.model import ZERO_UUID, Uuid, uuid_to_text
from ottla.runtime.network import Address
from ottla.wire.messages.add_raft_voter import AddRaftVoterRequest, Listener
from ottla.wire.messages.describe_quorum import (
    DescribeQuorumRequest,
    DescribeQuorumRequestPartitionData,
    DescribeQuorumRequestTopicData,
    DescribeQuorumResponse,
)
from ottla.wire.messages.remove_raft_voter import RemoveRaftVoterRequest

METADATA_TOPIC: Final = "__cluster_metadata"
# The node answers after the time that the request gives it.
_GRACE_MS: Final = 10_000


class QuorumReplica(NamedTuple):
    """`lag` is in records; the times are None if the leader has had no fetch of the replica."""

    id: int
    directory_id: Uuid
    is_leader: bool
    is_voter: bool
    log_end_offset: int
    lag: int
    last_fetch_ms: int | None
    last_caught_up_ms: int | None

    @property
    def role(self) -> str:
        if self.is_leader:
            return "leader"
        return "voter" if self.is_voter else "observer"

    @property
    def directory_id_text(self) -> str | None:
        """None for a voter of a static quorum, which has no directory ids."""
        return None if self.directory_id == ZERO_UUID else uuid_to_text(self.directory_id)


@dataclass(frozen=True, slots=True)
class DescribedQuorum:
    """`replicas` has the voters first. `addresses` are those of the voters by listener, as far as
    the cluster says them."""

    leader_id: int
    leader_epoch: int
    high_watermark: int
    replicas: tuple[QuorumReplica, ...]
    addresses: Mapping[int, Mapping[str, Address]]


class QuorumOperations(AdminRequests):
    """The methods of `Admin` for the metadata quorum."""

    async def describe_quorum(self, *, timeout: float | None = None) -> DescribedQuorum:
        """The leader of the metadata log, and how far each replica has it."""
        topic = DescribeQuorumRequestTopicData(
            topic_name=METADATA_TOPIC, partitions=[DescribeQuorumRequestPartitionData()]
        )

        def check(answer: DescribeQuorumResponse) -> None:
            require(answer.error_code, answer.error_message)
            for partition in answer.topics[0].partitions:
                require(partition.error_code, partition.error_message)

        answer = await self._ask_controller(
            "describe the quorum", DescribeQuorumRequest(topics=[topic]), timeout, check
        )
        return _quorum(answer)

    async def add_voter(
        self,
        voter_id: int,
        directory_id: Uuid,
        endpoints: Mapping[str, Address],
        *,
        timeout: float | None = None,
    ) -> None:
        """Makes a running controller a voter. `endpoints` has its address by listener."""
        listeners = [
            Listener(name=name, host=address.host, port=address.port)
            for name, address in endpoints.items()
        ]
        deadline = self._deadline(timeout)

        async def attempt() -> None:
            waits_ms = self._remaining_ms(deadline)
            request = AddRaftVoterRequest(
                cluster_id=None,
                timeout_ms=waits_ms,
                voter_id=voter_id,
                voter_directory_id=directory_id,
                listeners=listeners,
            )
            answer = await self._cluster.send_to_controller(
                request, timeout_ms=waits_ms + _GRACE_MS
            )
            require(answer.error_code, answer.error_message)

        await self._retrying(f"add voter {voter_id}", attempt, timeout)

    async def remove_voter(
        self, voter_id: int, directory_id: Uuid, *, timeout: float | None = None
    ) -> None:
        """Removes a voter from the quorum."""
        await self._ask_controller(
            f"remove voter {voter_id}",
            RemoveRaftVoterRequest(
                cluster_id=None, voter_id=voter_id, voter_directory_id=directory_id
            ),
            timeout,
            lambda answer: require(answer.error_code, answer.error_message),
        )


def _quorum(answer: DescribeQuorumResponse) -> DescribedQuorum:
    (partition,) = answer.topics[0].partitions
    states = [(state, True) for state in partition.current_voters]
    states += [(state, False) for state in partition.observers]
    ends = {state.replica_id: state.log_end_offset for state, _ in states}
    end = ends.get(partition.leader_id, partition.high_watermark)
    replicas = tuple(
        QuorumReplica(
            state.replica_id,
            state.replica_directory_id,
            is_leader=state.replica_id == partition.leader_id,
            is_voter=is_voter,
            log_end_offset=state.log_end_offset,
            # A follower may report a later offset after the leader has read its own log end.
            lag=max(end - max(state.log_end_offset, 0), 0),
            last_fetch_ms=_time(state.last_fetch_timestamp),
            last_caught_up_ms=_time(state.last_caught_up_timestamp),
        )
        for state, is_voter in states
    )
    return DescribedQuorum(
        partition.leader_id,
        partition.leader_epoch,
        partition.high_watermark,
        replicas,
        {
            node.node_id: {each.name: Address(each.host, each.port) for each in node.listeners}
            for node in answer.nodes
        },
    )


def _time(timestamp_ms: int) -> int | None:
    return None if timestamp_ms < 0 else timestamp_ms

"""The metadata quorum as its leader describes it (KIP-595)."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Final, NamedTuple

from ottla.cli.connection.cluster_admin import ClusterAdmin, refusal
from ottla.model import ZERO_UUID, Uuid, uuid_to_text
from ottla.runtime.network import Address
from ottla.wire.messages.describe_quorum import (
    DescribeQuorumRequest,
    DescribeQuorumRequestPartitionData,
    DescribeQuorumRequestTopicData,
    DescribeQuorumResponse,
)

METADATA_TOPIC: Final = "__cluster_metadata"


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
    leader_id: int
    leader_epoch: int
    high_watermark: int
    # Voters first.
    replicas: tuple[QuorumReplica, ...]
    # The addresses of the voters by listener, as far as the response has them.
    addresses: dict[int, dict[str, Address]]


async def describe_quorum(admin: ClusterAdmin) -> DescribedQuorum:
    """Raises CommandError while there is no leader."""
    topic = DescribeQuorumRequestTopicData(
        topic_name=METADATA_TOPIC, partitions=[DescribeQuorumRequestPartitionData()]
    )
    response = await admin.send_request(DescribeQuorumRequest(topics=[topic]))
    if response.error_code:
        raise refusal("describe the quorum", response.error_code, response.error_message)
    (partition,) = response.topics[0].partitions
    if partition.error_code:
        raise refusal("describe the quorum", partition.error_code, partition.error_message)
    return _quorum(response)


def _quorum(response: DescribeQuorumResponse) -> DescribedQuorum:
    (partition,) = response.topics[0].partitions
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
            for node in response.nodes
        },
    )


def _time(timestamp_ms: int) -> int | None:
    return None if timestamp_ms < 0 else timestamp_ms

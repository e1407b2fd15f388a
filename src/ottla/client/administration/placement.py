"""Where partitions are: elections of leaders, reassignments of replicas."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from enum import IntEnum
from typing import Any, NamedTuple

from ottla.client.administration.requests import (
    AdminRequests,
    by_topic,
    outcome,
    require,
)
from ottla.client.administration.results import Results
from ottla.model import ErrorCode, TopicPartition
from ottla.wire.messages.alter_partition_reassignments import (
    AlterPartitionReassignmentsRequest,
    ReassignablePartition,
    ReassignableTopic,
)
from ottla.wire.messages.elect_leaders import ElectLeadersRequest, TopicPartitions
from ottla.wire.messages.list_partition_reassignments import (
    ListPartitionReassignmentsRequest,
    ListPartitionReassignmentsTopics,
)


class LeaderElection(IntEnum):
    """UNCLEAN may lose records: it also elects replicas that are not in sync."""

    PREFERRED = 0
    UNCLEAN = 1


class ElectedLeader(NamedTuple):
    """`was_needed` is False if the partition had the right leader already."""

    was_needed: bool


class Reassignment(NamedTuple):
    """A partition that moves: all its replicas, and which of them come and go."""

    replicas: tuple[int, ...]
    adding: tuple[int, ...]
    removing: tuple[int, ...]


class PlacementOperations(AdminRequests):
    """The methods of `Admin` for the places of partitions."""

    async def elect_leaders(
        self,
        partitions: Iterable[TopicPartition] | None = None,
        *,
        election: LeaderElection = LeaderElection.PREFERRED,
        timeout: float | None = None,
    ) -> Results[TopicPartition, ElectedLeader]:
        """Elects leaders of these partitions, or of all that need it."""
        names = None if partitions is None else list(partitions)
        deadline = self._deadline(timeout)

        async def attempt() -> Any:
            request = ElectLeadersRequest(
                election_type=election,
                topic_partitions=None
                if names is None
                else [
                    TopicPartitions(topic=topic, partitions=indexes)
                    for topic, indexes in by_topic(names).items()
                ],
                timeout_ms=self._remaining_ms(deadline),
            )
            answer = await self._cluster.send_to_controller(request)
            require(answer.error_code)
            return answer

        answer = await self._retrying("elect leaders", attempt, timeout)
        return Results(
            {
                TopicPartition(topic.topic, each.partition_id): ElectedLeader(was_needed=False)
                if each.error_code == ErrorCode.ELECTION_NOT_NEEDED
                else outcome(ElectedLeader(was_needed=True), each.error_code, each.error_message)
                for topic in answer.replica_election_results
                for each in topic.partition_result
            }
        )

    async def alter_partition_reassignments(
        self,
        replicas: Mapping[TopicPartition, Sequence[int] | None],
        *,
        allow_replication_factor_change: bool = True,
        timeout: float | None = None,
    ) -> Results[TopicPartition, None]:
        """Starts moving partitions to these brokers; None cancels a move."""
        deadline = self._deadline(timeout)

        async def attempt() -> Any:
            answer = await self._cluster.send_to_controller(
                AlterPartitionReassignmentsRequest(
                    timeout_ms=self._remaining_ms(deadline),
                    allow_replication_factor_change=allow_replication_factor_change,
                    topics=_reassignable(replicas),
                )
            )
            require(answer.error_code, answer.error_message)
            return answer

        answer = await self._retrying("move partitions", attempt, timeout)
        return Results(
            {
                TopicPartition(topic.name, each.partition_index): outcome(
                    None, each.error_code, each.error_message
                )
                for topic in answer.responses
                for each in topic.partitions
            }
        )

    async def list_partition_reassignments(
        self, partitions: Iterable[TopicPartition] | None = None, *, timeout: float | None = None
    ) -> dict[TopicPartition, Reassignment]:
        """The moves in progress, of these partitions or of all."""
        topics = None
        if partitions is not None:
            topics = [
                ListPartitionReassignmentsTopics(name=topic, partition_indexes=indexes)
                for topic, indexes in by_topic(partitions).items()
            ]
        answer = await self._ask_controller(
            "list reassignments",
            ListPartitionReassignmentsRequest(topics=topics),
            timeout,
            lambda answer: require(answer.error_code, answer.error_message),
        )
        return {
            TopicPartition(topic.name, each.partition_index): Reassignment(
                tuple(each.replicas), tuple(each.adding_replicas), tuple(each.removing_replicas)
            )
            for topic in answer.topics
            for each in topic.partitions
        }


def _reassignable(
    replicas: Mapping[TopicPartition, Sequence[int] | None],
) -> list[ReassignableTopic]:
    return [
        ReassignableTopic(
            name=topic,
            partitions=[
                ReassignablePartition(
                    partition_index=index,
                    replicas=None
                    if (to := replicas[TopicPartition(topic, index)]) is None
                    else list(to),
                )
                for index in indexes
            ],
        )
        for topic, indexes in by_topic(sorted(replicas)).items()
    ]

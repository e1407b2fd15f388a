"""Share groups (KIP-932): describe them, and list and move their start offsets."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import NamedTuple

from ottla.client.administration.groups import GroupDescription, MemberDescription
from ottla.client.administration.requests import (
    AdminRequests,
    Outcomes,
    by_topic,
    outcome,
    require,
)
from ottla.client.administration.results import Results
from ottla.client.cluster import CoordinatorKind
from ottla.model import TopicPartition
from ottla.wire.messages.alter_share_group_offsets import (
    AlterShareGroupOffsetsRequest,
    AlterShareGroupOffsetsRequestPartition,
    AlterShareGroupOffsetsRequestTopic,
)
from ottla.wire.messages.describe_share_group_offsets import (
    DescribeShareGroupOffsetsRequest,
    DescribeShareGroupOffsetsRequestGroup,
)
from ottla.wire.messages.share_group_describe import ShareGroupDescribeRequest

SHARE = "share"


class ShareOffset(NamedTuple):
    """Records below the start offset are done. The offset is None while the group has not begun in
    the partition, and the lag is None if it is not known."""

    start_offset: int | None
    lag: int | None


class ShareGroupOperations(AdminRequests):
    """The methods of `Admin` for share groups."""

    async def describe_share_group(
        self, group_id: str, *, timeout: float | None = None
    ) -> GroupDescription:
        """Raises GroupIdNotFoundError also for a group of another type."""
        request = ShareGroupDescribeRequest(group_ids=[group_id])

        async def attempt(node_id: int) -> GroupDescription:
            (found,) = (await self._ask_node(node_id, request)).groups
            require(found.error_code, found.error_message)
            return GroupDescription(
                group_id,
                SHARE,
                found.group_state,
                SHARE,
                found.assignor_name,
                node_id,
                tuple(
                    MemberDescription(
                        member.member_id,
                        None,
                        member.client_id,
                        member.client_host,
                        tuple(
                            TopicPartition(topic.topic_name, index)
                            for topic in member.assignment.topic_partitions
                            for index in topic.partitions
                        ),
                        epoch=member.member_epoch,
                        rack=member.rack_id,
                        subscribed_topics=tuple(member.subscribed_topic_names),
                    )
                    for member in found.members
                ),
                epoch=found.group_epoch,
                assignment_epoch=found.assignment_epoch,
            )

        return await self._of_coordinator(
            "describe the share group", CoordinatorKind.GROUP, group_id, attempt, timeout
        )

    async def list_share_group_offsets(
        self, group_id: str, *, timeout: float | None = None
    ) -> dict[TopicPartition, ShareOffset]:
        """The start offset and the lag in each partition of the group, in order."""
        wanted = DescribeShareGroupOffsetsRequestGroup(group_id=group_id, topics=None)
        request = DescribeShareGroupOffsetsRequest(groups=[wanted])

        async def attempt(node_id: int) -> dict[TopicPartition, ShareOffset]:
            (found,) = (await self._ask_node(node_id, request)).groups
            require(found.error_code, found.error_message)
            return {
                TopicPartition(topic.topic_name, each.partition_index): ShareOffset(
                    None if each.start_offset < 0 else each.start_offset,
                    None if each.lag < 0 else each.lag,
                )
                for topic in sorted(found.topics, key=lambda topic: topic.topic_name)
                for each in sorted(topic.partitions, key=lambda each: each.partition_index)
                if not each.error_code
            }

        return await self._of_coordinator(
            "list the offsets of the share group", CoordinatorKind.GROUP, group_id, attempt, timeout
        )

    async def alter_share_group_offsets(
        self,
        group_id: str,
        offsets: Mapping[TopicPartition, int],
        *,
        timeout: float | None = None,
    ) -> Results[TopicPartition, None]:
        """Sets the start offsets of a share group without members, which begins to exist if it
        does not. What was in flight is forgotten."""
        request = AlterShareGroupOffsetsRequest(
            group_id=group_id,
            topics=[
                AlterShareGroupOffsetsRequestTopic(
                    topic_name=topic,
                    partitions=[
                        AlterShareGroupOffsetsRequestPartition(
                            partition_index=index,
                            start_offset=offsets[TopicPartition(topic, index)],
                        )
                        for index in indexes
                    ],
                )
                for topic, indexes in by_topic(offsets).items()
            ],
        )

        async def attempt(node_id: int) -> Sequence[tuple[TopicPartition, int, str | None]]:
            answer = await self._ask_node(node_id, request)
            require(answer.error_code, answer.error_message)
            return [
                (
                    TopicPartition(topic.topic_name, each.partition_index),
                    each.error_code,
                    each.error_message,
                )
                for topic in answer.responses
                for each in topic.partitions
            ]

        found = await self._of_coordinator(
            "move the offsets of the share group",
            CoordinatorKind.GROUP,
            group_id,
            attempt,
            timeout,
        )
        outcomes: Outcomes[TopicPartition, None] = {
            name: outcome(None, code, message) for name, code, message in found
        }
        return Results(outcomes)

"""The offsets that groups have committed."""

from __future__ import annotations

from collections.abc import Awaitable, Callable, Collection, Iterable, Mapping, Sequence
from typing import Any, Final

from ottla.client.administration.requests import (
    AdminRequests,
    Outcomes,
    by_topic,
    is_transient,
    node_error,
    outcome,
    require,
)
from ottla.client.administration.results import Results
from ottla.client.cluster import CoordinatorKind
from ottla.client.errors import ClientError
from ottla.client.records import OffsetAndMetadata
from ottla.model import TopicPartition
from ottla.wire.messages.offset_commit import (
    OffsetCommitRequest,
    OffsetCommitRequestPartition,
    OffsetCommitRequestTopic,
)
from ottla.wire.messages.offset_delete import (
    OffsetDeleteRequest,
    OffsetDeleteRequestPartition,
    OffsetDeleteRequestTopic,
)
from ottla.wire.messages.offset_fetch import (
    OffsetFetchRequest,
    OffsetFetchRequestGroup,
    OffsetFetchRequestTopic,
    OffsetFetchRequestTopics,
)

# Later versions have ids in place of the names of topics, which may be those of deleted ones.
_NAMES_IN_FETCH: Final = 9
_NAMES_IN_COMMIT: Final = 9


class GroupOffsetOperations(AdminRequests):
    """The methods of `Admin` for committed offsets."""

    async def list_group_offsets(
        self,
        groups: Iterable[str] | Mapping[str, Iterable[TopicPartition] | None],
        *,
        require_stable: bool = False,
        timeout: float | None = None,
    ) -> Results[str, dict[TopicPartition, OffsetAndMetadata]]:
        """The committed offsets of groups, all or those of some partitions, in order. Partitions
        without one are left out. `require_stable` waits for transactions that commit offsets."""
        wanted: Mapping[str, Iterable[TopicPartition] | None] = (
            groups if isinstance(groups, Mapping) else dict.fromkeys(groups)
        )
        chosen = {
            group_id: None if names is None else by_topic(names)
            for group_id, names in wanted.items()
        }

        async def exchange(
            node_id: int, ids: Sequence[str]
        ) -> Outcomes[str, dict[TopicPartition, OffsetAndMetadata]]:
            found: dict[str, dict[TopicPartition, OffsetAndMetadata] | ClientError] = {}
            for group_id in ids:
                request = _fetch_request(group_id, chosen[group_id], require_stable=require_stable)
                answer = await self._cluster.send(node_id, request, version_max=_NAMES_IN_FETCH)
                found[group_id] = _fetched(answer)
            return found

        return await self._each_key(
            "list the offsets of groups", CoordinatorKind.GROUP, wanted, exchange, timeout
        )

    async def alter_group_offsets(
        self,
        group_id: str,
        offsets: Mapping[TopicPartition, int | OffsetAndMetadata],
        *,
        timeout: float | None = None,
    ) -> Results[TopicPartition, None]:
        """Commits other offsets for a group without members, which begins to exist if it does
        not."""
        request = OffsetCommitRequest(
            group_id=group_id,
            topics=[
                OffsetCommitRequestTopic(
                    name=topic,
                    partitions=[
                        _committed(index, offsets[TopicPartition(topic, index)])
                        for index in indexes
                    ],
                )
                for topic, indexes in by_topic(offsets).items()
            ],
        )

        async def attempt(node_id: int) -> Outcomes[TopicPartition, None]:
            answer = await self._cluster.send(node_id, request, version_max=_NAMES_IN_COMMIT)
            return _of_partitions(answer)

        return await self._offsets_of("move the offsets", group_id, offsets, attempt, timeout)

    async def delete_group_offsets(
        self, group_id: str, partitions: Iterable[TopicPartition], *, timeout: float | None = None
    ) -> Results[TopicPartition, None]:
        """Forgets what a group has committed for these partitions, which no member may read."""
        names = list(partitions)
        request = OffsetDeleteRequest(
            group_id=group_id,
            topics=[
                OffsetDeleteRequestTopic(
                    name=topic,
                    partitions=[
                        OffsetDeleteRequestPartition(partition_index=index) for index in indexes
                    ],
                )
                for topic, indexes in by_topic(names).items()
            ],
        )

        async def attempt(node_id: int) -> Outcomes[TopicPartition, None]:
            answer = await self._ask_node(node_id, request)
            require(answer.error_code)
            return _of_partitions(answer)

        return await self._offsets_of("delete the offsets", group_id, names, attempt, timeout)

    async def _offsets_of(
        self,
        what: str,
        group_id: str,
        partitions: Collection[TopicPartition],
        attempt: Callable[[int], Awaitable[Outcomes[TopicPartition, None]]],
        timeout: float | None,
    ) -> Results[TopicPartition, None]:
        """Errors that are those of the group, such as a coordinator that moved, are on every
        partition."""

        async def once(node_id: int) -> Outcomes[TopicPartition, None]:
            found = await attempt(node_id)
            for result in found.values():
                if is_transient(result):
                    assert isinstance(result, ClientError)
                    raise result
            return found

        if not partitions:
            return Results({})
        found = await self._of_coordinator(
            f"{what} of group {group_id}", CoordinatorKind.GROUP, group_id, once, timeout
        )
        return Results(found)


def _fetch_request(
    group_id: str, topics: Mapping[str, list[int]] | None, *, require_stable: bool
) -> OffsetFetchRequest:
    """Up to version 7 there is one group, from 8 on a list."""
    return OffsetFetchRequest(
        group_id=group_id,
        topics=None
        if topics is None
        else [
            OffsetFetchRequestTopic(name=name, partition_indexes=indexes)
            for name, indexes in topics.items()
        ],
        groups=[
            OffsetFetchRequestGroup(
                group_id=group_id,
                topics=None
                if topics is None
                else [
                    OffsetFetchRequestTopics(name=name, partition_indexes=indexes)
                    for name, indexes in topics.items()
                ],
            )
        ],
        require_stable=require_stable,
    )


def _fetched(answer: Any) -> dict[TopicPartition, OffsetAndMetadata] | ClientError:
    group = answer.groups[0] if answer.groups else answer
    if group.error_code:
        return node_error(group.error_code)
    found = {}
    for topic in group.topics:
        for each in topic.partitions:
            if each.error_code:
                return node_error(each.error_code)
            if each.committed_offset >= 0:
                found[TopicPartition(topic.name, each.partition_index)] = OffsetAndMetadata(
                    each.committed_offset, each.committed_leader_epoch, each.metadata or ""
                )
    return dict(sorted(found.items()))


def _committed(partition: int, wanted: int | OffsetAndMetadata) -> OffsetCommitRequestPartition:
    offset = OffsetAndMetadata(wanted) if isinstance(wanted, int) else wanted
    return OffsetCommitRequestPartition(
        partition_index=partition,
        committed_offset=offset.offset,
        committed_leader_epoch=offset.leader_epoch,
        committed_metadata=offset.metadata,
    )


def _of_partitions(answer: Any) -> Outcomes[TopicPartition, None]:
    return {
        TopicPartition(topic.name, each.partition_index): outcome(None, each.error_code)
        for topic in answer.topics
        for each in topic.partitions
    }

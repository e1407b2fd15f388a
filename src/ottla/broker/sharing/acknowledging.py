"""The acknowledgements of a ShareFetch or ShareAcknowledge request."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from functools import partial
from typing import Any, Final, NamedTuple

from ottla.broker.control.cluster_view import ClusterView
from ottla.broker.network.handling import RequestContext
from ottla.broker.sharing.share_metrics import ShareMetrics
from ottla.broker.sharing.share_sessions import TopicIndex
from ottla.broker.sharing.shared_partitions import SharedPartitions
from ottla.model import ErrorCode, KafkaError
from ottla.runtime.clock import Clock
from ottla.security.acls.acl import AclOperation, ResourceType
from ottla.shares.delivery import AcknowledgedOffsets
from ottla.shares.record_state import AcknowledgeType
from ottla.shares.retry_delay import RETRY_DELAY_MS_MAX, delay_of
from ottla.shares.share_key import ShareKey

_RENEW_VERSION: Final = 2

# The partitions with their errors, or None.
AcknowledgeResults = dict[TopicIndex, KafkaError | None]


class Acknowledgements(NamedTuple):
    """Those of one partition in a request."""

    place: TopicIndex
    batches: Sequence[AcknowledgedOffsets]


def acknowledgements_of(topics: Iterable[Any]) -> list[Acknowledgements]:
    """The acknowledgements of a request, which both APIs declare in the same way."""
    return [
        Acknowledgements(
            TopicIndex(topic.topic_id, partition.partition_index),
            [
                AcknowledgedOffsets(
                    batch.first_offset, batch.last_offset, batch.acknowledge_types, delay_of(batch)
                )
                for batch in partition.acknowledgement_batches
            ],
        )
        for topic in topics
        for partition in topic.partitions
        if partition.acknowledgement_batches
    ]


class Acknowledging:
    """Owned by the node's loop."""

    def __init__(
        self,
        cluster: ClusterView,
        shared: SharedPartitions,
        clock: Clock,
        metrics: ShareMetrics,
    ) -> None:
        self._cluster = cluster
        self._shared = shared
        self._clock = clock
        self._metrics = metrics

    def acknowledge(
        self,
        context: RequestContext,
        group_id: str,
        member_id: str,
        wanted: Sequence[Acknowledgements],
        *,
        is_renewal: bool,
        finished: Callable[[AcknowledgeResults], None],
    ) -> None:
        """Calls `finished` once, when all changes are stored."""
        results: AcknowledgeResults = {}
        missing = len(wanted)
        if not wanted:
            finished(results)
            return

        def stored(index: TopicIndex, error: KafkaError | None) -> None:
            nonlocal missing
            results[index] = error
            missing -= 1
            if not missing:
                finished(results)

        may_renew = context.api_version >= _RENEW_VERSION and is_renewal
        for each in wanted:
            try:
                self._start(context, group_id, member_id, each, stored, may_renew=may_renew)
            except KafkaError as error:
                self._metrics.refused()
                stored(each.place, error)

    def _start(
        self,
        context: RequestContext,
        group_id: str,
        member_id: str,
        wanted: Acknowledgements,
        stored: Callable[[TopicIndex, KafkaError | None], None],
        *,
        may_renew: bool,
    ) -> None:
        topic_id, number = wanted.place
        topic = self._cluster.image.topics.by_id.get(topic_id)
        if topic is None:
            raise KafkaError(ErrorCode.UNKNOWN_TOPIC_ID, "no topic has this id")
        context.rights.require(AclOperation.READ, ResourceType.TOPIC, topic.name)
        _check(wanted.batches, may_renew=may_renew)
        shared = self._shared.get(ShareKey(group_id, topic_id, number))
        if shared is None or not shared.is_active:
            registration = topic.partitions.get(number)
            if registration is not None and registration.leader != self._cluster.node_id:
                raise KafkaError(
                    ErrorCode.NOT_LEADER_OR_FOLLOWER,
                    f"this node does not lead {topic.name}-{number} any more",
                )
            raise KafkaError(
                ErrorCode.UNKNOWN_TOPIC_OR_PARTITION,
                f"this node has no records of {topic.name}-{number} in flight for {group_id}",
            )
        now = self._clock.monotonic() * 1_000
        change = shared.machine.acknowledge(member_id, wanted.batches, now=now)
        self._metrics.acknowledged(wanted.batches)
        shared.store(change, partial(stored, wanted.place))
        if shared.is_active:
            shared.settle()


def _check(batches: Sequence[AcknowledgedOffsets], *, may_renew: bool) -> None:
    """Raises INVALID_REQUEST for acknowledgements that no client should send."""
    highest = AcknowledgeType.RENEW if may_renew else AcknowledgeType.REJECT
    end = -1
    for first, last, types, delay_ms in batches:
        if (delay_ms is not None and not 0 <= delay_ms <= RETRY_DELAY_MS_MAX) or (
            first > last
            or first < end
            or not types
            or (len(types) > 1 and last - first != len(types) - 1)
            or not 0 <= min(types) <= max(types) <= highest
        ):
            raise KafkaError(
                ErrorCode.INVALID_REQUEST,
                f"the acknowledgement of offsets {first} to {last} is invalid",
            )
        end = last

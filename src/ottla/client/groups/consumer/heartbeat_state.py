"""What a member of the consumer protocol tells the coordinator, without I/O.

Heartbeats say only what has changed; the first one after joining or an error says everything,
because the coordinator may not have received the last one.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable, Mapping
from typing import Final, NamedTuple

from ottla.client.groups.member_settings import MemberSettings
from ottla.model import TopicPartition, Uuid
from ottla.wire.messages.consumer_group_heartbeat import (
    ConsumerGroupHeartbeatRequest,
    TopicPartitions,
)

JOINING_EPOCH: Final = 0
LEAVING_EPOCH: Final = -1
# A static member that comes back gets its partitions again (KIP-345).
LEAVING_STATIC_EPOCH: Final = -2


class SubscribedTo(NamedTuple):
    topics: frozenset[str]
    regex: str | None = None


class HeartbeatState:
    """Filled by the member. `request` is called once for each heartbeat, and `failed` if it was not
    answered."""

    def __init__(self, settings: MemberSettings, member_id: str) -> None:
        self.member_id = member_id
        self.epoch = JOINING_EPOCH
        self._settings = settings
        self._said_subscription: SubscribedTo | None = None
        self._said_owned: frozenset[TopicPartition] | None = None

    @property
    def is_joined(self) -> bool:
        return self.epoch > JOINING_EPOCH

    def request(
        self,
        subscription: SubscribedTo,
        owned: frozenset[TopicPartition],
        topic_ids: Mapping[str, Uuid],
    ) -> ConsumerGroupHeartbeatRequest:
        settings = self._settings
        request = ConsumerGroupHeartbeatRequest(
            group_id=settings.group_id,
            member_id=self.member_id,
            member_epoch=self.epoch,
            instance_id=settings.instance_id,
        )
        says_all = self._said_owned is None or not self.is_joined
        if says_all:
            request.rack_id = settings.rack_id
            request.rebalance_timeout_ms = settings.max_poll_interval_ms
            request.server_assignor = settings.remote_assignor
        if says_all or subscription != self._said_subscription:
            request.subscribed_topic_names = sorted(subscription.topics)
            request.subscribed_topic_regex = subscription.regex
            if subscription.regex is None and self._said_regex:
                # Null would leave the expression as it was.
                request.subscribed_topic_regex = ""
        if says_all or owned != self._said_owned:
            request.topic_partitions = [] if not self.is_joined else _by_id(owned, topic_ids)
        self._said_subscription = subscription
        self._said_owned = owned
        return request

    @property
    def _said_regex(self) -> bool:
        return self._said_subscription is not None and self._said_subscription.regex is not None

    def leave(self) -> ConsumerGroupHeartbeatRequest:
        is_static = self._settings.instance_id is not None
        return ConsumerGroupHeartbeatRequest(
            group_id=self._settings.group_id,
            member_id=self.member_id,
            member_epoch=LEAVING_STATIC_EPOCH if is_static else LEAVING_EPOCH,
            instance_id=self._settings.instance_id,
        )

    def answered(self, epoch: int) -> None:
        self.epoch = epoch

    def failed(self) -> None:
        """The next heartbeat says everything."""
        self._said_owned = None

    def fenced(self) -> None:
        """Joins again with the same id."""
        self.epoch = JOINING_EPOCH
        self._said_owned = None


def _by_id(owned: Iterable[TopicPartition], topic_ids: Mapping[str, Uuid]) -> list[TopicPartitions]:
    topics: dict[Uuid, list[int]] = defaultdict(list)
    for each in sorted(owned):
        if each.topic in topic_ids:
            topics[topic_ids[each.topic]].append(each.partition)
    return [
        TopicPartitions(topic_id=topic_id, partitions=indexes)
        for topic_id, indexes in topics.items()
    ]

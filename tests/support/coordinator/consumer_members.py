"""Members of the consumer protocol for tests, and topics for them to want."""

from __future__ import annotations

from typing import Any

from ottla.coordinator.groups.client import Client
from ottla.metadata import MetadataImage, PartitionRegistration, TopicImage
from ottla.model import ErrorCode, Uuid
from ottla.wire.messages import consumer_group_heartbeat as wire
from tests.support.coordinator.group_shard import GROUP, Answer, GroupShard

REBALANCE_MS = 60_000


def topic_id(name: str) -> Uuid:
    return Uuid(name.encode().ljust(16, b"."))


def add_topic(image: MetadataImage, name: str, partitions: int) -> None:
    known = image.topics.by_name.get(name)
    if known is not None:
        image.topics.remove(known)
    registration: Any = PartitionRegistration
    image.topics.add(
        TopicImage(topic_id(name), name, dict.fromkeys(range(partitions), registration))
    )


class Member:
    """A client that follows the coordinator's responses, when the test lets it."""

    def __init__(self, shard: GroupShard, member_id: str, **joining: Any) -> None:
        self.shard = shard
        self.id = member_id
        self.epoch = 0
        self.owned: set[tuple[str, int]] = set()
        self.instance_id = joining.pop("instance_id", None)
        self.joining = {"subscribed_topic_names": ["t"], **joining}

    def send_heartbeat(self, **fields: Any) -> Answer:
        request = wire.ConsumerGroupHeartbeatRequest(
            **{
                "group_id": GROUP,
                "member_id": self.id,
                "member_epoch": self.epoch,
                "instance_id": self.instance_id,
                **fields,
            }
        )
        client = Client("client", "/127.0.0.1", 1)
        return self.shard.submit(lambda groups: groups.consumer_heartbeat(client, request))

    def join(self) -> Member:
        self.epoch, self.owned = 0, set()
        self._follow(
            self.send_heartbeat(
                rebalance_timeout_ms=REBALANCE_MS, topic_partitions=[], **self.joining
            )
        )
        return self

    def beat(self, *, sends_owned: bool = True, **fields: Any) -> Member:
        """A heartbeat, after which it has revoked and assigned what the response says."""
        error = self.try_beat(sends_owned=sends_owned, **fields)
        assert error == ErrorCode.NONE
        return self

    def try_beat(self, *, sends_owned: bool = True, **fields: Any) -> ErrorCode:
        if sends_owned:
            fields["topic_partitions"] = [
                wire.TopicPartitions(topic_id=topic_id(name), partitions=[number])
                for name, number in sorted(self.owned)
            ]
        answer = self.send_heartbeat(**fields)
        if answer.error == ErrorCode.NONE:
            self._follow(answer)
        return answer.error

    def _follow(self, answer: Answer) -> None:
        assert answer.error == ErrorCode.NONE, answer.value
        response: wire.ConsumerGroupHeartbeatResponse = answer.value
        self.epoch = response.member_epoch
        if response.assignment is not None:
            self.owned = {
                (bytes(each.topic_id).rstrip(b".").decode(), number)
                for each in response.assignment.topic_partitions
                for number in each.partitions
            }

    def leave(self, epoch: int = -1) -> Answer:
        return self.send_heartbeat(member_epoch=epoch)


def all_of(name: str, count: int) -> list[tuple[str, int]]:
    return [(name, number) for number in range(count)]

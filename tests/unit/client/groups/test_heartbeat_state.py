"""What heartbeats of the consumer protocol say (KIP-848)."""

from __future__ import annotations

from ottla.client.groups.consumer.heartbeat_state import HeartbeatState, SubscribedTo
from ottla.client.groups.member_settings import MemberSettings
from ottla.model import TopicPartition, Uuid
from ottla.wire.messages.consumer_group_heartbeat import TopicPartitions

IDS = {"t": Uuid(b"0123456789abcdef")}
TOPICS = SubscribedTo(frozenset({"t"}))
NOTHING: frozenset[TopicPartition] = frozenset()
OWNED = frozenset({TopicPartition("t", 1), TopicPartition("t", 0)})


def state(**settings: str) -> HeartbeatState:
    return HeartbeatState(MemberSettings(group_id="g", **settings), "m")  # type: ignore[arg-type]


def joined() -> HeartbeatState:
    found = state()
    found.request(TOPICS, NOTHING, IDS)
    found.answered(3)
    return found


def test_a_member_joins_with_everything_and_owns_nothing() -> None:
    request = state(instance_id="i", rack_id="r", remote_assignor="range").request(
        TOPICS, NOTHING, IDS
    )
    assert request.member_epoch == 0
    assert request.topic_partitions == []
    assert request.subscribed_topic_names == ["t"]
    assert request.rebalance_timeout_ms == 300_000
    assert (request.instance_id, request.rack_id, request.server_assignor) == ("i", "r", "range")


def test_later_heartbeats_say_only_what_has_changed() -> None:
    member = joined()
    request = member.request(TOPICS, NOTHING, IDS)
    assert request.member_epoch == 3
    assert request.topic_partitions is None
    assert request.subscribed_topic_names is None
    assert request.rebalance_timeout_ms == -1

    owning = member.request(TOPICS, OWNED, IDS)
    assert owning.topic_partitions == [TopicPartitions(topic_id=IDS["t"], partitions=[0, 1])]
    assert owning.subscribed_topic_names is None


def test_a_heartbeat_without_an_answer_is_followed_by_one_that_says_everything() -> None:
    member = joined()
    member.request(TOPICS, OWNED, IDS)
    member.failed()
    again = member.request(TOPICS, OWNED, IDS)
    assert again.topic_partitions == [TopicPartitions(topic_id=IDS["t"], partitions=[0, 1])]
    assert again.subscribed_topic_names == ["t"]


def test_a_fenced_member_joins_again_under_its_id() -> None:
    member = joined()
    member.fenced()
    request = member.request(TOPICS, NOTHING, IDS)
    assert (request.member_id, request.member_epoch) == ("m", 0)
    assert request.topic_partitions == []


def test_a_regular_expression_is_taken_back_explicitly() -> None:
    member = state()
    assert member.request(SubscribedTo(frozenset(), "t.*"), NOTHING, IDS).subscribed_topic_regex
    member.answered(3)
    request = member.request(TOPICS, NOTHING, IDS)
    assert request.subscribed_topic_regex == ""
    assert request.subscribed_topic_names == ["t"]


def test_static_members_leave_for_a_while_and_others_for_good() -> None:
    assert state().leave().member_epoch == -1
    assert state(instance_id="i").leave().member_epoch == -2

"""Topics that are deleted, restored, purged and protected: the records, and the state after."""

from __future__ import annotations

import pytest

from ottla.controller.api_rights import RIGHTS
from ottla.controller.operations.create_topics import create_topics
from ottla.controller.operations.delete_topics import delete_topics
from ottla.controller.operations.deleted_topics import expired_topics, purge_expired_topics
from ottla.controller.operations.fence_broker import fence_broker
from ottla.metadata import MetadataImage, image_records
from ottla.metadata.deleted_topic import DeletedTopic, decode_partition, encode_partition
from ottla.metadata.difference import difference
from ottla.metadata.topic_owner import topic_record
from ottla.model import ErrorCode, Uuid, uuid_to_text
from ottla.security.acls.acl import AclBinding, AclOperation, ResourceType
from ottla.security.acls.rights import UNRESTRICTED, Rights
from ottla.tenancy.tenant import SEPARATOR
from ottla.wire.apis import ApiKey
from ottla.wire.messages.broker_heartbeat import BrokerHeartbeatRequest
from ottla.wire.messages.create_topics import (
    CreatableTopic,
    CreatableTopicConfig,
    CreatableTopicResult,
    CreateTopicsRequest,
)
from ottla.wire.messages.delete_topics import (
    DeletableTopicResult,
    DeleteTopicsRequest,
    DeleteTopicState,
)
from ottla.wire.schema import Message
from ottla.wire.stored.cluster_metadata.configs import ConfigRecord
from tests.support.controller.cluster_images import (
    NOW_MS,
    applied,
    broker,
    context,
    features,
    image_of,
    node_config,
    topic,
    uuid,
)
from tests.support.security.acls import ALICE, acl, rights_of

DAY_MS = 86_400_000
ORDERS = uuid(1)


def config(name: str, value: str, of: str = "orders") -> Message:
    return ConfigRecord(resource_type=2, resource_name=of, name=name, value=value)


def cluster(*records: Message | list[Message]) -> MetadataImage:
    """Brokers 1 to 3, and `orders` with two partitions."""
    orders = topic("orders", [1, 2, 3], [2, 3, 1], topic_id=ORDERS, isr=[1, 2, 3])
    brokers = [broker(1), broker(2), broker(3)]
    return image_of(features(), *brokers, orders, config("retention.ms", "5000"), *records)


def delete(
    image: MetadataImage, *names: str, now_ms: int = NOW_MS, **properties: str
) -> tuple[MetadataImage, list[DeletableTopicResult]]:
    request = DeleteTopicsRequest(topic_names=list(names))
    at = context(node_config(**properties), now_ms=now_ms)
    records, response = delete_topics(image, request, at)
    return applied(image, records), response.responses


def undelete(
    image: MetadataImage,
    topic_id: Uuid | str = ORDERS,
    name: str = "orders",
    *,
    rights: Rights = UNRESTRICTED,
    partitions: int = -1,
) -> tuple[MetadataImage, CreatableTopicResult]:
    text = topic_id if isinstance(topic_id, str) else uuid_to_text(topic_id)
    wanted = CreatableTopic(
        name=name,
        num_partitions=partitions,
        replication_factor=-1,
        configs=[CreatableTopicConfig(name="ottla.undelete", value=text)],
    )
    request = CreateTopicsRequest(topics=[wanted])
    records, response = create_topics(image, request, context(rights=rights))
    return applied(image, records), response.topics[0]


def deleted_names(image: MetadataImage) -> list[str]:
    return sorted(each.name for each in image.deleted_topics)


def test_a_deleted_topic_comes_back_with_later_epochs() -> None:
    before = cluster()
    image, (result,) = delete(before, "orders")
    assert result.error_code == ErrorCode.NONE
    assert not image.topics.by_name
    (found,) = image.deleted_topics
    assert (found.deleted_ms, found.until_ms) == (NOW_MS, NOW_MS + DAY_MS)

    image, created = undelete(image)

    assert (created.error_code, created.topic_id, created.num_partitions) == (0, ORDERS, 2)
    assert image.topic_configs("orders") == {"retention.ms": "5000"}
    assert not image.deleted_topics.by_id
    assert {resource.name for resource in image.configs} == {
        resource.name for resource in before.configs
    }
    for index, old in before.topics.by_name["orders"].partitions.items():
        new = image.topics.by_name["orders"].partitions[index]
        assert new == old._replace(
            leader_epoch=old.leader_epoch + 1, partition_epoch=old.partition_epoch + 1
        )


def test_a_request_that_is_repeated_has_the_same_result() -> None:
    image, first = undelete(delete(cluster(), "orders")[0])
    again, second = undelete(image)
    assert second == first
    assert again == image


def test_a_topic_gets_another_name_if_its_own_is_taken() -> None:
    image, _ = delete(cluster(), "orders")
    image = applied(image, topic("orders", [1], topic_id=uuid(2)))
    same, refused = undelete(image)
    assert refused.error_code == ErrorCode.TOPIC_ALREADY_EXISTS
    assert same == image

    image, restored = undelete(image, name="orders2")
    assert restored.error_code == ErrorCode.NONE
    assert image.topics.by_name["orders2"].id == ORDERS
    assert image.topic_configs("orders2") == {"retention.ms": "5000"}


@pytest.mark.parametrize(
    ("topic_id", "code"),
    [
        (uuid(9), ErrorCode.UNKNOWN_TOPIC_ID),
        ("no id", ErrorCode.INVALID_REQUEST),
        ("", ErrorCode.INVALID_REQUEST),
    ],
)
def test_what_is_no_deleted_topic_is_not_restored(topic_id: Uuid | str, code: ErrorCode) -> None:
    image, _ = delete(cluster(), "orders")
    same, result = undelete(image, topic_id)
    assert result.error_code == code
    assert same == image


def test_a_restored_topic_has_its_own_partitions() -> None:
    image, _ = delete(cluster(), "orders")
    same, result = undelete(image, partitions=5)
    assert result.error_code == ErrorCode.INVALID_REQUEST
    assert same == image


def test_a_fenced_broker_leaves_the_in_sync_replicas_of_deleted_topics() -> None:
    """It may have lost records when it returns. The last in-sync replica stays the only one."""
    image, _ = delete(cluster(), "orders")
    for broker_id in (1, 3, 2):
        request = BrokerHeartbeatRequest(
            broker_id=broker_id, broker_epoch=image.brokers[broker_id].epoch
        )
        records, _ = fence_broker(image, request, context())
        image = applied(image, records)
    image, _ = undelete(image)
    for partition in image.topics.by_name["orders"].partitions.values():
        assert partition.leader == -1
        assert 2 in (*partition.isr, *partition.eligible_leader_replicas)
        assert 1 not in (*partition.isr, *partition.eligible_leader_replicas)


def test_a_topic_is_purged_by_its_name_and_id() -> None:
    image, _ = delete(cluster(), "orders")
    (found,) = image.deleted_topics
    image, (result,) = delete(image, found.resource_name)
    assert (result.error_code, result.topic_id) == (ErrorCode.NONE, ORDERS)
    assert not image.deleted_topics.by_id
    assert not any("~" in resource.name for resource in image.configs)
    _, (again,) = delete(image, found.resource_name)
    assert again.error_code == ErrorCode.UNKNOWN_TOPIC_OR_PARTITION


@pytest.mark.parametrize(
    "name", ["orders~", "~", "orders~nonsense", "other~AAAAAAAAAAAAAAAAAAAAAQ"]
)
def test_nothing_else_is_purged(name: str) -> None:
    image, _ = delete(cluster(), "orders")
    same, (result,) = delete(image, name)
    assert result.error_code == ErrorCode.UNKNOWN_TOPIC_OR_PARTITION
    assert same == image


def test_a_deletion_by_id_that_is_repeated_does_not_purge() -> None:
    image, _ = delete(cluster(), "orders")
    request = DeleteTopicsRequest(topics=[DeleteTopicState(topic_id=ORDERS)])
    records, response = delete_topics(image, request, context())
    assert response.responses[0].error_code == ErrorCode.UNKNOWN_TOPIC_ID
    assert not records


def test_expired_topics_are_purged_and_no_others() -> None:
    image, _ = delete(cluster(), "orders")
    assert expired_topics(image, NOW_MS + DAY_MS - 1) == []
    at = context(now_ms=NOW_MS + DAY_MS)
    records, _ = purge_expired_topics(image, DeleteTopicsRequest(), at)
    assert deleted_names(applied(image, records)) == []


@pytest.mark.parametrize(
    ("of_cluster", "of_topic", "kept_ms"),
    [("0", None, 0), ("0", "1000", 1000), ("1000", "0", 0), ("1000", None, 1000)],
)
def test_the_time_is_that_of_the_topic_or_of_the_cluster(
    of_cluster: str, of_topic: str | None, kept_ms: int
) -> None:
    own = [] if of_topic is None else [config("ottla.delete.retention.ms", of_topic)]
    image, _ = delete(cluster(own), "orders", ottla_delete_retention_ms=of_cluster)
    kept = [each.until_ms - each.deleted_ms for each in image.deleted_topics]
    assert kept == ([kept_ms] if kept_ms else [])


def test_the_topics_that_were_deleted_first_make_room() -> None:
    image = cluster(topic("a", [1], topic_id=uuid(2)), topic("b", [1], topic_id=uuid(3)))
    limit = {"ottla_delete_retention_partitions_max": "2"}
    for at, name in enumerate(("a", "b")):
        image, _ = delete(image, name, now_ms=NOW_MS + at, **limit)
    assert deleted_names(image) == ["a", "b"]
    image, _ = delete(image, "orders", now_ms=NOW_MS + 2, **limit)
    assert deleted_names(image) == ["orders"]
    assert not any("~" in each.name and "orders" not in each.name for each in image.configs)


def test_the_earlier_topics_of_the_same_user_are_purged_before_those_of_others() -> None:
    image = image_of(features(), broker(1))
    limit = {"ottla_delete_retention_partitions_max": "4"}
    for at, (name, owner) in enumerate(
        [("victims", "alice"), ("a", "eve"), ("b", "eve"), ("c", "eve"), ("d", "eve")]
    ):
        _, *partitions = topic(name, [1], *[[1]] * (name == "victims"))
        created = topic_record(name, Uuid(name.encode().ljust(16, b".")), owner)
        image, _ = delete(applied(image, [created, *partitions]), name, now_ms=NOW_MS + at, **limit)
    assert deleted_names(image) == ["c", "d", "victims"]


def test_the_earlier_topics_of_the_same_tenant_are_purged_before_those_of_others() -> None:
    tenant = ConfigRecord(resource_type=4, resource_name="", name="ottla.tenant.eve", value="{}")
    image = image_of(features(), broker(1), tenant)
    limit = {"ottla_delete_retention_partitions_max": "2"}
    for at, name in enumerate(["victims", f"eve{SEPARATOR}a", f"eve{SEPARATOR}b"]):
        image = applied(image, topic(name, [1]))
        image, _ = delete(image, name, now_ms=NOW_MS + at, **limit)
    assert deleted_names(image) == [f"eve{SEPARATOR}b", "victims"]


def test_a_topic_that_is_larger_than_the_room_is_not_kept() -> None:
    image, (result,) = delete(cluster(), "orders", ottla_delete_retention_partitions_max="1")
    assert result.error_code == ErrorCode.NONE
    assert deleted_names(image) == []


@pytest.mark.parametrize("by_id", [False, True])
def test_a_protected_topic_is_not_deleted(by_id: bool) -> None:
    image = cluster(config("ottla.delete.protection", "true"))
    topics = [DeleteTopicState(topic_id=ORDERS)] if by_id else []
    names = [] if by_id else ["orders"]
    request = DeleteTopicsRequest(topics=topics, topic_names=names)
    records, response = delete_topics(image, request, context())
    (result,) = response.responses
    assert result.error_code == ErrorCode.POLICY_VIOLATION
    assert "ottla.delete.protection" in (result.error_message or "")
    assert not records


def test_snapshots_and_differences_have_deleted_topics() -> None:
    before = cluster()
    image, _ = delete(before, "orders")
    restored = image_of(list(image_records(image)))
    assert restored == image
    delta = difference(before, image)
    assert set(delta.topics_removed) == {ORDERS}
    assert delta.deleted_topics_changed == {ORDERS: "orders"}
    renamed, _ = undelete(image, name="other")
    delta = difference(before, renamed)
    assert set(delta.topics_removed) == set(delta.topics_created) == {ORDERS}
    assert set(delta.partitions_changed[ORDERS]) == {0, 1}
    delta = difference(image, before)
    assert delta.deleted_topics_changed == {ORDERS: "orders"}


def test_partitions_are_the_same_after_decoding() -> None:
    for partition in cluster().topics.by_name["orders"].partitions.values():
        for changed in (
            partition,
            partition._replace(isr=(), leader=-1, eligible_leader_replicas=(2, 1)),
            partition._replace(adding_replicas=(3,), removing_replicas=(1,)),
            partition._replace(leader_recovery_state=1, last_known_elr=(3,)),
        ):
            assert decode_partition(encode_partition(changed)) == changed


@pytest.mark.parametrize("text", ["", "[]", "{}", "null", '{"replicas": 1}', '{"x": [1]}', "{"])
def test_a_partition_that_cannot_be_read_is_left_out(text: str) -> None:
    topic = DeletedTopic(ORDERS, "orders")
    topic.take("ottla.deleted.partition.0", text)
    topic.take("ottla.deleted.partition.x", text)
    assert topic.partitions == {}


CREATE = acl(AclOperation.CREATE, ResourceType.CLUSTER, "kafka-cluster")
DELETE, DESCRIBE, READ = (
    acl(operation, ResourceType.TOPIC, "orders")
    for operation in (AclOperation.DELETE, AclOperation.DESCRIBE, AclOperation.READ)
)


@pytest.mark.parametrize(
    ("name", "bindings", "code"),
    [
        ("orders", (DELETE,), ErrorCode.TOPIC_AUTHORIZATION_FAILED),
        ("orders", (CREATE,), ErrorCode.UNKNOWN_TOPIC_ID),
        ("orders", (CREATE, DESCRIBE), ErrorCode.TOPIC_AUTHORIZATION_FAILED),
        ("orders", (CREATE, DELETE), ErrorCode.NONE),
        ("other", (CREATE, DELETE), ErrorCode.TOPIC_AUTHORIZATION_FAILED),
        ("other", (CREATE, DELETE, READ), ErrorCode.NONE),
    ],
)
def test_restoring_needs_the_rights_to_create_and_to_delete(
    name: str, bindings: tuple[AclBinding, ...], code: ErrorCode
) -> None:
    image, _ = delete(cluster(), "orders")
    rights = rights_of(ALICE, *bindings).declaring(RIGHTS[ApiKey.CREATE_TOPICS])
    after, result = undelete(image, name=name, rights=rights)
    assert result.error_code == code
    assert (name in after.topics.by_name) == (code is ErrorCode.NONE)


@pytest.mark.parametrize(
    ("bindings", "code"),
    [
        ((), ErrorCode.TOPIC_AUTHORIZATION_FAILED),
        ((DESCRIBE,), ErrorCode.TOPIC_AUTHORIZATION_FAILED),
        ((DELETE,), ErrorCode.NONE),
    ],
)
def test_purging_needs_the_right_to_delete(
    bindings: tuple[AclBinding, ...], code: ErrorCode
) -> None:
    image, _ = delete(cluster(), "orders")
    (found,) = image.deleted_topics
    rights = rights_of(ALICE, *bindings).declaring(RIGHTS[ApiKey.DELETE_TOPICS])
    request = DeleteTopicsRequest(topic_names=[found.resource_name])
    records, response = delete_topics(image, request, context(rights=rights))
    assert response.responses[0].error_code == code
    assert bool(records) == (code is ErrorCode.NONE)

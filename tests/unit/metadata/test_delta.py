"""What a broker learns from a delta."""

from ottla.configs import BROKERS_DEFAULT, ConfigResource, ConfigResourceType
from ottla.metadata import MetadataDelta, MetadataImage, MetadataReplay
from ottla.wire.schema import Message
from ottla.wire.stored.cluster_metadata.brokers import (
    BrokerRegistrationChangeRecord,
    RegisterControllerRecord,
    UnregisterBrokerRecord,
)
from ottla.wire.stored.cluster_metadata.configs import ClientQuotaRecord, ConfigRecord
from ottla.wire.stored.cluster_metadata.features import FeatureLevelRecord
from ottla.wire.stored.cluster_metadata.producer_ids import ProducerIdsRecord
from ottla.wire.stored.cluster_metadata.security import (
    AccessControlEntryRecord,
    DelegationTokenRecord,
    UserScramCredentialRecord,
)
from ottla.wire.stored.cluster_metadata.topics import PartitionChangeRecord, RemoveTopicRecord
from ottla.wire.stored.cluster_metadata.transactions import NoOpRecord
from tests.support.controller.cluster_images import broker, one_broker, topic, uuid


def delta_of(image: MetadataImage, *records: Message) -> MetadataDelta:
    delta = MetadataDelta()
    MetadataReplay(image).take(records, delta)
    return delta


def test_nothing_changed_by_nothing() -> None:
    assert delta_of(one_broker(), NoOpRecord()).is_empty


def test_created_topic_comes_with_its_new_partitions() -> None:
    image = one_broker()
    delta = delta_of(image, *topic("orders", [1], [1], topic_id=uuid(7)))
    assert delta.topics_created == {uuid(7): image.topics.by_name["orders"]}
    assert delta.partitions_changed == {uuid(7): {0: None, 1: None}}
    assert not delta.is_empty


def test_delta_has_a_changed_partition_as_it_was_before_the_first_change() -> None:
    image = one_broker(topic("orders", [1], topic_id=uuid(7)))
    before = image.topics.by_id[uuid(7)].partitions[0]
    delta = delta_of(
        image,
        PartitionChangeRecord(topic_id=uuid(7), partition_id=0, isr=[], leader=-1),
        PartitionChangeRecord(topic_id=uuid(7), partition_id=0, isr=[1], leader=1),
    )
    assert delta.partitions_changed == {uuid(7): {0: before}}
    assert not delta.topics_created
    assert image.topics.by_id[uuid(7)].partitions[0].leader_epoch == 2


def test_delta_has_a_removed_topic_as_it_was_and_nothing_else_of_it() -> None:
    image = one_broker(topic("orders", [1], topic_id=uuid(7)))
    was = image.topics.by_id[uuid(7)]
    delta = delta_of(
        image,
        ConfigRecord(resource_type=2, resource_name="orders", name="segment.ms", value="1"),
        PartitionChangeRecord(topic_id=uuid(7), partition_id=0, isr=[]),
        RemoveTopicRecord(topic_id=uuid(7)),
    )
    assert delta.topics_removed == {uuid(7): was}
    assert not delta.partitions_changed
    assert not delta.configs_changed


def test_delta_lacks_a_topic_that_was_created_and_removed() -> None:
    delta = delta_of(
        one_broker(), *topic("orders", [1], topic_id=uuid(7)), RemoveTopicRecord(topic_id=uuid(7))
    )
    assert delta.is_empty


def test_topic_made_anew_under_its_name_is_both_removed_and_created() -> None:
    image = one_broker(topic("orders", [1], topic_id=uuid(7)))
    delta = delta_of(
        image, RemoveTopicRecord(topic_id=uuid(7)), *topic("orders", [1], topic_id=uuid(8))
    )
    assert list(delta.topics_removed) == [uuid(7)]
    assert list(delta.topics_created) == [uuid(8)]


def test_delta_has_changed_configs_by_resource_and_name() -> None:
    delta = delta_of(
        one_broker(topic("orders", [1])),
        ConfigRecord(resource_type=2, resource_name="orders", name="segment.ms", value="1"),
        ConfigRecord(resource_type=2, resource_name="orders", name="retention.ms", value=None),
        ConfigRecord(resource_type=4, resource_name="", name="min.insync.replicas", value="2"),
    )
    assert delta.configs_changed == {
        ConfigResource(ConfigResourceType.TOPIC, "orders"): {"segment.ms", "retention.ms"},
        BROKERS_DEFAULT: {"min.insync.replicas"},
    }


def test_delta_has_changed_brokers_as_they_were() -> None:
    image = one_broker()
    was = image.brokers[1]
    delta = delta_of(
        image,
        BrokerRegistrationChangeRecord(broker_id=1, broker_epoch=100, fenced=1),
        UnregisterBrokerRecord(broker_id=1, broker_epoch=100),
        broker(2),
        RegisterControllerRecord(controller_id=3),
    )
    assert delta.brokers_changed == {1: was, 2: None}
    assert delta.controllers_changed == {3: None}


def test_delta_marks_other_changes_by_kind() -> None:
    delta = delta_of(
        one_broker(),
        FeatureLevelRecord(name="group.version", feature_level=0),
        ProducerIdsRecord(next_producer_id=1000),
        ClientQuotaRecord(key="request_percentage", value=1.0),
        AccessControlEntryRecord(id=uuid(1)),
        UserScramCredentialRecord(name="alice"),
        DelegationTokenRecord(token_id="token"),
    )
    assert delta == MetadataDelta(
        features_changed={"group.version": 1},
        producer_ids_changed=True,
        client_quotas_changed=True,
        access_control_changed=True,
        scram_credentials_changed=True,
        delegation_tokens_changed=True,
    )

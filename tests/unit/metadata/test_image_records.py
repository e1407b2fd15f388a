"""An image written out as records, and made again of them."""

from contextlib import suppress

from hypothesis import given, settings
from hypothesis import strategies as st

from ottla.metadata import (
    MetadataDelta,
    MetadataError,
    MetadataImage,
    MetadataReplay,
    apply,
    image_records,
    record_version,
)
from ottla.wire.schema import Message
from ottla.wire.stored.cluster_metadata import decode_metadata_record, encode_metadata_record
from ottla.wire.stored.cluster_metadata.brokers import RegisterControllerRecord
from ottla.wire.stored.cluster_metadata.configs import ClientQuotaRecord, ConfigRecord
from ottla.wire.stored.cluster_metadata.producer_ids import ProducerIdsRecord
from ottla.wire.stored.cluster_metadata.security import (
    AccessControlEntryRecord,
    DelegationTokenRecord,
    UserScramCredentialRecord,
)
from tests.support.controller.cluster_images import features, one_broker, topic, uuid
from tests.support.controller.metadata_strategies import metadata_records


def image_after(records: list[Message]) -> MetadataImage:
    """What those of the records make that do not contradict the ones before."""
    image = MetadataImage()
    for record in records:
        before = image.copy()
        try:
            apply(image, record, MetadataDelta())
        except MetadataError:
            assert image == before
    return image


@settings(max_examples=300, deadline=None)
@given(st.lists(metadata_records, max_size=60))
def test_image_made_of_its_own_records_is_the_same(records: list[Message]) -> None:
    image = image_after([*features(), *records])
    # Levels below say less; here everything has to come back.
    image.features["metadata.version"] = 30
    again = MetadataReplay(MetadataImage())
    for record in image_records(image):
        stored = encode_metadata_record(record, record_version(record, 30))
        again.take([decode_metadata_record(stored)[0]], MetadataDelta())
    assert again.image == image


@settings(max_examples=100, deadline=None)
@given(st.lists(metadata_records, max_size=40), st.lists(metadata_records, max_size=10))
def test_delta_has_every_difference(before: list[Message], records: list[Message]) -> None:
    image = image_after(before)
    was, delta = image.copy(), MetadataDelta()
    for record in records:
        with suppress(MetadataError):
            apply(image, record, delta)
    for topic_id in {*was.topics.by_id, *image.topics.by_id}:
        old, new = was.topics.by_id.get(topic_id), image.topics.by_id.get(topic_id)
        if new is None:
            assert topic_id in delta.topics_removed
        if old is None:
            assert topic_id in delta.topics_created
        if old is not None and new is not None and topic_id not in delta.topics_removed:
            changed = delta.partitions_changed.get(topic_id, {})
            for partition_id in {*old.partitions, *new.partitions}:
                same = old.partitions.get(partition_id) == new.partitions.get(partition_id)
                assert same or changed[partition_id] == old.partitions.get(partition_id)
    for broker_id in {*was.brokers, *image.brokers}:
        same = was.brokers.get(broker_id) == image.brokers.get(broker_id)
        assert same or delta.brokers_changed[broker_id] == was.brokers.get(broker_id)
    for name in {*was.features, *image.features}:
        same = was.features.get(name) == image.features.get(name)
        assert same or delta.features_changed[name] == was.features.get(name)


def test_records_come_in_kafkas_order_with_the_metadata_version_first() -> None:
    image = one_broker(
        topic("orders", [1]),
        RegisterControllerRecord(controller_id=1),
        ConfigRecord(resource_type=2, resource_name="orders", name="segment.ms", value="1"),
        ClientQuotaRecord(key="request_percentage", value=1.0),
        ProducerIdsRecord(next_producer_id=1000),
        AccessControlEntryRecord(id=uuid(1)),
        UserScramCredentialRecord(name="alice"),
        DelegationTokenRecord(token_id="token"),
    )
    records = list(image_records(image))
    assert [type(record).__name__ for record in records] == [
        *["FeatureLevelRecord"] * 6,
        "RegisterBrokerRecord",
        "RegisterControllerRecord",
        "TopicRecord",
        "PartitionRecord",
        "ConfigRecord",
        "ClientQuotaRecord",
        "ProducerIdsRecord",
        "AccessControlEntryRecord",
        "UserScramCredentialRecord",
        "DelegationTokenRecord",
    ]
    assert records[0] == features()[0]

"""Every type of record, and what it makes of an image."""

import pytest

from ottla.configs import BROKERS_DEFAULT, ConfigResource, ConfigResourceType
from ottla.metadata import (
    Endpoint,
    MetadataDelta,
    MetadataError,
    MetadataImage,
    MetadataReplay,
    VersionRange,
    apply,
)
from ottla.metadata.partition import MIGRATING_DIRECTORY
from ottla.metadata.replay.registry import APPLY
from ottla.wire.schema import Message
from ottla.wire.stored.cluster_metadata import METADATA_RECORDS
from ottla.wire.stored.cluster_metadata.brokers import (
    BrokerRegistrationChangeRecord,
    ControllerEndpoint,
    ControllerFeature,
    FenceBrokerRecord,
    RegisterControllerRecord,
    UnfenceBrokerRecord,
    UnregisterBrokerRecord,
)
from ottla.wire.stored.cluster_metadata.configs import ClientQuotaRecord, ConfigRecord, EntityData
from ottla.wire.stored.cluster_metadata.features import FeatureLevelRecord, ZkMigrationStateRecord
from ottla.wire.stored.cluster_metadata.producer_ids import ProducerIdsRecord
from ottla.wire.stored.cluster_metadata.security import (
    AccessControlEntryRecord,
    DelegationTokenRecord,
    RemoveAccessControlEntryRecord,
    RemoveDelegationTokenRecord,
    RemoveUserScramCredentialRecord,
    UserScramCredentialRecord,
)
from ottla.wire.stored.cluster_metadata.topics import (
    ClearElrRecord,
    PartitionChangeRecord,
    PartitionRecord,
    RemoveTopicRecord,
    TopicRecord,
)
from ottla.wire.stored.cluster_metadata.transactions import (
    AbortTransactionRecord,
    BeginTransactionRecord,
    EndTransactionRecord,
    NoOpRecord,
)
from tests.support.controller.cluster_images import (
    applied,
    broker,
    features,
    image_of,
    one_broker,
    topic,
    uuid,
)


def after(image: MetadataImage, record: Message) -> MetadataImage:
    return applied(image, [record])


def test_every_record_type_is_applied_or_bounds_a_transaction() -> None:
    boundaries = {BeginTransactionRecord, EndTransactionRecord, AbortTransactionRecord}
    assert set(METADATA_RECORDS) == set(APPLY) | boundaries


def test_topic_is_found_by_name_and_by_id() -> None:
    image = one_broker(topic("orders", [1], [1], topic_id=uuid(7)))
    assert image.topics.by_name["orders"] is image.topics.by_id[uuid(7)]
    assert sorted(image.topics.by_name["orders"].partitions) == [0, 1]


@pytest.mark.parametrize(
    "record",
    [TopicRecord(name="orders", topic_id=uuid(8)), TopicRecord(name="other", topic_id=uuid(7))],
)
def test_topic_cannot_take_anothers_name_or_id(record: TopicRecord) -> None:
    with pytest.raises(MetadataError, match="orders"):
        after(one_broker(topic("orders", [1], topic_id=uuid(7))), record)


def test_removed_topic_takes_its_configs_with_it() -> None:
    config = ConfigRecord(resource_type=2, resource_name="orders", name="segment.ms", value="1")
    image = one_broker(topic("orders", [1], topic_id=uuid(7)), config)
    gone = after(image, RemoveTopicRecord(topic_id=uuid(7)))
    assert not gone.topics
    assert not gone.configs
    assert gone == one_broker()


@pytest.mark.parametrize(
    "record",
    [
        RemoveTopicRecord(topic_id=uuid(9)),
        PartitionRecord(topic_id=uuid(9), partition_id=0),
        PartitionChangeRecord(topic_id=uuid(9), partition_id=0),
        PartitionChangeRecord(topic_id=uuid(7), partition_id=5),
        ClearElrRecord(topic_name="unknown"),
        UnregisterBrokerRecord(broker_id=9),
        FenceBrokerRecord(id=1, epoch=99),
        BrokerRegistrationChangeRecord(broker_id=1, broker_epoch=100, fenced=2),
        FeatureLevelRecord(name="metadata.version", feature_level=31),
        RemoveAccessControlEntryRecord(id=uuid(1)),
        RemoveUserScramCredentialRecord(name="alice", mechanism=1),
        RemoveDelegationTokenRecord(token_id="token"),
        ZkMigrationStateRecord(zk_migration_state=2),
        EndTransactionRecord(),
        AbortTransactionRecord(),
    ],
    ids=lambda record: type(record).__name__,
)
def test_record_that_contradicts_the_image_is_refused_and_changes_nothing(record: Message) -> None:
    image = one_broker(topic("orders", [1], topic_id=uuid(7)))
    before = image.copy()
    with pytest.raises(MetadataError):
        MetadataReplay(image).take([record], MetadataDelta())
    assert image == before


def test_change_of_leader_begins_an_epoch_even_if_it_is_the_same() -> None:
    image = one_broker(topic("orders", [1, 2], topic_id=uuid(7)))
    shrunk = after(image, PartitionChangeRecord(topic_id=uuid(7), partition_id=0, isr=[1]))
    partition = shrunk.topics.by_id[uuid(7)].partitions[0]
    assert (partition.isr, partition.leader_epoch, partition.partition_epoch) == ((1,), 0, 1)
    again = after(shrunk, PartitionChangeRecord(topic_id=uuid(7), partition_id=0, leader=1))
    partition = again.topics.by_id[uuid(7)].partitions[0]
    assert (partition.leader, partition.leader_epoch, partition.partition_epoch) == (1, 1, 2)


def test_change_holds_everything_that_a_partition_has() -> None:
    image = one_broker(topic("orders", [1], topic_id=uuid(7)))
    record = PartitionChangeRecord(
        topic_id=uuid(7),
        partition_id=0,
        isr=[],
        leader=-1,
        replicas=[2, 1],
        removing_replicas=[1],
        adding_replicas=[2],
        leader_recovery_state=1,
        directories=[uuid(502), uuid(501)],
        eligible_leader_replicas=[1],
        last_known_elr=[1],
    )
    changed = after(image, record).topics.by_id[uuid(7)].partitions[0]
    assert changed.to_record(uuid(7), 0) == PartitionRecord(
        topic_id=uuid(7),
        partition_id=0,
        isr=[],
        leader=-1,
        replicas=[2, 1],
        removing_replicas=[1],
        adding_replicas=[2],
        leader_recovery_state=1,
        leader_epoch=1,
        partition_epoch=1,
        directories=[uuid(502), uuid(501)],
        eligible_leader_replicas=[1],
        last_known_elr=[1],
    )


def test_replicas_of_old_records_have_migrating_directories() -> None:
    record = PartitionRecord(topic_id=uuid(7), partition_id=0, replicas=[1, 2], isr=[1], leader=1)
    image = image_of(TopicRecord(name="orders", topic_id=uuid(7)), record)
    partition = image.topics.by_id[uuid(7)].partitions[0]
    assert partition.directories == (MIGRATING_DIRECTORY,) * 2
    grown = after(
        image, PartitionChangeRecord(topic_id=uuid(7), partition_id=0, replicas=[1, 2, 3])
    )
    assert grown.topics.by_id[uuid(7)].partitions[0].directories == (MIGRATING_DIRECTORY,) * 3


def test_replicas_and_directories_have_to_match() -> None:
    record = PartitionRecord(
        topic_id=uuid(7), partition_id=0, replicas=[1], directories=[uuid(1)] * 2
    )
    with pytest.raises(MetadataError, match=r"replicas \(1\) and directory ids \(2\) differ"):
        image_of(TopicRecord(name="orders", topic_id=uuid(7)), record)


@pytest.mark.parametrize(("named", "cleared"), [("", {"a", "b"}), ("a", {"a"})])
def test_clearing_of_elr_is_for_one_topic_or_for_all(named: str, cleared: set[str]) -> None:
    image = one_broker(
        topic("a", [1], isr=[], leader=-1, elr=[1], last_known_elr=[1]),
        topic("b", [1], isr=[], leader=-1, elr=[1]),
        topic("c", [1]),
    )
    changed = after(image, ClearElrRecord(topic_name=named))
    for each in changed.topics:
        partition = each.partitions[0]
        assert bool(partition.eligible_leader_replicas) == (each.name == "b" and "b" not in cleared)
        assert partition.partition_epoch == (each.name in cleared)


def test_broker_registers_fences_shuts_down_and_goes() -> None:
    image = image_of(broker(1, fenced=True, rack="a"))
    assert not image.is_active(1)
    assert image.brokers[1].endpoints == (Endpoint("PLAINTEXT", "localhost", 9092, 0),)
    assert image.brokers[1].features["metadata.version"] == VersionRange(7, 30)
    image = after(image, UnfenceBrokerRecord(id=1, epoch=100))
    assert image.is_active(1)
    assert after(image, FenceBrokerRecord(id=1, epoch=100)).brokers[1].fenced
    change = BrokerRegistrationChangeRecord(broker_id=1, broker_epoch=100, in_controlled_shutdown=1)
    image = after(image, change)
    assert not image.is_active(1)
    assert image.brokers[1].in_controlled_shutdown
    assert not after(image, UnregisterBrokerRecord(broker_id=1, broker_epoch=100)).brokers


def test_change_of_registration_leaves_what_it_does_not_name() -> None:
    image = image_of(broker(1, fenced=True))
    change = BrokerRegistrationChangeRecord(
        broker_id=1, broker_epoch=100, fenced=-1, log_dirs=[uuid(3)], cordoned_log_dirs=[]
    )
    changed = after(image, change).brokers[1]
    assert (changed.fenced, changed.log_dirs, changed.cordoned_log_dirs) == (False, (uuid(3),), ())
    again = after(image, BrokerRegistrationChangeRecord(broker_id=1, broker_epoch=100)).brokers[1]
    assert again == image.brokers[1]
    assert again.cordoned_log_dirs is None


def test_controller_registers_and_registers_anew() -> None:
    record = RegisterControllerRecord(
        controller_id=1,
        incarnation_id=uuid(1),
        end_points=[ControllerEndpoint(name="CONTROLLER", host="localhost", port=9093)],
        features=[ControllerFeature(name="kraft.version", max_supported_version=1)],
    )
    image = image_of(record)
    assert image.controllers[1].to_record() == record
    later = RegisterControllerRecord(controller_id=1, incarnation_id=uuid(2))
    assert after(image, later).controllers[1].incarnation_id == uuid(2)


def test_configs_are_set_and_removed_and_leave_nothing_behind() -> None:
    image = image_of(
        ConfigRecord(resource_type=2, resource_name="orders", name="segment.ms", value="1"),
        ConfigRecord(resource_type=4, resource_name="", name="min.insync.replicas", value="2"),
    )
    assert image.topic_configs("orders") == {"segment.ms": "1"}
    assert (
        image.cluster_configs == image.configs_of(BROKERS_DEFAULT) == {"min.insync.replicas": "2"}
    )
    assert image.broker_configs(1) == {}
    removal = ConfigRecord(resource_type=2, resource_name="orders", name="segment.ms", value=None)
    assert list(after(image, removal).configs) == [BROKERS_DEFAULT]
    assert after(after(image, removal), removal) == after(image, removal)


def test_feature_at_level_zero_is_no_feature() -> None:
    image = image_of(features())
    assert image.metadata_version == 30
    assert image.has_eligible_leader_replicas
    lowered = after(image, FeatureLevelRecord(name="group.version", feature_level=0))
    assert "group.version" not in lowered.features


def test_producer_ids_only_go_up() -> None:
    image = image_of(ProducerIdsRecord(next_producer_id=1000))
    assert image.next_producer_id == 1000
    with pytest.raises(MetadataError, match="1000"):
        after(image, ProducerIdsRecord(next_producer_id=1000))


def test_quotas_are_kept_by_entity_in_whatever_order_it_is_written() -> None:
    user, client = (
        EntityData(entity_type="user", entity_name="alice"),
        EntityData(entity_type="client-id", entity_name=None),
    )
    image = image_of(ClientQuotaRecord(entity=[user, client], key="producer_byte_rate", value=1.0))
    entity = (("client-id", None), ("user", "alice"))
    assert image.client_quotas == {entity: {"producer_byte_rate": 1.0}}
    removal = ClientQuotaRecord(entity=[client, user], key="producer_byte_rate", remove=True)
    assert not after(image, removal).client_quotas


def test_security_records_are_kept_and_removed() -> None:
    entry = AccessControlEntryRecord(id=uuid(1), principal="User:alice")
    credential = UserScramCredentialRecord(name="alice", mechanism=1, salt=b"salt")
    token = DelegationTokenRecord(token_id="token", owner="User:alice")
    image = image_of(entry, credential, token)
    assert image.access_control_entries == {uuid(1): entry}
    assert image.scram_credentials == {("alice", 1): credential}
    assert image.delegation_tokens == {"token": token}
    removals: list[Message] = [
        RemoveAccessControlEntryRecord(id=uuid(1)),
        RemoveUserScramCredentialRecord(name="alice", mechanism=1),
        RemoveDelegationTokenRecord(token_id="token"),
    ]
    assert applied(image, removals) == MetadataImage()


def test_records_without_effect_have_none() -> None:
    image = one_broker()
    assert after(image, NoOpRecord()) == image
    assert after(image, ZkMigrationStateRecord(zk_migration_state=0)) == image


def test_transaction_takes_effect_at_its_end_and_as_a_whole() -> None:
    replay = MetadataReplay(MetadataImage())
    delta = MetadataDelta()
    replay.take([BeginTransactionRecord(), TopicRecord(name="a", topic_id=uuid(1))], delta)
    assert replay.is_in_transaction
    assert not replay.image.topics
    assert delta.is_empty
    replay.take([TopicRecord(name="b", topic_id=uuid(2)), EndTransactionRecord()], delta)
    assert set(replay.image.topics.by_name) == {"a", "b"}
    assert set(delta.topics_created) == {uuid(1), uuid(2)}


def test_aborted_transaction_never_was() -> None:
    replay = MetadataReplay(MetadataImage())
    records = [BeginTransactionRecord(), TopicRecord(name="a", topic_id=uuid(1))]
    replay.take([*records, AbortTransactionRecord()], MetadataDelta())
    assert replay.image == MetadataImage()
    assert not replay.is_in_transaction


def test_transactions_do_not_nest() -> None:
    replay = MetadataReplay(MetadataImage())
    with pytest.raises(MetadataError, match="inside another"):
        replay.take([BeginTransactionRecord(), BeginTransactionRecord()], MetadataDelta())


def test_boundary_of_a_transaction_changes_no_image_by_itself() -> None:
    with pytest.raises(MetadataError, match="BeginTransactionRecord"):
        apply(MetadataImage(), BeginTransactionRecord(), MetadataDelta())


def test_copy_of_an_image_is_equal_and_independent() -> None:
    image = one_broker(
        topic("orders.eu", [1]),
        ConfigRecord(resource_type=2, resource_name="orders.eu", name="segment.ms", value="1"),
    )
    copy = image.copy()
    assert copy == image
    name = ConfigResource(ConfigResourceType.TOPIC, "orders.eu")
    MetadataReplay(copy).take(
        [
            ConfigRecord(resource_type=2, resource_name=name.name, name="segment.ms", value="2"),
            PartitionChangeRecord(
                topic_id=copy.topics.by_name["orders.eu"].id, partition_id=0, isr=[]
            ),
        ],
        MetadataDelta(),
    )
    assert image.configs_of(name) == {"segment.ms": "1"}
    assert image.topics.by_name["orders.eu"].partitions[0].isr == (1,)


def test_names_that_differ_in_dots_and_underscores_collide() -> None:
    image = one_broker(topic("a.b", [1]), topic("plain", [1]))
    assert image.topics.collision_with("a_b") == "a.b"
    assert image.topics.collision_with("a.c") is None
    assert image.topics.collision_with("plain") is None
    removed = after(image, RemoveTopicRecord(topic_id=image.topics.by_name["a.b"].id))
    assert removed.topics.collision_with("a_b") is None

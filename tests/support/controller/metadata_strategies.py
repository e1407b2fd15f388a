"""Metadata records by chance, from few names and ids, so that they meet each other."""

from hypothesis import strategies as st

from ottla.wire.schema import Message
from ottla.wire.stored.cluster_metadata.brokers import (
    BrokerRegistrationChangeRecord,
    RegisterControllerRecord,
    UnregisterBrokerRecord,
)
from ottla.wire.stored.cluster_metadata.configs import ClientQuotaRecord, ConfigRecord, EntityData
from ottla.wire.stored.cluster_metadata.features import FeatureLevelRecord
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
from tests.support.controller.cluster_images import broker, uuid

numbers = st.integers(0, 3)
uuids = numbers.map(uuid)
names = st.sampled_from(["a", "b.c", "b_c", "d"])
nodes = st.lists(numbers, max_size=3, unique=True)
maybe_nodes = st.none() | nodes


@st.composite
def partitions(draw: st.DrawFn) -> Message:
    replicas = draw(nodes)
    return PartitionRecord(
        partition_id=draw(numbers),
        topic_id=draw(uuids),
        replicas=replicas,
        isr=draw(nodes),
        removing_replicas=draw(nodes),
        adding_replicas=draw(nodes),
        leader=draw(st.integers(-1, 3)),
        leader_recovery_state=draw(st.sampled_from([0, 1])),
        leader_epoch=draw(numbers),
        partition_epoch=draw(numbers),
        directories=draw(st.lists(uuids, min_size=len(replicas), max_size=len(replicas))),
        eligible_leader_replicas=draw(maybe_nodes),
        last_known_elr=draw(maybe_nodes),
    )


# What Kafka's cluster metadata may hold; a good part of it contradicts some image.
metadata_records: st.SearchStrategy[Message] = st.one_of(
    st.builds(TopicRecord, name=names, topic_id=uuids),
    st.builds(RemoveTopicRecord, topic_id=uuids),
    partitions(),
    st.builds(
        PartitionChangeRecord,
        partition_id=numbers,
        topic_id=uuids,
        isr=maybe_nodes,
        leader=st.integers(-2, 3),
        eligible_leader_replicas=maybe_nodes,
        last_known_elr=maybe_nodes,
    ),
    st.builds(ClearElrRecord, topic_name=st.just("") | names),
    st.builds(
        broker,
        numbers,
        epoch=numbers,
        fenced=st.booleans(),
        rack=st.none() | names,
        in_controlled_shutdown=st.booleans(),
        log_dirs=st.lists(uuids),
    ),
    st.builds(UnregisterBrokerRecord, broker_id=numbers, broker_epoch=numbers),
    st.builds(
        BrokerRegistrationChangeRecord,
        broker_id=numbers,
        broker_epoch=numbers,
        fenced=st.integers(-1, 1),
        in_controlled_shutdown=st.integers(-1, 1),
        log_dirs=st.lists(uuids, max_size=2),
        cordoned_log_dirs=st.none() | st.lists(uuids, max_size=2),
    ),
    st.builds(RegisterControllerRecord, controller_id=numbers, incarnation_id=uuids),
    st.builds(
        ConfigRecord,
        resource_type=st.sampled_from([2, 4, 16, 32]),
        resource_name=st.just("") | names,
        name=names,
        value=st.none() | st.text(max_size=5),
    ),
    st.builds(FeatureLevelRecord, name=names, feature_level=numbers),
    st.builds(
        FeatureLevelRecord, name=st.just("metadata.version"), feature_level=st.integers(7, 30)
    ),
    st.builds(ProducerIdsRecord, next_producer_id=st.integers(0, 2**63 - 1)),
    st.builds(
        ClientQuotaRecord,
        entity=st.lists(
            st.builds(EntityData, entity_type=names, entity_name=st.none() | names),
            max_size=2,
            unique_by=lambda part: part.entity_type,
        ),
        key=names,
        value=st.floats(allow_nan=False),
        remove=st.booleans(),
    ),
    st.builds(AccessControlEntryRecord, id=uuids, principal=names),
    st.builds(RemoveAccessControlEntryRecord, id=uuids),
    st.builds(UserScramCredentialRecord, name=names, mechanism=numbers, salt=st.binary(max_size=3)),
    st.builds(RemoveUserScramCredentialRecord, name=names, mechanism=numbers),
    st.builds(DelegationTokenRecord, token_id=names, renewers=st.lists(names, max_size=2)),
    st.builds(RemoveDelegationTokenRecord, token_id=names),
)

"""Brokers that are fenced without having asked for it, and those that shut down."""

from functools import partial

import pytest

from ottla.controller.operations.fence_broker import fence_broker
from ottla.controller.operations.heartbeat import heartbeat
from ottla.controller.operations.register_broker import register_broker
from ottla.controller.operations.unregister_broker import unregister_broker
from ottla.metadata import NO_LEADER, SUPPORTED_FEATURES, MetadataImage
from ottla.metadata.broker import feature_structs
from ottla.model import ErrorCode
from ottla.wire.messages import broker_registration as registration
from ottla.wire.messages.broker_heartbeat import BrokerHeartbeatRequest
from ottla.wire.messages.unregister_broker import UnregisterBrokerRequest
from ottla.wire.stored.cluster_metadata.brokers import BrokerRegistrationChangeRecord
from tests.support.controller.cluster_images import (
    CLUSTER_ID,
    applied,
    broker,
    context,
    features,
    image_of,
    node_config,
    topic,
    uuid,
)


def cluster(*, is_shutting_down: bool = False, **levels: int) -> MetadataImage:
    return image_of(
        features(**levels),
        broker(1, in_controlled_shutdown=is_shutting_down),
        *(broker(2), broker(3)),
        topic("orders", [1, 2, 3], [2, 3, 1], [3, 1, 2], [1], [2, 3]),
    )


def fence(image: MetadataImage, *, epoch: int = 100) -> MetadataImage:
    request = BrokerHeartbeatRequest(broker_id=1, broker_epoch=epoch)
    records, response = fence_broker(image, request, context())
    assert response.error_code == 0
    assert response.is_fenced
    return applied(image, records)


def test_fenced_broker_leaves_every_isr_and_leads_nothing() -> None:
    image = fence(cluster())
    assert image.brokers[1].fenced
    partitions = image.topics.by_name["orders"].partitions
    assert [each.leader for each in partitions.values()] == [2, 2, 3, NO_LEADER, 2]
    assert [each.isr for each in partitions.values()] == [(2, 3), (2, 3), (3, 2), (), (2, 3)]
    assert [each.leader_epoch for each in partitions.values()] == [1, 0, 0, 1, 0]
    # Who was not concerned is not changed.
    assert partitions[4].partition_epoch == 0


def test_last_replica_of_a_partition_stays_eligible_or_in_sync() -> None:
    alone = fence(cluster()).topics.by_name["orders"].partitions[3]
    assert (alone.isr, alone.eligible_leader_replicas, alone.last_known_elr) == ((), (1,), (1,))
    image = fence(cluster(eligible_leader_replicas_version=0))
    alone = image.topics.by_name["orders"].partitions[3]
    assert (alone.isr, alone.leader) == ((1,), NO_LEADER)


def test_broker_that_dies_in_controlled_shutdown_is_fenced_too() -> None:
    assert fence(cluster(is_shutting_down=True)).brokers[1].fenced


def test_broker_that_began_to_shut_down_serves_no_more() -> None:
    image = fence(cluster(is_shutting_down=True))
    request = BrokerHeartbeatRequest(
        broker_id=1, broker_epoch=100, current_metadata_offset=300, want_shut_down=False
    )
    records, response = heartbeat(image, request, context())
    assert not records
    assert response.is_fenced


def test_broker_that_has_just_lost_a_directory_is_not_elected_for_what_was_in_it() -> None:
    image = image_of(
        features(),
        broker(1, fenced=True, log_dirs=[uuid(501), uuid(601)]),
        topic("orders", [1], isr=[], elr=[1], leader=NO_LEADER),
    )
    request = BrokerHeartbeatRequest(
        broker_id=1,
        broker_epoch=100,
        current_metadata_offset=300,
        offline_log_dirs=[uuid(501)],
    )
    for is_fenced in (True, False):
        records, response = heartbeat(image, request, context())
        image = applied(image, records)
        assert response.is_fenced == is_fenced
        assert image.topics.by_name["orders"].partitions[0].leader == NO_LEADER


def test_fencing_twice_writes_nothing() -> None:
    image = fence(cluster())
    assert fence(image) == image


def test_new_incarnation_is_not_fenced_for_the_old_one() -> None:
    request = BrokerHeartbeatRequest(broker_id=1, broker_epoch=99)
    records, response = fence_broker(cluster(), request, context())
    assert not records
    assert response.error_code == ErrorCode.STALE_BROKER_EPOCH


def test_partitions_that_are_alike_change_alike_each_in_its_epoch() -> None:
    image = image_of(
        features(),
        *(broker(1), broker(2)),
        topic("orders", *([[1, 2]] * 4)),
        topic("returns", *([[1, 2]] * 3)),
    )
    image = fence(image)
    for name, count in (("orders", 4), ("returns", 3)):
        partitions = image.topics.by_name[name].partitions
        assert [each.leader for each in partitions.values()] == [2] * count
        assert [each.partition_epoch for each in partitions.values()] == [1] * count


def test_topics_differ_in_what_they_allow() -> None:
    node = node_config(min_insync_replicas="2")
    image = cluster()
    request = BrokerHeartbeatRequest(broker_id=1, broker_epoch=100)
    records, _ = fence_broker(image, request, context(node))
    partitions = applied(image, records).topics.by_name["orders"].partitions
    assert [each.eligible_leader_replicas for each in partitions.values()] == [
        (),
        (),
        (),
        (1,),
        (),
    ]


def test_broker_stops_only_when_the_others_know_that_it_leads_nothing() -> None:
    image = image_of(features(), broker(1), broker(2), topic("orders", [1, 2]))
    request = BrokerHeartbeatRequest(
        broker_id=1, broker_epoch=100, current_metadata_offset=300, want_shut_down=True
    )
    records, response = heartbeat(image, request, context())
    assert not response.should_shut_down
    image = applied(image, records)
    records, response = partial(heartbeat, others_know=False)(image, request, context())
    assert not records
    assert (response.should_shut_down, response.is_fenced) == (False, False)
    records, response = partial(heartbeat, others_know=True)(image, request, context())
    assert (response.should_shut_down, response.is_fenced) == (True, True)
    (change,) = records
    assert isinstance(change, BrokerRegistrationChangeRecord)
    assert applied(image, records).brokers[1].fenced


@pytest.mark.parametrize(
    ("has_session", "incarnation", "code"),
    [(True, 77, "DUPLICATE_BROKER_REGISTRATION"), (False, 77, "NONE"), (True, 1, "NONE")],
)
def test_id_of_a_living_broker_is_taken(has_session: bool, incarnation: int, code: str) -> None:
    request = registration.BrokerRegistrationRequest(
        broker_id=1,
        cluster_id=CLUSTER_ID,
        incarnation_id=uuid(incarnation),
        features=feature_structs(registration.Feature, SUPPORTED_FEATURES),
        log_dirs=[uuid(501)],
    )
    _, response = register_broker(cluster(), request, context(), has_session=has_session)
    assert ErrorCode(response.error_code).name == code


def test_unregistered_broker_leads_nothing_and_stays_eligible_by_name_only() -> None:
    node = node_config(min_insync_replicas="2")
    image = image_of(
        features(),
        *(broker(1), broker(2), broker(3, fenced=True)),
        topic("orders", [1, 2]),
        topic("returns", [3, 2], isr=[2], elr=[3]),
    )
    for gone in (1, 3):
        request = UnregisterBrokerRequest(broker_id=gone)
        records, response = unregister_broker(image, request, context(node))
        assert response.error_code == 0
        image = applied(image, records)
    assert list(image.brokers) == [2]
    orders = image.topics.by_name["orders"].partitions[0]
    assert (orders.leader, orders.isr) == (2, (2,))
    assert image.topics.by_name["returns"].partitions[0].eligible_leader_replicas == (3,)

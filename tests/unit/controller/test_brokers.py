"""Brokers and controllers that register, serve, shut down and go."""

import pytest

from ottla.controller.operation import OperationOutcome
from ottla.controller.operations.allocate_producer_ids import allocate_producer_ids
from ottla.controller.operations.heartbeat import heartbeat
from ottla.controller.operations.register_broker import register_broker
from ottla.controller.operations.register_controller import register_controller
from ottla.controller.operations.unregister_broker import unregister_broker
from ottla.metadata import NO_LEADER, SUPPORTED_FEATURES, MetadataImage
from ottla.metadata.broker import feature_structs
from ottla.model import ErrorCode, Uuid
from ottla.wire.messages import broker_registration as registration
from ottla.wire.messages import controller_registration
from ottla.wire.messages.allocate_producer_ids import AllocateProducerIdsRequest
from ottla.wire.messages.broker_heartbeat import BrokerHeartbeatRequest, BrokerHeartbeatResponse
from ottla.wire.messages.unregister_broker import UnregisterBrokerRequest
from ottla.wire.stored.cluster_metadata.brokers import BrokerRegistrationChangeRecord
from ottla.wire.stored.cluster_metadata.topics import PartitionChangeRecord
from tests.support.controller.cluster_images import (
    CLUSTER_ID,
    applied,
    broker,
    context,
    features,
    image_of,
    one_broker,
    topic,
    uuid,
)

EPOCH = 100


def request(
    *,
    broker_id: int = 1,
    incarnation_id: Uuid | None = None,
    previous_broker_epoch: int = -1,
    cluster_id: str = CLUSTER_ID,
    log_dirs: list[Uuid] | None = None,
) -> registration.BrokerRegistrationRequest:
    return registration.BrokerRegistrationRequest(
        broker_id=broker_id,
        cluster_id=cluster_id,
        incarnation_id=incarnation_id or uuid(77),
        listeners=[registration.Listener(name="PLAINTEXT", host="localhost", port=9092)],
        features=feature_structs(registration.Feature, SUPPORTED_FEATURES),
        rack="a",
        log_dirs=[uuid(501)] if log_dirs is None else log_dirs,
        previous_broker_epoch=previous_broker_epoch,
    )


def register(
    image: MetadataImage, requested: registration.BrokerRegistrationRequest
) -> tuple[MetadataImage, registration.BrokerRegistrationResponse]:
    records, response = register_broker(image, requested, context(next_offset=200))
    return applied(image, records), response


def beat(
    image: MetadataImage,
    *,
    offset: int = EPOCH,
    want_fence: bool = False,
    want_shut_down: bool = False,
    offline: list[Uuid] | None = None,
    cordoned: list[Uuid] | None = None,
) -> tuple[MetadataImage, OperationOutcome[BrokerHeartbeatResponse]]:
    requested = BrokerHeartbeatRequest(
        broker_id=1,
        broker_epoch=image.brokers[1].epoch,
        current_metadata_offset=offset,
        want_fence=want_fence,
        want_shut_down=want_shut_down,
        offline_log_dirs=offline or [],
        cordoned_log_dirs=cordoned,
    )
    outcome = heartbeat(image, requested, context())
    return applied(image, outcome.records), outcome


def test_new_broker_is_fenced_and_its_epoch_is_where_it_registered() -> None:
    image, response = register(image_of(features()), request())
    assert (response.error_code, response.broker_epoch) == (0, 200)
    found = image.brokers[1]
    assert (found.epoch, found.fenced, found.rack, found.log_dirs) == (200, True, "a", (uuid(501),))
    assert found.features == SUPPORTED_FEATURES


def test_same_incarnation_keeps_its_epoch_and_state() -> None:
    image, response = register(one_broker(), request(incarnation_id=uuid(1)))
    assert response.broker_epoch == EPOCH
    assert not image.brokers[1].fenced
    assert image.brokers[1].rack == "a"


@pytest.mark.parametrize(
    ("requested", "code"),
    [
        (request(cluster_id="other"), "INCONSISTENT_CLUSTER_ID"),
        (request(log_dirs=[]), "INVALID_REGISTRATION"),
        (request(log_dirs=[uuid(1), uuid(1)]), "INVALID_REGISTRATION"),
        (request(log_dirs=[Uuid(bytes(15) + b"\x63")]), "INVALID_REGISTRATION"),
        (request(broker_id=2, log_dirs=[uuid(501)]), "INVALID_REGISTRATION"),
    ],
)
def test_registrations_that_cannot_be(
    requested: registration.BrokerRegistrationRequest, code: str
) -> None:
    image, response = register(one_broker(), requested)
    assert ErrorCode(response.error_code).name == code
    assert image == one_broker()


def test_broker_has_to_know_the_levels_of_the_cluster() -> None:
    for missing in ("metadata.version", "transaction.version"):
        requested = request()
        requested.features = [feature for feature in requested.features if feature.name != missing]
        _, response = register(image_of(features()), requested)
        assert response.error_code == ErrorCode.UNSUPPORTED_VERSION
    old = request()
    for feature in old.features:
        feature.max_supported_version = min(feature.max_supported_version, 29)
    _, response = register(image_of(features()), old)
    assert response.error_code == ErrorCode.UNSUPPORTED_VERSION


def test_broker_that_comes_back_leads_its_partitions_again_in_a_new_epoch() -> None:
    image = one_broker(topic("orders", [1], [1]))
    image, response = register(image, request())
    assert image.brokers[1].fenced
    for partition in image.topics.by_name["orders"].partitions.values():
        assert (partition.leader, partition.leader_epoch) == (NO_LEADER, 1)
        assert partition.eligible_leader_replicas == (1,)
    image, _ = beat(image, offset=response.broker_epoch)
    for partition in image.topics.by_name["orders"].partitions.values():
        assert (partition.leader, partition.leader_epoch, partition.isr) == (1, 2, (1,))
        assert partition.leader_recovery_state == 0
        assert not partition.eligible_leader_replicas


@pytest.mark.parametrize(("previous_epoch", "eligible"), [(EPOCH, (1, 2)), (-1, (2,))])
def test_only_a_clean_shutdown_leaves_a_replica_eligible(
    previous_epoch: int, eligible: tuple[int, ...]
) -> None:
    orders = topic("orders", [1, 2, 3], isr=[1], elr=[2], leader=1)
    image = image_of(features(), broker(1), broker(2, fenced=True), broker(3, fenced=True), orders)
    image, _ = register(image, request(previous_broker_epoch=previous_epoch))
    partition = image.topics.by_name["orders"].partitions[0]
    assert (partition.isr, partition.eligible_leader_replicas) == ((), eligible)


def test_fenced_broker_serves_once_it_has_caught_up() -> None:
    image = image_of(features(), broker(1, fenced=True))
    image, (records, response) = beat(image, offset=EPOCH - 1)
    assert not records
    assert (response.is_caught_up, response.is_fenced) == (False, True)
    image, (records, response) = beat(image)
    assert records == [BrokerRegistrationChangeRecord(broker_id=1, broker_epoch=EPOCH, fenced=-1)]
    assert (response.is_caught_up, response.is_fenced) == (True, False)
    assert image.is_active(1)


def test_heartbeat_that_changes_nothing_writes_nothing() -> None:
    _, (records, response) = beat(one_broker(topic("orders", [1])))
    assert not records
    assert not response.is_fenced


def test_broker_can_request_its_fencing() -> None:
    image, (_, response) = beat(one_broker(topic("orders", [1])), want_fence=True)
    assert response.is_fenced
    assert image.brokers[1].fenced
    assert image.topics.by_name["orders"].partitions[0].leader == NO_LEADER


def test_shutdown_moves_leadership_first_and_then_lets_the_broker_stop() -> None:
    image = one_broker(topic("orders", [1]))
    image, (records, response) = beat(image, want_shut_down=True)
    assert [type(record) for record in records] == [
        BrokerRegistrationChangeRecord,
        PartitionChangeRecord,
    ]
    assert not response.should_shut_down
    assert image.brokers[1].in_controlled_shutdown
    partition = image.topics.by_name["orders"].partitions[0]
    assert (partition.leader, partition.eligible_leader_replicas) == (NO_LEADER, (1,))
    image, (_, response) = beat(image, want_shut_down=True)
    assert response.should_shut_down
    assert image.brokers[1].fenced


def test_broker_that_leads_nothing_may_stop_at_once() -> None:
    _, (_, response) = beat(one_broker(), want_shut_down=True)
    assert response.should_shut_down


def test_other_replica_takes_over_from_one_that_shuts_down() -> None:
    image = image_of(features(), broker(1), broker(2), topic("orders", [1, 2]))
    image, _ = beat(image, want_shut_down=True)
    partition = image.topics.by_name["orders"].partitions[0]
    assert (partition.leader, partition.isr, partition.leader_epoch) == (2, (2,), 1)


def test_failed_directory_takes_its_partitions_with_it() -> None:
    image = image_of(
        features(),
        broker(1, log_dirs=[uuid(501), uuid(3)]),
        broker(2),
        topic("orders", [1, 2]),
    )
    image, _ = beat(image, offline=[uuid(501)])
    assert image.brokers[1].log_dirs == (uuid(3),)
    assert image.topics.by_name["orders"].partitions[0].leader == 2
    # It does not lead from there again, whatever else happens.
    image = image_of(
        features(),
        broker(1, log_dirs=[uuid(3)], fenced=True),
        topic("a", [1], isr=[], leader=-1, elr=[1]),
    )
    image, _ = beat(image)
    assert image.topics.by_name["a"].partitions[0].leader == NO_LEADER


def test_cordoned_directories_are_noted_once() -> None:
    image, (records, _) = beat(one_broker(), cordoned=[])
    assert len(records) == 1
    assert image.brokers[1].cordoned_log_dirs == ()
    _, (records, _) = beat(image, cordoned=[])
    assert not records


def test_heartbeat_of_an_earlier_incarnation_is_stale() -> None:
    for broker_id, epoch in ((1, 99), (2, 100)):
        requested = BrokerHeartbeatRequest(broker_id=broker_id, broker_epoch=epoch)
        records, response = heartbeat(one_broker(), requested, context())
        assert not records
        assert response.error_code == ErrorCode.STALE_BROKER_EPOCH


def test_unregistered_broker_is_gone_from_every_partition() -> None:
    image = image_of(features(), broker(1), broker(2), topic("orders", [1, 2]))
    records, response = unregister_broker(image, UnregisterBrokerRequest(broker_id=1), context())
    assert response.error_code == 0
    left = applied(image, records)
    assert list(left.brokers) == [2]
    assert left.topics.by_name["orders"].partitions[0].leader == 2
    _, again = unregister_broker(left, UnregisterBrokerRequest(broker_id=1), context())
    assert again.error_code == ErrorCode.BROKER_ID_NOT_REGISTERED


def test_controller_registers() -> None:
    requested = controller_registration.ControllerRegistrationRequest(
        controller_id=1,
        incarnation_id=uuid(9),
        listeners=[controller_registration.Listener(name="CONTROLLER", host="h", port=9093)],
        features=[controller_registration.Feature(name="kraft.version", max_supported_version=1)],
    )
    records, response = register_controller(image_of(features()), requested, context())
    assert response.error_code == 0
    found = applied(image_of(features()), records).controllers[1]
    assert found.incarnation_id == uuid(9)
    assert found.endpoints[0].port == 9093


def test_blocks_of_producer_ids_never_overlap() -> None:
    image, starts = one_broker(), []
    for _ in range(3):
        requested = AllocateProducerIdsRequest(broker_id=1, broker_epoch=EPOCH)
        records, response = allocate_producer_ids(image, requested, context())
        assert (response.error_code, response.producer_id_len) == (0, 1000)
        starts.append(response.producer_id_start)
        image = applied(image, records)
    assert starts == [0, 1000, 2000]
    assert image.next_producer_id == 3000


def test_producer_ids_are_for_registered_brokers() -> None:
    requested = AllocateProducerIdsRequest(broker_id=1, broker_epoch=99)
    records, response = allocate_producer_ids(one_broker(), requested, context())
    assert not records
    assert response.error_code == ErrorCode.STALE_BROKER_EPOCH


@pytest.mark.parametrize("want_shut_down", [False, True])
def test_broker_without_a_directory_is_fenced_and_reports_it_once(want_shut_down: bool) -> None:
    image, outcome = beat(one_broker(), offline=[uuid(501)], want_shut_down=want_shut_down)
    assert (outcome.response.is_fenced, outcome.response.should_shut_down) == (True, want_shut_down)
    assert image.brokers[1].fenced
    again, outcome = beat(image, offline=[uuid(501)], want_shut_down=want_shut_down)
    assert outcome.response.is_fenced
    assert not outcome.records
    assert again == image

"""IncrementalAlterConfigs and AlterConfigs."""

import pytest

from ottla.configs import ConfigOperation
from ottla.controller.operations.alter_configs import (
    incremental_alter_configs,
    legacy_alter_configs,
)
from ottla.metadata import MetadataImage
from ottla.model import ErrorCode
from ottla.wire.messages import alter_configs as whole
from ottla.wire.messages import incremental_alter_configs as incremental
from ottla.wire.schema import Message
from ottla.wire.stored.cluster_metadata.configs import ConfigRecord
from ottla.wire.stored.cluster_metadata.topics import ClearElrRecord
from tests.support.controller.cluster_images import (
    applied,
    broker,
    context,
    features,
    image_of,
    one_broker,
    topic,
)

TOPIC, BROKER = 2, 4


def cluster() -> MetadataImage:
    return one_broker(
        topic("orders", [1]),
        ConfigRecord(resource_type=TOPIC, resource_name="orders", name="segment.ms", value="1000"),
        ConfigRecord(resource_type=BROKER, resource_name="", name="min.insync.replicas", value="1"),
    )


def change(
    name: str, value: str | None, operation: int = ConfigOperation.SET
) -> incremental.AlterableConfig:
    return incremental.AlterableConfig(name=name, config_operation=operation, value=value)


def resource(
    *configs: incremental.AlterableConfig, kind: int = TOPIC, name: str = "orders"
) -> incremental.AlterConfigsResource:
    return incremental.AlterConfigsResource(
        resource_type=kind, resource_name=name, configs=list(configs)
    )


def alter(
    *resources: incremental.AlterConfigsResource, validate_only: bool = False
) -> tuple[list[Message], list[tuple[ErrorCode, str | None]]]:
    request = incremental.IncrementalAlterConfigsRequest(
        resources=list(resources), validate_only=validate_only
    )
    records, response = incremental_alter_configs(cluster(), request, context())
    for requested, answered in zip(resources, response.responses, strict=True):
        assert answered.resource_type == requested.resource_type
        assert answered.resource_name == requested.resource_name
    return records, [
        (ErrorCode(each.error_code), each.error_message) for each in response.responses
    ]


def replace(
    configs: dict[str, str | None], *, kind: int = TOPIC, name: str = "orders"
) -> tuple[list[Message], ErrorCode]:
    wanted = whole.AlterConfigsResource(
        resource_type=kind,
        resource_name=name,
        configs=[whole.AlterableConfig(name=key, value=value) for key, value in configs.items()],
    )
    request = whole.AlterConfigsRequest(resources=[wanted])
    records, response = legacy_alter_configs(cluster(), request, context())
    return records, ErrorCode(response.responses[0].error_code)


def test_incremental_alteration_touches_what_it_names() -> None:
    records, answers = alter(
        resource(
            change("retention.ms", "5000"),
            change("cleanup.policy", "compact", ConfigOperation.APPEND),
        )
    )
    assert answers == [(ErrorCode.NONE, None)]
    assert applied(cluster(), records).topic_configs("orders") == {
        "segment.ms": "1000",
        "retention.ms": "5000",
        "cleanup.policy": "delete,compact",
    }


def test_deleted_config_goes() -> None:
    records, _ = alter(resource(change("segment.ms", None, ConfigOperation.DELETE)))
    assert applied(cluster(), records).topic_configs("orders") == {}


def test_unchanged_config_of_a_topic_is_not_written() -> None:
    records, answers = alter(resource(change("segment.ms", "1000")))
    assert not records
    assert answers == [(ErrorCode.NONE, None)]


def test_validating_only_writes_nothing() -> None:
    records, answers = alter(resource(change("retention.ms", "1")), validate_only=True)
    assert not records
    assert answers == [(ErrorCode.NONE, None)]


def test_legacy_alteration_replaces_everything() -> None:
    records, code = replace({"retention.ms": "5000"})
    assert code is ErrorCode.NONE
    assert applied(cluster(), records).topic_configs("orders") == {"retention.ms": "5000"}


def test_legacy_alteration_needs_values() -> None:
    records, code = replace({"retention.ms": None})
    assert not records
    assert code is ErrorCode.INVALID_REQUEST


@pytest.mark.parametrize(
    ("requested", "code"),
    [
        (resource(change("no.such.config", "1")), "INVALID_CONFIG"),
        (resource(change("segment.ms", "soon")), "INVALID_CONFIG"),
        (resource(change("segment.ms", "1", ConfigOperation.APPEND)), "INVALID_CONFIG"),
        (resource(change("segment.ms", None)), "INVALID_REQUEST"),
        (resource(change("segment.ms", "1", 9)), "INVALID_REQUEST"),
        (resource(change("segment.ms", "1"), change("segment.ms", "2")), "INVALID_REQUEST"),
        (resource(change("segment.ms", "1"), name="unknown"), "UNKNOWN_TOPIC_OR_PARTITION"),
        (resource(change("segment.ms", "1"), name="no topic"), "INVALID_TOPIC_EXCEPTION"),
        (resource(change("segment.ms", "1"), name=""), "INVALID_REQUEST"),
        (resource(kind=3), "UNSUPPORTED_VERSION"),
        (resource(kind=8, name="1"), "INVALID_REQUEST"),
        (resource(kind=BROKER, name="2"), "BROKER_ID_NOT_REGISTERED"),
        (resource(kind=BROKER, name="one"), "INVALID_REQUEST"),
        (resource(kind=BROKER, name="1" * 5000), "INVALID_REQUEST"),
        (resource(change("node.id", "7"), kind=BROKER, name="1"), "INVALID_REQUEST"),
        (resource(change("log.retention.ms", "x"), kind=BROKER, name=""), "INVALID_REQUEST"),
    ],
)
def test_alterations_that_cannot_be(requested: incremental.AlterConfigsResource, code: str) -> None:
    records, [(found, message)] = alter(requested)
    assert not records
    assert found.name == code
    assert message


def test_resource_named_twice_is_not_altered() -> None:
    records, answers = alter(
        resource(change("retention.ms", "1")), resource(change("retention.ms", "2"))
    )
    assert not records
    assert [code for code, _ in answers] == [ErrorCode.INVALID_REQUEST] * 2


def test_one_refusal_does_not_stop_the_others() -> None:
    records, answers = alter(
        resource(change("x", "1"), name="unknown"),
        resource(change("log.retention.ms", "9"), kind=BROKER, name=""),
    )
    assert [code for code, _ in answers] == [
        ErrorCode.UNKNOWN_TOPIC_OR_PARTITION,
        ErrorCode.NONE,
    ]
    assert applied(cluster(), records).cluster_configs["log.retention.ms"] == "9"


def test_unchanged_config_of_a_broker_is_written_so_that_it_is_read_anew() -> None:
    records, _ = alter(resource(change("min.insync.replicas", "1"), kind=BROKER, name=""))
    assert isinstance(records[0], ConfigRecord)


@pytest.mark.parametrize(
    ("requested", "cleared"),
    [
        (resource(change("min.insync.replicas", "1")), "orders"),
        (resource(change("min.insync.replicas", "2"), kind=BROKER, name=""), ""),
    ],
)
def test_new_minimum_of_in_sync_replicas_forgets_who_was_eligible(
    requested: incremental.AlterConfigsResource, cleared: str
) -> None:
    records, answers = alter(requested)
    assert answers == [(ErrorCode.NONE, None)]
    assert records[1:] == [ClearElrRecord(topic_name=cleared)]


@pytest.mark.parametrize(
    "requested",
    [
        resource(change("min.insync.replicas", None, ConfigOperation.DELETE), kind=BROKER, name=""),
        resource(change("min.insync.replicas", "2"), kind=BROKER, name="1"),
    ],
)
def test_cluster_keeps_one_minimum_while_there_are_eligible_leader_replicas(
    requested: incremental.AlterConfigsResource,
) -> None:
    records, [(code, message)] = alter(requested)
    assert not records
    assert code is ErrorCode.INVALID_CONFIG
    assert message is not None
    assert "while ELR is enabled" in message
    without = features(eligible_leader_replicas_version=0)
    request = incremental.IncrementalAlterConfigsRequest(resources=[requested])
    allowed = incremental_alter_configs(image_of(without, broker(1)), request, context())
    assert allowed.response.responses[0].error_code == 0


@pytest.mark.parametrize(
    ("configs", "code"),
    [
        ({"cleanup.policy": "delete"}, ErrorCode.INVALID_CONFIG),
        ({"cleanup.policy": "compact,delete"}, ErrorCode.INVALID_CONFIG),
        ({"segment.bytes": "1048576"}, ErrorCode.INVALID_CONFIG),
        ({"cleanup.policy": "compact", "segment.bytes": "1048576"}, ErrorCode.NONE),
    ],
)
@pytest.mark.parametrize("name", ["__consumer_offsets", "__transaction_state"])
def test_topics_of_coordinators_stay_compacted(
    name: str, configs: dict[str, str | None], code: ErrorCode
) -> None:
    policy = ConfigRecord(
        resource_type=TOPIC, resource_name=name, name="cleanup.policy", value="compact"
    )
    image = one_broker(topic(name, [1]), policy)
    wanted = whole.AlterConfigsResource(
        resource_type=TOPIC,
        resource_name=name,
        configs=[whole.AlterableConfig(name=key, value=value) for key, value in configs.items()],
    )
    _, response = legacy_alter_configs(
        image, whole.AlterConfigsRequest(resources=[wanted]), context()
    )
    assert response.responses[0].error_code == code

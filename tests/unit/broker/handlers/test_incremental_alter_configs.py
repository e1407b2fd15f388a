from __future__ import annotations

import logging
from collections.abc import Iterator

import pytest

from ottla.configs import ConfigOperation, ConfigResource, ConfigResourceType
from ottla.model import ErrorCode
from ottla.simulation import Operation
from ottla.wire.messages.incremental_alter_configs import (
    AlterableConfig,
    AlterConfigsResource,
    AlterConfigsResourceResponse,
    IncrementalAlterConfigsRequest,
)
from ottla.wire.messages.list_config_resources import ListConfigResourcesRequest
from tests.support.nodes.one_node import NODE_ID, OneNode

LOGGER = "ottla.broker.network.connection"
THIS_NODE = str(NODE_ID)


@pytest.fixture(autouse=True)
def _levels() -> Iterator[None]:
    yield
    logging.getLogger(LOGGER).setLevel(logging.NOTSET)


def resource(
    kind: int,
    name: str,
    *configs: tuple[str, str | None],
    operation: int = ConfigOperation.SET,
) -> AlterConfigsResource:
    return AlterConfigsResource(
        resource_type=kind,
        resource_name=name,
        configs=[
            AlterableConfig(name=config, config_operation=operation, value=value)
            for config, value in configs
        ],
    )


def alter(
    node: OneNode, *resources: AlterConfigsResource, validate_only: bool = False, version: int = 1
) -> list[AlterConfigsResourceResponse]:
    request = IncrementalAlterConfigsRequest(resources=list(resources), validate_only=validate_only)
    responses: list[AlterConfigsResourceResponse] = node.send_request(request, version).responses
    return responses


def alter_one(node: OneNode, *arguments: object, **options: int) -> int:
    (response,) = alter(node, resource(*arguments, **options))  # type: ignore[arg-type]
    return response.error_code


@pytest.mark.parametrize("version", [0, 1])
def test_a_topics_config_counts_when_it_is_acknowledged(node: OneNode, version: int) -> None:
    node.create_topic("orders")
    changed = resource(ConfigResourceType.TOPIC, "orders", ("retention.ms", "99"))

    (response,) = alter(node, changed, version=version)

    assert response.error_code == ErrorCode.NONE
    assert node.log("orders").config.retention_ms == 99


def test_a_config_that_is_deleted_is_the_brokers_again(node: OneNode) -> None:
    node.create_topic("orders", configs={"retention.ms": "99"})

    deleted = ("retention.ms", None)
    assert (
        alter_one(
            node, ConfigResourceType.TOPIC, "orders", deleted, operation=ConfigOperation.DELETE
        )
        == ErrorCode.NONE
    )
    assert node.log("orders").config.retention_ms == 7 * 24 * 3600 * 1000


def test_a_brokers_config_reaches_the_logs_of_topics_that_have_none(node: OneNode) -> None:
    node.create_topic("orders")
    node.create_topic("payments", configs={"retention.ms": "99"})

    assert alter_one(node, ConfigResourceType.BROKER, "", ("log.retention.ms", "55")) == 0
    assert node.log("orders").config.retention_ms == 55
    assert node.log("payments").config.retention_ms == 99
    assert alter_one(node, ConfigResourceType.BROKER, THIS_NODE, ("log.retention.ms", "66")) == 0
    assert node.log("orders").config.retention_ms == 66
    assert node.broker.config["log.retention.ms"] == 66


def test_validation_changes_nothing(node: OneNode) -> None:
    node.create_topic("orders")
    logger = resource(ConfigResourceType.BROKER_LOGGER, THIS_NODE, (LOGGER, "ERROR"))
    topic = resource(ConfigResourceType.TOPIC, "orders", ("retention.ms", "99"))

    responses = alter(node, topic, logger, validate_only=True)

    assert [each.error_code for each in responses] == [ErrorCode.NONE] * 2
    assert node.log("orders").config.retention_ms != 99
    assert logging.getLogger(LOGGER).level == logging.NOTSET


def test_answers_come_in_the_order_of_the_resources(node: OneNode) -> None:
    node.create_topic("orders")

    responses = alter(
        node,
        resource(ConfigResourceType.BROKER, "7", ("log.retention.ms", "1")),
        resource(ConfigResourceType.TOPIC, "orders", ("retention.ms", "99")),
        resource(ConfigResourceType.BROKER_LOGGER, THIS_NODE, (LOGGER, "ERROR")),
        resource(ConfigResourceType.TOPIC, "users", ("retention.ms", "99")),
    )

    assert [(each.resource_name, each.error_code) for each in responses] == [
        ("7", ErrorCode.INVALID_REQUEST),
        ("orders", ErrorCode.NONE),
        (THIS_NODE, ErrorCode.NONE),
        ("users", ErrorCode.UNKNOWN_TOPIC_OR_PARTITION),
    ]


def test_a_logger_gets_a_level_and_loses_it_again(node: OneNode) -> None:
    kind = ConfigResourceType.BROKER_LOGGER

    assert alter_one(node, kind, THIS_NODE, (LOGGER, "DEBUG")) == ErrorCode.NONE
    assert logging.getLogger(LOGGER).level == logging.DEBUG
    delete = ConfigOperation.DELETE
    assert alter_one(node, kind, THIS_NODE, (LOGGER, None), operation=delete) == ErrorCode.NONE
    assert logging.getLogger(LOGGER).level == logging.NOTSET


@pytest.mark.parametrize(
    ("config", "operation", "error"),
    [
        ((LOGGER, "LOUD"), ConfigOperation.SET, ErrorCode.INVALID_CONFIG),
        (("no.such.logger", "INFO"), ConfigOperation.SET, ErrorCode.INVALID_CONFIG),
        ((LOGGER, None), ConfigOperation.SET, ErrorCode.INVALID_REQUEST),
        ((LOGGER, "INFO"), ConfigOperation.APPEND, ErrorCode.INVALID_REQUEST),
        (("root", None), ConfigOperation.DELETE, ErrorCode.INVALID_REQUEST),
        ((LOGGER, "INFO"), 9, ErrorCode.INVALID_REQUEST),
    ],
)
def test_what_a_logger_cannot_have_is_refused(
    node: OneNode, config: tuple[str, str | None], operation: int, error: ErrorCode
) -> None:
    found = alter_one(
        node, ConfigResourceType.BROKER_LOGGER, THIS_NODE, config, operation=operation
    )

    assert found == error


def test_a_bad_level_keeps_the_good_ones_from_being_set(node: OneNode) -> None:
    configs = ((LOGGER, "ERROR"), ("ottla", "LOUD"))

    assert alter_one(node, ConfigResourceType.BROKER_LOGGER, THIS_NODE, *configs) != 0
    assert logging.getLogger(LOGGER).level == logging.NOTSET


def test_a_resource_named_twice_is_refused_both_times(node: OneNode) -> None:
    node.create_topic("orders")
    topic = resource(ConfigResourceType.TOPIC, "orders", ("retention.ms", "99"))
    logger = resource(ConfigResourceType.BROKER_LOGGER, THIS_NODE, (LOGGER, "ERROR"))

    responses = alter(node, topic, topic, logger, logger)

    assert {each.error_code for each in responses} == {ErrorCode.INVALID_REQUEST}
    assert logging.getLogger(LOGGER).level == logging.NOTSET


def test_a_controller_that_cannot_write_changes_nothing(node: OneNode) -> None:
    node.create_topic("orders")
    node.disk.faults.fail("/data/__cluster_metadata-0", Operation.WRITE)

    found = alter_one(node, ConfigResourceType.TOPIC, "orders", ("retention.ms", "99"))

    assert found == ErrorCode.KAFKA_STORAGE_ERROR
    assert node.log("orders").config.retention_ms != 99


def test_a_groups_config_is_stored_listed_and_deleted(node: OneNode) -> None:
    group = (ConfigResourceType.GROUP, "billing")
    session = "consumer.session.timeout.ms"

    assert alter_one(node, *group, (session, "50000")) == ErrorCode.NONE
    assert node.image.configs_of(ConfigResource(*group)) == {session: "50000"}
    listed = node.send_request(
        ListConfigResourcesRequest(resource_types=[ConfigResourceType.GROUP]), 1
    )
    assert [each.resource_name for each in listed.config_resources] == ["billing"]
    assert alter_one(node, *group, (session, None), operation=ConfigOperation.DELETE) == 0
    assert not node.image.configs_of(ConfigResource(*group))


@pytest.mark.parametrize(
    ("name", "config", "error", "reason"),
    [
        ("g", ("consumer.session.timeout.ms", "1"), ErrorCode.INVALID_CONFIG, "greater than or eq"),
        ("g", ("retention.ms", "1"), ErrorCode.INVALID_CONFIG, "Unknown group config name"),
        ("", ("consumer.session.timeout.ms", "1"), ErrorCode.INVALID_REQUEST, "Default group"),
    ],
)
def test_a_groups_wrong_config_is_refused_with_a_reason(
    node: OneNode, name: str, config: tuple[str, str], error: ErrorCode, reason: str
) -> None:
    (answer,) = alter(node, resource(ConfigResourceType.GROUP, name, config))
    assert answer.error_code == error
    assert reason in (answer.error_message or "")


@pytest.mark.parametrize("name", ["", THIS_NODE])
@pytest.mark.parametrize("setting", ["ssl.keystore.location", "ssl.provider", "super.users"])
def test_brokers_are_not_given_security_settings_of_every_listener(
    node: OneNode, name: str, setting: str
) -> None:
    (answer,) = alter(node, resource(ConfigResourceType.BROKER, name, (setting, "x")))
    assert answer.error_code == ErrorCode.INVALID_REQUEST
    assert setting in (answer.error_message or "")


def test_a_setting_without_effect_is_accepted_and_logged_once(
    node: OneNode, caplog: pytest.LogCaptureFixture
) -> None:
    for name, text in (("num.io.threads", "9"), ("log.cleaner.backoff.ms", "900")):
        assert alter_one(node, ConfigResourceType.BROKER, THIS_NODE, (name, text)) == ErrorCode.NONE

    said = [record.message for record in caplog.records if "without effect" in record.message]
    assert said == ["Ottla accepts the stored broker config num.io.threads without effect"]

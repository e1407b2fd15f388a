from __future__ import annotations

import pytest

from ottla.configs import ConfigResource, ConfigResourceType, ConfigSource, ConfigType
from ottla.model import ErrorCode
from ottla.wire.messages.describe_configs import (
    DescribeConfigsRequest,
    DescribeConfigsResource,
    DescribeConfigsResourceResult,
    DescribeConfigsResult,
)
from tests.support.nodes.one_node import NODE_ID, OneNode, StartNode

THIS_NODE = str(NODE_ID)


def describe(
    node: OneNode,
    kind: int,
    name: str,
    *keys: str,
    version: int = 4,
    synonyms: bool = False,
    documentation: bool = False,
) -> DescribeConfigsResult:
    resource = DescribeConfigsResource(
        resource_type=kind, resource_name=name, configuration_keys=list(keys) or None
    )
    request = DescribeConfigsRequest(
        resources=[resource], include_synonyms=synonyms, include_documentation=documentation
    )
    result: DescribeConfigsResult = node.send_request(request, version).results[0]
    assert (result.resource_type, result.resource_name) == (kind, name)
    return result


def only(result: DescribeConfigsResult) -> DescribeConfigsResourceResult:
    assert result.error_code == ErrorCode.NONE, result.error_message
    (config,) = result.configs
    return config


@pytest.mark.parametrize("version", range(1, 5))
def test_a_topics_own_configs_are_distinguished_from_defaults(node: OneNode, version: int) -> None:
    node.create_topic("orders", configs={"retention.ms": "1234"})

    result = describe(node, ConfigResourceType.TOPIC, "orders", version=version)

    configs = {config.name: config for config in result.configs}
    assert len(configs) > 30
    own, default = configs["retention.ms"], configs["segment.bytes"]
    assert (own.value, own.config_source) == ("1234", ConfigSource.DYNAMIC_TOPIC_CONFIG)
    assert (default.value, default.config_source) == ("1073741824", ConfigSource.DEFAULT_CONFIG)
    if version >= 3:
        assert own.config_type == ConfigType.LONG


def test_synonyms_show_where_a_value_would_come_from(start_node: StartNode) -> None:
    node = start_node(configs={"log.segment.bytes": "20000000"})
    node.create_topic("orders", configs={"segment.bytes": "10000000"})

    config = only(
        describe(node, ConfigResourceType.TOPIC, "orders", "segment.bytes", synonyms=True)
    )

    assert [(each.name, each.value, each.source) for each in config.synonyms] == [
        ("segment.bytes", "10000000", ConfigSource.DYNAMIC_TOPIC_CONFIG),
        ("log.segment.bytes", "20000000", ConfigSource.STATIC_BROKER_CONFIG),
        ("log.segment.bytes", "1073741824", ConfigSource.DEFAULT_CONFIG),
    ]


def test_synonyms_are_left_out_unless_requested(node: OneNode) -> None:
    node.create_topic("orders")

    assert not only(describe(node, ConfigResourceType.TOPIC, "orders", "segment.bytes")).synonyms


def test_the_broker_shows_what_it_was_started_with(start_node: StartNode) -> None:
    node = start_node(configs={"num.partitions": "5"})

    config = only(describe(node, ConfigResourceType.BROKER, THIS_NODE, "num.partitions"))

    assert (config.value, config.config_source) == ("5", ConfigSource.STATIC_BROKER_CONFIG)
    assert config.read_only


def test_the_brokers_default_shows_what_was_set_for_all(node: OneNode) -> None:
    """Formatting a cluster sets the minimum that eligible leader replicas need."""
    config = only(describe(node, ConfigResourceType.BROKER, ""))

    assert (config.name, config.value) == ("min.insync.replicas", "1")
    assert config.config_source == ConfigSource.DYNAMIC_DEFAULT_BROKER_CONFIG


def test_loggers_show_their_levels(node: OneNode) -> None:
    config = only(describe(node, ConfigResourceType.BROKER_LOGGER, THIS_NODE, "root"))

    assert config.value in ("FATAL", "ERROR", "WARN", "INFO", "DEBUG", "TRACE")
    assert config.config_source == ConfigSource.DYNAMIC_BROKER_LOGGER_CONFIG


@pytest.mark.parametrize(
    ("kind", "name", "error"),
    [
        (ConfigResourceType.TOPIC, "unknown", ErrorCode.UNKNOWN_TOPIC_OR_PARTITION),
        (ConfigResourceType.TOPIC, "no/topic", ErrorCode.INVALID_TOPIC_EXCEPTION),
        (ConfigResourceType.BROKER, "7", ErrorCode.INVALID_REQUEST),
        (ConfigResourceType.BROKER, "one", ErrorCode.INVALID_REQUEST),
        (ConfigResourceType.BROKER_LOGGER, "7", ErrorCode.INVALID_REQUEST),
        (ConfigResourceType.BROKER_LOGGER, "", ErrorCode.INVALID_REQUEST),
        (ConfigResourceType.CLIENT_METRICS, "", ErrorCode.INVALID_REQUEST),
        (ConfigResourceType.GROUP, "", ErrorCode.INVALID_REQUEST),
        (99, "name", ErrorCode.INVALID_REQUEST),
    ],
)
def test_what_there_is_not_is_refused(
    node: OneNode, kind: int, name: str, error: ErrorCode
) -> None:
    result = describe(node, kind, name)

    assert (result.error_code, result.configs) == (error, [])
    assert result.error_message


def test_client_metrics_show_all_configs_whether_they_are_set_or_not(node: OneNode) -> None:
    subscription = ConfigResource(ConfigResourceType.CLIENT_METRICS, "subscription")
    node.image.configs[subscription] = {"interval.ms": "1000"}

    result = describe(node, ConfigResourceType.CLIENT_METRICS, "subscription", documentation=True)

    assert [(each.name, each.value, each.config_source) for each in result.configs] == [
        ("interval.ms", "1000", ConfigSource.CLIENT_METRICS_CONFIG),
        ("match", "", ConfigSource.DEFAULT_CONFIG),
        ("metrics", "", ConfigSource.DEFAULT_CONFIG),
    ]
    assert "Which clients" in (result.configs[1].documentation or "")


@pytest.mark.parametrize("version", [3, 4])
def test_documentation_is_sent_only_on_request(node: OneNode, version: int) -> None:
    node.create_topic("orders")
    kind, name = ConfigResourceType.TOPIC, "orders"

    plain = describe(node, kind, name, "retention.ms", version=version)
    documented = describe(node, kind, name, "retention.ms", version=version, documentation=True)

    assert only(plain).documentation is None
    assert "How long records are kept" in (only(documented).documentation or "")


def test_a_group_shows_all_of_its_configs_whether_it_exists_or_not(node: OneNode) -> None:
    result = describe(node, ConfigResourceType.GROUP, "nobody", documentation=True)

    configs = {config.name: config for config in result.configs}
    session = configs["consumer.session.timeout.ms"]
    assert (session.value, session.config_source) == ("45000", ConfigSource.DEFAULT_CONFIG)
    assert session.config_type == ConfigType.INT
    assert "before it removes a member" in (session.documentation or "")
    assert "streams.session.timeout.ms" in configs

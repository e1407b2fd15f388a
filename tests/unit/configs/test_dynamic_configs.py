import pytest

from ottla.configs import NodeConfig, validate_broker_configs
from ottla.configs.dynamic_configs import dynamic_refusals
from ottla.configs.support import refusal_of
from ottla.model import ErrorCode, KafkaError
from tests.support.kafka.config_fixtures import Verdict, verdicts

NODE = NodeConfig.of({"log.cleaner.threads": "2", "message.max.bytes": "10"})


@pytest.mark.parametrize("verdict", verdicts("dynamic"), ids=str)
def test_configs_are_dynamic_where_kafkas_are(verdict: Verdict) -> None:
    """Apart from settings that promise what no node has yet."""
    configs, per_broker = verdict.question["configs"], verdict.question["per_broker"]
    is_refused = verdict.refusal is not None or any(
        refusal_of(name, text) for name, text in configs.items()
    )
    assert bool(dynamic_refusals(configs, per_broker=per_broker)) == is_refused


def test_this_brokers_own_go_before_the_clusters_and_those_before_the_files() -> None:
    node = NODE.with_dynamic(cluster={"message.max.bytes": "20"}, broker={})
    assert node.topic_defaults.max_message_bytes == 20
    node = node.with_dynamic(
        cluster={"message.max.bytes": "20"}, broker={"message.max.bytes": "30"}
    )
    assert node.topic_defaults.max_message_bytes == 30
    assert node.with_dynamic(cluster={}, broker={}).topic_defaults.max_message_bytes == 10


def test_stored_configs_that_cannot_apply_are_reported_and_the_rest_apply() -> None:
    node = NODE.with_dynamic(
        cluster={"listeners": "PLAINTEXT://:1", "max.connections": "5", "node.id": "9"},
        broker={"message.max.bytes": "much", "background.threads": "11"},
    )
    assert set(node.ignored) == {"listeners", "node.id", "message.max.bytes"}
    assert node.max_connections == 5
    assert node["background.threads"] == 11
    assert node.topic_defaults.max_message_bytes == 10
    assert node.node_id == 1


def test_a_config_refused_for_the_cluster_still_applies_to_one_broker() -> None:
    node = NODE.with_dynamic(
        cluster={"cordoned.log.dirs": "*"}, broker={"cordoned.log.dirs": "/tmp/kafka-logs"}
    )
    assert node.cordoned_log_dirs == ("/tmp/kafka-logs",)


def test_a_refusal_names_all_that_are_wrong_for_the_same_reason() -> None:
    configs = {"node.id": "2", "log.retention.hours": "3", "log.retention.ms": "1"}
    with pytest.raises(KafkaError) as refused:
        validate_broker_configs(configs, node=NODE, per_broker=True)
    assert refused.value.code is ErrorCode.INVALID_REQUEST
    assert refused.value.message == (
        "Cannot update these configs dynamically: log.retention.hours, node.id"
    )


@pytest.mark.parametrize(
    "configs",
    [
        {"log.roll.ms": "0"},
        {"log.cleaner.threads": "5"},
        {"num.io.threads": "3"},
        {"log.cleaner.dedupe.buffer.size": "1"},
        {"listeners": "PLAINTEXT://:9999"},
        {"listener.security.protocol.map": "PLAINTEXT:PLAIN"},
        {"cordoned.log.dirs": "/elsewhere"},
        {"max.connections": "0"},
        {"max.connection.creation.rate": "0"},
        {"max.connections.per.ip": "0"},
    ],
    ids=str,
)
def test_what_cannot_work_together_is_refused(configs: dict[str, str]) -> None:
    with pytest.raises(KafkaError) as refused:
        validate_broker_configs(configs, node=NODE, per_broker=True)
    assert refused.value.code is ErrorCode.INVALID_REQUEST
    assert any(name in refused.value.message for name in configs)


def test_what_works_is_taken() -> None:
    for configs in (
        {},
        {"log.cleaner.threads": "4", "log.retention.ms": "-1"},
        {"a.plugins.config": "1", "leader.replication.throttled.rate": "5"},
    ):
        validate_broker_configs(configs, node=NODE, per_broker=True)
        validate_broker_configs(configs, node=NODE, per_broker=False)


def test_a_brokers_quotas_have_values_without_a_file() -> None:
    assert NODE["leader.replication.throttled.rate"] == 2**63 - 1
    node = NODE.with_dynamic(cluster={"leader.replication.throttled.rate": "5"}, broker={})
    assert node["leader.replication.throttled.rate"] == 5

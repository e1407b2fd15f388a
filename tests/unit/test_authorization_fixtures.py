"""The collected authorization rules of Kafka agree with Kafka's table of APIs and errors."""

import pytest

from tests.support.kafka.authorization_fixtures import (
    KafkaAuthorization,
    authorizations,
    read_authorization,
)
from tests.support.kafka.protocol_table import api_table, layouts_by_version, read_table

# Every check of an operation of the cluster answers with the cluster's error, but this one.
FETCH_OF_A_REPLICA = "TOPIC_AUTHORIZATION_FAILED"
ERRORS = {
    "Topic": "TOPIC_AUTHORIZATION_FAILED",
    "Group": "GROUP_AUTHORIZATION_FAILED",
    "Cluster": "CLUSTER_AUTHORIZATION_FAILED",
    "TransactionalId": "TRANSACTIONAL_ID_AUTHORIZATION_FAILED",
    "User": "DELEGATION_TOKEN_AUTHORIZATION_FAILED",
}


def test_every_api_of_kafka_has_its_rules() -> None:
    names = {key: api.name for key, api in authorizations().items()}
    assert names == {key: api["name"] for key, api in api_table().items()}


@pytest.mark.parametrize("api", authorizations().values(), ids=lambda api: api.name)
def test_refusal_answers_with_the_error_of_the_resource_type(api: KafkaAuthorization) -> None:
    for rule in api.rules:
        if rule.error is None:
            continue
        first = rule.actions[0]
        replica = (api.name, first.operation) == ("Fetch", "ClusterAction")
        assert rule.error == ERRORS[first.resource_type] or (
            replica and rule.error == FETCH_OF_A_REPLICA
        )


@pytest.mark.parametrize("api", authorizations().values(), ids=lambda api: api.name)
def test_rule_asks_for_an_operation_of_the_resource_type(api: KafkaAuthorization) -> None:
    operations = read_authorization("operations")["operations"]
    for action in (action for rule in api.rules for action in rule.actions):
        # Kafka asks for Delete on the cluster, which it does not list among its operations.
        deletes_every_topic = (api.name, action.resource_type) == ("DeleteTopics", "Cluster")
        assert (
            action.operation in operations[action.resource_type]
            or action.operation.startswith("each operation")
            or deletes_every_topic
        )


def test_errors_of_the_rules_are_errors_of_kafka() -> None:
    known = {name for name, _ in read_table("errors").values()}
    assert set(ERRORS.values()) <= known


@pytest.mark.parametrize(
    "row", read_authorization("integration_test_rows")["rows"], ids=lambda row: row["api"]
)
def test_row_of_kafkas_test_reads_the_error_from_a_field_of_the_response(
    row: dict[str, str],
) -> None:
    layouts = layouts_by_version(f"{row['api']}ResponseData")
    path = row["error_field"].replace("[]", "").split(".")
    assert any(_has_field(layout, path) for layout in layouts.values())


def _has_field(layout: list[object], path: list[str]) -> bool:
    for field in layout:
        assert isinstance(field, list)
        if field[0] != path[0]:
            continue
        kind = field[1]
        while isinstance(kind, dict) and "array" in kind:
            kind = kind["array"]
        if len(path) == 1:
            return True
        return isinstance(kind, dict) and _has_field(kind["struct"], path[1:])
    return False

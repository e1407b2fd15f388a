"""Every declaration is the one in Kafka 4.3's own tables."""

from typing import Any

import pytest

from ottla.configs import (
    BROKER_CONFIGS,
    DYNAMIC_BROKER_CONFIGS,
    GROUP_CONFIGS,
    TOPIC_CONFIGS,
    ConfigDefinition,
)
from ottla.configs.definition import Definitions
from ottla.configs.group_config import GROUP_SYNONYMS
from ottla.configs.validators import ListOf
from ottla.configs.value import format_value
from tests.support.kafka.config_fixtures import OF_THE_AUTHORIZER, read
from tests.support.kafka.protocol_table import read_table

QUOTAS = {
    name: definition
    for name, definition in DYNAMIC_BROKER_CONFIGS.items()
    if name not in BROKER_CONFIGS
}
TABLES = pytest.mark.parametrize(
    ("table", "declared"),
    [("topic", TOPIC_CONFIGS), ("broker", BROKER_CONFIGS), ("broker quota", QUOTAS)],
)


def default_in_table(definition: ConfigDefinition) -> str | None:
    """The default as Java prints it in the table."""
    if definition.is_required:
        return "<required>"
    if isinstance(definition.default, tuple):
        return f"[{', '.join(definition.default)}]"
    if definition.type.name == "CLASS" and definition.default:
        return f"class {definition.default}"
    return format_value(definition.default)


def row_in_table(definition: ConfigDefinition) -> dict[str, Any]:
    row: dict[str, Any] = {"type": definition.type.name, "default": default_in_table(definition)}
    if definition.validator is not None:
        row["valid"] = str(definition.validator)
    return row


@pytest.mark.parametrize(
    ("table", "declared"), [("topic-configs", TOPIC_CONFIGS), ("broker-configs", BROKER_CONFIGS)]
)
def test_names_types_defaults_and_valid_values_are_kafkas(
    table: str, declared: Definitions
) -> None:
    kafkas = read_table(table)
    assert {
        name: row_in_table(definition)
        for name, definition in declared.items()
        if not name.startswith(("ottla.", "errors.deadletterqueue."))
        and name not in OF_THE_AUTHORIZER
    } == {
        # No text is null, so there is nothing to declare.
        name: {key: value for key, value in row.items() if value != "non-null string"}
        for name, row in kafkas.items()
    }


@TABLES
def test_importance_update_mode_and_visibility_are_kafkas(
    table: str, declared: Definitions
) -> None:
    for name, row in read("definitions")[table].items():
        definition = declared[name]
        assert definition.importance.value == row["importance"], name
        assert definition.is_internal == row["internal"], name
        # Kafka's table of update modes is the broker's; a topic's configs are all dynamic.
        if table != "topic":
            assert definition.update_mode.value == row["update"], name


@TABLES
def test_lists_may_be_empty_where_kafkas_may(table: str, declared: Definitions) -> None:
    for name, row in read("definitions")[table].items():
        if "empty" in row:
            validator = declared[name].validator
            assert isinstance(validator, ListOf)
            assert validator.may_be_empty == row["empty"], name


@TABLES
def test_defaults_are_values_that_their_texts_mean(table: str, declared: Definitions) -> None:
    for definition in declared.values():
        text = definition.default_text
        if text is not None:
            assert definition.parse(text) == definition.default


def test_kafkas_quotas_of_a_broker_are_dynamic_only() -> None:
    assert sorted(QUOTAS) == [
        "follower.replication.throttled.rate",
        "leader.replication.throttled.rate",
        "replica.alter.log.dirs.io.max.bytes.per.second",
    ]


def test_configs_of_groups_are_kafkas() -> None:
    assert {
        name: {
            "default": definition.default_text,
            "importance": definition.importance.value,
            "internal": definition.is_internal,
            "synonym": GROUP_SYNONYMS[name],
            "type": definition.type.name,
            "valid": None if definition.validator is None else str(definition.validator),
        }
        for name, definition in GROUP_CONFIGS.items()
        if not name.startswith(("ottla.", "errors.deadletterqueue."))
    } == read("definitions")["group"]

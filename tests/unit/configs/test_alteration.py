import pytest

from ottla.configs import (
    BROKERS_DEFAULT,
    ConfigAlteration,
    ConfigOperation,
    ConfigResource,
    ConfigResourceType,
    InvalidConfigError,
    alter_configs,
    apply_changes,
    replace_configs,
)
from ottla.model import ErrorCode, KafkaError

SET, DELETE = ConfigOperation.SET, ConfigOperation.DELETE
APPEND, SUBTRACT = ConfigOperation.APPEND, ConfigOperation.SUBTRACT
TOPIC = ConfigResource(ConfigResourceType.TOPIC, "orders")
POLICY = "cleanup.policy"


def altered_policy(operation: ConfigOperation, value: str, *, current: str | None) -> str | None:
    stored = {} if current is None else {POLICY: current}
    changes = alter_configs(TOPIC, stored, [ConfigAlteration(POLICY, operation, value)])
    return apply_changes(stored, changes).get(POLICY)


@pytest.mark.parametrize(
    ("operation", "value", "current", "new"),
    [
        (SET, "compact", "delete", "compact"),
        (APPEND, "compact", "delete", "delete,compact"),
        # What is appended to is the default where there is nothing else.
        (APPEND, "compact", None, "delete,compact"),
        (APPEND, "delete", "delete", "delete"),
        (APPEND, "compact,delete,compact", "", "compact,delete"),
        (APPEND, "compact,,", "delete", "delete,compact"),
        (APPEND, "", "delete", "delete,"),
        (APPEND, ",", "delete", "delete"),
        (SUBTRACT, "compact", "delete,compact", "delete"),
        (SUBTRACT, "delete,compact", "delete,compact", ""),
        (SUBTRACT, "delete", None, ""),
        (SUBTRACT, "compact", "delete", "delete"),
        (SUBTRACT, "delete", "delete,compact,delete", "compact,delete"),
    ],
)
def test_lists_are_altered_as_kafka_alters_them(
    operation: ConfigOperation, value: str, current: str | None, new: str
) -> None:
    assert altered_policy(operation, value, current=current) == new


def test_only_what_changes_is_stored() -> None:
    current = {"retention.ms": "1", "segment.ms": "2", "flush.ms": "3"}
    alterations = [
        ConfigAlteration("retention.ms", SET, "1"),
        ConfigAlteration("segment.ms", DELETE, None),
        ConfigAlteration("index.interval.bytes", DELETE, None),
        ConfigAlteration("preallocate", SET, "true"),
    ]
    changes = alter_configs(TOPIC, current, alterations)
    assert changes == {"segment.ms": None, "preallocate": "true"}
    assert apply_changes(current, changes) == {
        "retention.ms": "1",
        "flush.ms": "3",
        "preallocate": "true",
    }


def test_a_brokers_config_is_stored_though_it_stays_the_same() -> None:
    alterations = [ConfigAlteration("max.connections", SET, "5")]
    assert alter_configs(BROKERS_DEFAULT, {"max.connections": "5"}, alterations) == {
        "max.connections": "5"
    }


@pytest.mark.parametrize("operation", [APPEND, SUBTRACT])
@pytest.mark.parametrize("name", ["retention.ms", "no.such.config"])
def test_only_lists_are_appended_to(operation: ConfigOperation, name: str) -> None:
    with pytest.raises(InvalidConfigError, match=f"Can't {operation.name} to key {name}"):
        alter_configs(TOPIC, {}, [ConfigAlteration(name, operation, "1")])


def test_a_value_that_is_too_long_is_refused() -> None:
    fits, too_long = "x" * 32767, "x" * 32768
    alter_configs(TOPIC, {}, [ConfigAlteration("compression.type", SET, fits)])
    with pytest.raises(InvalidConfigError, match="32768 characters"):
        alter_configs(TOPIC, {}, [ConfigAlteration("compression.type", SET, too_long)])


@pytest.mark.parametrize(
    "alterations",
    [
        [ConfigAlteration("preallocate", SET, None)],
        [ConfigAlteration(POLICY, APPEND, None)],
        [ConfigAlteration("preallocate", SET, "1"), ConfigAlteration("preallocate", DELETE, None)],
    ],
)
def test_requests_that_make_no_sense_are_refused(alterations: list[ConfigAlteration]) -> None:
    with pytest.raises(KafkaError) as refused:
        alter_configs(TOPIC, {}, alterations)
    assert refused.value.code is ErrorCode.INVALID_REQUEST


def test_an_operation_that_there_is_not_is_refused() -> None:
    assert ConfigAlteration.of("a", 3, "b") == ConfigAlteration("a", SUBTRACT, "b")
    with pytest.raises(KafkaError, match="Unknown operation 4 for config a") as refused:
        ConfigAlteration.of("a", 4, "b")
    assert refused.value.code is ErrorCode.INVALID_REQUEST


def test_a_replacement_removes_what_it_does_not_name() -> None:
    current = {"retention.ms": "1", "segment.ms": "2"}
    changes = replace_configs(TOPIC, current, [("retention.ms", "1"), ("flush.ms", "3")])
    assert changes == {"flush.ms": "3", "segment.ms": None}
    assert apply_changes(current, changes) == {"retention.ms": "1", "flush.ms": "3"}


def test_a_replacement_with_a_null_or_a_name_twice_is_refused() -> None:
    for replacement in ([("retention.ms", None)], [("retention.ms", "1"), ("retention.ms", "1")]):
        with pytest.raises(KafkaError) as refused:
            replace_configs(TOPIC, {}, replacement)
        assert refused.value.code is ErrorCode.INVALID_REQUEST


def test_resource_types_have_kafkas_codes() -> None:
    assert [kind.value for kind in ConfigResourceType] == [0, 2, 4, 8, 16, 32]
    assert ConfigResourceType(3) is ConfigResourceType.UNKNOWN

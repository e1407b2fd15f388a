"""What a group's configs may be, and which of them count."""

from contextlib import nullcontext

import pytest

from ottla.configs import InvalidConfigError, NodeConfig
from ottla.configs.group_config import effective_group_number, validate_group_configs
from tests.support.kafka.config_fixtures import Verdict, verdicts

SESSION = "consumer.session.timeout.ms"


@pytest.mark.parametrize("verdict", verdicts("group"), ids=str)
def test_groups_configs_are_refused_where_kafka_refuses_them(verdict: Verdict) -> None:
    broker = NodeConfig.of(verdict.question["static"]).values
    with pytest.raises(InvalidConfigError) if verdict.refusal else nullcontext() as refused:
        validate_group_configs(verdict.question["configs"], broker=broker)
    if verdict.refusal is not None and " must be " in verdict.refusal:
        assert refused is not None
        assert verdict.refusal.split()[0] in refused.value.message


def test_bounds_are_named_with_their_values() -> None:
    with pytest.raises(InvalidConfigError) as refused:
        validate_group_configs({SESSION: "60001"}, broker=NodeConfig.of({}).values)
    assert refused.value.message == (
        f"{SESSION} must be less than or equal to group.consumer.max.session.timeout.ms (60000)"
    )


@pytest.mark.parametrize(
    ("own", "effective"),
    [
        ({}, 50_000),
        ({SESSION: "55000"}, 55_000),
        ({SESSION: "70000"}, 60_000),
        ({SESSION: "1"}, 45_000),
    ],
)
def test_a_groups_own_value_counts_within_the_brokers_bounds(
    own: dict[str, str], effective: int
) -> None:
    broker = NodeConfig.of({"group.consumer.session.timeout.ms": "50000"}).values
    assert effective_group_number(SESSION, own, broker) == effective


def test_stored_values_that_make_no_sense_do_not_count() -> None:
    broker = NodeConfig.of({}).values
    assert effective_group_number(SESSION, {SESSION: "soon", "unknown": "1"}, broker) == 45_000

"""A misspelled setting is answered with the right one."""

import pytest

from ottla.configs.near_names import near_broker_config, near_topic_config, unknown_config_text


@pytest.mark.parametrize(
    ("name", "near"),
    [
        ("num.partitons", "num.partitions"),
        ("Log.Dirs", "log.dirs"),
        ("leader.replication.throtled.rate", "leader.replication.throttled.rate"),
        ("retention.ms", "log.retention.ms"),
        ("segment.bytes", "log.segment.bytes"),
        ("listener.name.inside.max.conections", "listener.name.inside.max.connections"),
        ("listener.name.inside.zzz", None),
        ("zzz", None),
    ],
)
def test_the_nearest_name_is_suggested(name: str, near: str | None) -> None:
    assert near_broker_config(name) == near


@pytest.mark.parametrize(
    ("name", "near"),
    [
        ("retentionms", "retention.ms"),
        ("log.retention.ms", "retention.ms"),
        ("num.partitions", None),
    ],
)
def test_the_nearest_topic_config_is_suggested(name: str, near: str | None) -> None:
    assert near_topic_config(name) == near


def test_texts_suggest_only_what_is_near() -> None:
    assert unknown_config_text("num.partitons") == (
        "num.partitons is not a broker config of Kafka; did you mean num.partitions?"
    )
    assert unknown_config_text("zzz") == "zzz is not a broker config of Kafka"

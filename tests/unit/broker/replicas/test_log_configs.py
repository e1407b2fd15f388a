from __future__ import annotations

from dataclasses import fields, replace

import pytest

from ottla.broker.replicas.log_configs import LogConfigs, log_config_of
from ottla.configs import NodeConfig
from ottla.simulation import SeededDice
from ottla.storage.log_config import LogConfig
from ottla.wire.records.compression import Codec
from ottla.wire.records.header import TimestampType

NODE = NodeConfig.of({})
# A log on its own has no coordinators of transactions to ask.
DEFAULT = LogConfig(transaction_verification_enable=True)


def configs(node: NodeConfig = NODE, seed: int = 0) -> LogConfigs:
    return LogConfigs(node, SeededDice(seed))


def config(**overrides: str) -> LogConfig:
    named = {name.replace("_", "."): value for name, value in overrides.items()}
    return configs().of_topic("orders", named)


def test_a_topic_without_configs_has_kafkas_defaults_and_shares_them() -> None:
    shared = configs()

    assert shared.of_topic("orders", {}) == DEFAULT
    assert shared.of_topic("orders", {}) is shared.of_topic("payments", {})


def test_a_brokers_configs_are_the_defaults_of_topics() -> None:
    node = NodeConfig.of({"log.retention.hours": "1", "message.max.bytes": "5000"})

    found = configs(node).of_topic("orders", {})

    assert (found.retention_ms, found.max_message_bytes) == (3_600_000, 5_000)


@pytest.mark.parametrize(
    ("text", "codec", "level"),
    [
        ("producer", None, None),
        ("uncompressed", Codec.NONE, None),
        ("snappy", Codec.SNAPPY, None),
        ("gzip", Codec.GZIP, None),
        ("lz4", Codec.LZ4, 9),
        ("zstd", Codec.ZSTD, 3),
    ],
)
def test_each_codec_has_its_own_level(text: str, codec: Codec | None, level: int | None) -> None:
    found = config(compression_type=text)

    assert (found.compression_type, found.compression_level) == (codec, level)


def test_a_level_that_was_set_counts_for_its_codec() -> None:
    gzip = config(compression_type="gzip", compression_gzip_level="5")
    zstd = config(compression_type="zstd", compression_gzip_level="5")

    assert (gzip.compression_level, zstd.compression_level) == (5, 3)


def test_words_become_what_they_mean() -> None:
    found = config(
        cleanup_policy="compact", message_timestamp_type="LogAppendTime", flush_messages="1"
    )

    assert (found.compact, found.delete) == (True, False)
    assert found.message_timestamp_type is TimestampType.LOG_APPEND_TIME
    assert found.syncs_before_acknowledging


def test_every_setting_of_a_log_follows_some_config() -> None:
    """A field that nothing sets would keep its default whatever is configured."""
    node = NodeConfig.of({"producer.id.expiration.ms": "7"})
    topic = node.topic_config(
        {
            "cleanup.policy": "compact",
            "compression.lz4.level": "2",
            "compression.type": "lz4",
            "delete.retention.ms": "1",
            "file.delete.delay.ms": "2",
            "flush.messages": "3",
            "flush.ms": "4",
            "index.interval.bytes": "5",
            "max.compaction.lag.ms": "6",
            "max.message.bytes": "8",
            "message.timestamp.after.max.ms": "9",
            "message.timestamp.before.max.ms": "10",
            "message.timestamp.type": "LogAppendTime",
            "min.cleanable.dirty.ratio": "0.25",
            "min.compaction.lag.ms": "11",
            "ottla.delivery.delay.bytes.max": "17",
            "ottla.delivery.delay.enable": "true",
            "ottla.delivery.delay.max.ms": "18",
            "ottla.delivery.delay.ms": "19",
            "ottla.delivery.delay.records.max": "20",
            "ottla.record.validation": "record",
            "ottla.value.schema.validation": "full",
            "preallocate": "true",
            "retention.bytes": "12",
            "retention.ms": "13",
            "segment.bytes": "1048577",
            "segment.index.bytes": "14",
            "segment.ms": "15",
        }
    )

    found = log_config_of(
        topic,
        producer_id_expiration_ms=7,
        transaction_verification_enable=True,
        segment_jitter_ms=16,
    )

    default = LogConfig()
    settings = [each.name for each in fields(LogConfig) if each.init]
    same = [name for name in settings if getattr(found, name) == getattr(default, name)]
    assert same == []


def test_jitter_is_rolled_for_each_log_and_is_less_than_its_limit() -> None:
    shared = configs()
    rolled = [shared.of_topic("orders", {"segment.jitter.ms": "1000"}) for _ in range(50)]

    jitters = {each.segment_jitter_ms for each in rolled}
    assert len(jitters) > 10
    assert max(jitters) < 1000
    assert len({replace(each, segment_jitter_ms=0) for each in rolled}) == 1


def test_a_stored_value_that_makes_no_sense_leaves_the_defaults() -> None:
    assert config(retention_ms="soon", max_message_bytes="1") == DEFAULT

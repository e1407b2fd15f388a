"""The properties of a producer."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any, Final, TypeAlias

from ottla.client.errors import ConfigError
from ottla.client.settings.common import (
    COMMON,
    ClusterSettings,
    CommonProperties,
    cluster_settings,
)
from ottla.client.settings.parsing import ParsedProperties
from ottla.client.settings.property import ClientProperty, boolean, number, one_of, table, text
from ottla.wire.records.compression import Codec

# Chooses a partition: the topic, the key as bytes, and the count of partitions.
ChoosePartition: TypeAlias = Callable[[str, bytes | None, int], int]

_ACKS: Final = {"all": -1, "-1": -1, "1": 1, "0": 0}
# A leader detects duplicates among the last five batches of a producer.
_IN_FLIGHT_MAX: Final = 5
_ROUND_ROBIN: Final = "round_robin"


def _acks(value: Any) -> int:
    found = _ACKS.get(str(value).strip().lower())
    if found is None:
        raise ValueError("it must be all, 1 or 0")
    return found


def _partitioner(value: Any) -> ChoosePartition | str:
    if callable(value):
        return value  # type: ignore[no-any-return]
    name = str(value).strip().rpartition(".")[2]
    if name in ("RoundRobinPartitioner", _ROUND_ROBIN):
        return _ROUND_ROBIN
    raise ValueError("it must be a function (topic, key, count) -> partition, or round_robin")


PRODUCER: Final = {
    **COMMON,
    **table(
        ClientProperty("acks", _acks, -1, "required acknowledgements: 0, 1 (leader) or all"),
        ClientProperty(
            "batch.size", number(), 16_384, "largest size of a batch in bytes, before compression"
        ),
        ClientProperty(
            "buffer.memory",
            number(high=2**62),
            33_554_432,
            "bytes of records that wait for their acknowledgement; beyond it, send waits",
        ),
        ClientProperty(
            "compression.type",
            one_of("none", "gzip", "snappy", "lz4", "zstd"),
            "none",
            "codec of the batches",
        ),
        ClientProperty("compression.gzip.level", number(low=-1, high=9), -1, "gzip's level"),
        ClientProperty("compression.lz4.level", number(low=1, high=17), 9, "LZ4's level"),
        ClientProperty(
            "compression.zstd.level", number(low=-131_072, high=22), 3, "Zstandard's level"
        ),
        ClientProperty(
            "delivery.timeout.ms",
            number(),
            120_000,
            "time from send to the acknowledgement or the failure of a record",
        ),
        ClientProperty(
            "enable.idempotence",
            boolean,
            True,
            "whether every record is written once and in order, in spite of retries",
        ),
        ClientProperty(
            "linger.ms", number(), 5, "time that a batch waits for more records; 0: none"
        ),
        ClientProperty(
            "max.block.ms",
            number(high=2**62),
            60_000,
            "time that send and the calls of transactions may take",
        ),
        ClientProperty(
            "max.in.flight.requests.per.connection",
            number(low=1),
            _IN_FLIGHT_MAX,
            "requests to one node without a response",
        ),
        ClientProperty(
            "max.request.size", number(), 1_048_576, "largest size of a request and of a record"
        ),
        ClientProperty(
            "metadata.max.idle.ms",
            number(low=5_000),
            300_000,
            "time after which the metadata of an unused topic is not refreshed any more",
        ),
        ClientProperty(
            "partitioner.adaptive.partitioning.enable",
            boolean,
            True,
            "whether records without a key go rather to partitions whose queues are short",
        ),
        ClientProperty(
            "partitioner.availability.timeout.ms",
            number(),
            0,
            "accepted for compatibility: partitions without a leader are left out at once",
        ),
        ClientProperty(
            "partitioner.class",
            _partitioner,
            None,
            "function (topic, key, count) -> partition, or round_robin; else keys are hashed with "
            "murmur2 as in Java, and records without a key fill one partition's batch at a time",
        ),
        ClientProperty(
            "partitioner.ignore.keys", boolean, False, "whether keys do not choose the partition"
        ),
        ClientProperty(
            "retries", number(), 2**31 - 1, "attempts after the first one, within the timeout"
        ),
        ClientProperty(
            "transaction.timeout.ms",
            number(low=1),
            60_000,
            "time after which the coordinator aborts an open transaction",
        ),
        ClientProperty(
            "transactional.id", text, None, "name that a producer of transactions keeps"
        ),
    ),
}


class ProducerProperties(CommonProperties, total=False):
    """The keywords of a producer."""

    acks: int | str
    batch_size: int
    buffer_memory: int
    compression_type: str
    compression_gzip_level: int
    compression_lz4_level: int
    compression_zstd_level: int
    delivery_timeout_ms: int
    enable_idempotence: bool
    linger_ms: int
    max_block_ms: int
    max_in_flight_requests_per_connection: int
    max_request_size: int
    metadata_max_idle_ms: int
    partitioner_adaptive_partitioning_enable: bool
    partitioner_availability_timeout_ms: int
    partitioner_class: ChoosePartition | str
    partitioner_ignore_keys: bool
    retries: int
    transaction_timeout_ms: int
    transactional_id: str


@dataclass(frozen=True, slots=True, kw_only=True)
class ProducerSettings:
    """A producer's properties, checked."""

    cluster: ClusterSettings
    acks: int
    batch_size: int
    buffer_memory: int
    codec: Codec
    compression_level: int | None
    delivery_timeout_ms: int
    is_idempotent: bool
    linger_ms: int
    max_block_ms: int
    in_flight_max: int
    max_request_size: int
    metadata_max_idle_ms: int
    is_adaptive: bool
    partitioner: ChoosePartition | str | None
    ignores_keys: bool
    retries: int
    transaction_timeout_ms: int
    transactional_id: str | None


def producer_settings(parsed: ParsedProperties) -> ProducerSettings:
    """Raises ConfigError for properties that contradict each other, by Kafka's rules."""
    values, given = parsed.values, parsed.given
    transactional_id = values["transactional.id"]
    is_idempotent = _is_idempotent(parsed)
    if transactional_id is not None and not is_idempotent:
        raise ConfigError("transactional.id needs enable.idempotence=true.")
    shortest = values["linger.ms"] + values["request.timeout.ms"]
    delivery_timeout_ms = values["delivery.timeout.ms"]
    if delivery_timeout_ms < shortest:
        if "delivery.timeout.ms" in given:
            raise ConfigError(
                f"delivery.timeout.ms is {delivery_timeout_ms}, but linger.ms and "
                f"request.timeout.ms together are {shortest}.",
                "Raise delivery.timeout.ms, or lower the others.",
            )
        delivery_timeout_ms = shortest
    codec = Codec[values["compression.type"].upper()]
    level_name = f"compression.{codec.name.lower()}.level"
    return ProducerSettings(
        cluster=cluster_settings(values, parsed.security, creates_topics=True),
        acks=values["acks"],
        batch_size=values["batch.size"],
        buffer_memory=values["buffer.memory"],
        codec=codec,
        compression_level=values[level_name] if level_name in given else None,
        delivery_timeout_ms=delivery_timeout_ms,
        is_idempotent=is_idempotent,
        linger_ms=values["linger.ms"],
        max_block_ms=values["max.block.ms"],
        in_flight_max=values["max.in.flight.requests.per.connection"],
        max_request_size=values["max.request.size"],
        metadata_max_idle_ms=values["metadata.max.idle.ms"],
        is_adaptive=values["partitioner.adaptive.partitioning.enable"],
        partitioner=values["partitioner.class"],
        ignores_keys=values["partitioner.ignore.keys"],
        retries=values["retries"],
        transaction_timeout_ms=values["transaction.timeout.ms"],
        transactional_id=transactional_id,
    )


def _is_idempotent(parsed: ParsedProperties) -> bool:
    """Idempotence is the default. Where it contradicts another property, it is off, unless it was
    asked for (KIP-679)."""
    values = parsed.values
    contradictions = [
        text
        for text, is_so in (
            ("acks=all", values["acks"] != -1),
            ("retries above 0", values["retries"] == 0),
            (
                f"max.in.flight.requests.per.connection of at most {_IN_FLIGHT_MAX}",
                values["max.in.flight.requests.per.connection"] > _IN_FLIGHT_MAX,
            ),
        )
        if is_so
    ]
    if not values["enable.idempotence"]:
        return False
    is_required = "enable.idempotence" in parsed.given or values["transactional.id"] is not None
    if contradictions and is_required:
        raise ConfigError(f"An idempotent producer needs {' and '.join(contradictions)}.")
    return not contradictions

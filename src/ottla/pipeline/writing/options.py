"""The options of a write: names and defaults of Spark's Kafka connector, and some additional ones.

Options with the prefix `kafka.` are producer configs; those that this sink does not use are
ignored. Other unknown options are rejected, because a misspelt one would be ignored silently.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Final

from ottla.client_security.client_security import ClientSecurity
from ottla.pipeline.reading.errors import OptionError
from ottla.pipeline.reading.given_options import named_options, one_of, parse_security
from ottla.pipeline.reading.options import parse_bootstrap
from ottla.runtime.network import Address
from ottla.wire.records.compression import Codec

_KNOWN: Final = (
    "topic",
    "deliveryGuarantee",
    "journalTopic",
    "writeId",
    "writeVersion",
    "onError",
    "deadLetterTopic",
    # An option for reads, as in Spark's connector. Writes always write a column `headers`.
    "includeHeaders",
    # Spark adds these itself.
    "checkpointLocation",
    "path",
    "queryName",
)
_JOURNAL_TOPIC: Final = "__ottla_pipeline"
_DELIVERY_TIMEOUT_MS: Final = 120_000
# The brokers' default maximum (transaction.max.timeout.ms). A batch that takes longer cannot be
# committed.
_TRANSACTION_TIMEOUT_MS: Final = 900_000
_BATCH_BYTES: Final = 512 * 1024
_REQUEST_BYTES: Final = 1024 * 1024


@dataclass(frozen=True, slots=True)
class SinkOptions:
    """Validated options. Spark pickles them for the tasks."""

    bootstrap: tuple[Address, ...]
    security: ClientSecurity
    topic: str | None
    is_exactly_once: bool
    journal_topic: str
    # They identify a repeated batch: the writer, and the number of its batch. Streams use the
    # query's id and the number of the micro-batch instead.
    write_id: str | None
    write_version: int
    dead_letter_topic: str | None
    codec: Codec
    compression_level: int | None
    batch_bytes_max: int
    record_bytes_max: int
    delivery_timeout_ms: int
    transaction_timeout_ms: int
    client_id: str


def parse_options(options: Mapping[str, str], *, is_streaming: bool) -> SinkOptions:
    """Raises OptionError, whose message says how to correct the options."""
    given = named_options(options, _KNOWN, of="sink")
    for name in ("kafka.transactional.id", "kafka.enable.idempotence"):
        if name in given:
            raise OptionError(f"{name} cannot be set: deliveryGuarantee determines it")
    if given.get("kafka.acks", "all").strip() not in ("all", "-1"):
        raise OptionError(f"kafka.acks is {given['kafka.acks']!r}; the sink supports only all")
    codec = _codec(given)
    write_id, write_version = _identity(given, is_streaming=is_streaming)
    return SinkOptions(
        bootstrap=parse_bootstrap(given.get("kafka.bootstrap.servers")),
        security=parse_security(given),
        topic=given.get("topic"),
        is_exactly_once=one_of(given, "deliveryGuarantee", ("exactly-once", "at-least-once"))
        == "exactly-once",
        journal_topic=given.get("journalTopic", _JOURNAL_TOPIC),
        write_id=write_id,
        write_version=write_version,
        dead_letter_topic=_dead_letter_topic(given),
        codec=codec,
        compression_level=_level(given, codec),
        batch_bytes_max=_count(given, "kafka.batch.size", _BATCH_BYTES),
        record_bytes_max=_count(given, "kafka.max.request.size", _REQUEST_BYTES),
        delivery_timeout_ms=_count(given, "kafka.delivery.timeout.ms", _DELIVERY_TIMEOUT_MS),
        transaction_timeout_ms=_count(
            given, "kafka.transaction.timeout.ms", _TRANSACTION_TIMEOUT_MS
        ),
        client_id=given.get("kafka.client.id", "ottla-spark"),
    )


def _identity(given: Mapping[str, str], *, is_streaming: bool) -> tuple[str | None, int]:
    write_id, version = given.get("writeId"), given.get("writeVersion", "0").strip()
    if is_streaming and (write_id is not None or "writeVersion" in given):
        raise OptionError("writeId and writeVersion are for batches; a stream has its checkpoint")
    if write_id is None and "writeVersion" in given:
        raise OptionError("writeVersion needs writeId, whose batches it counts")
    if "/" in (write_id or ""):
        raise OptionError(f"writeId is {write_id!r}; it must not contain a slash")
    if not version.isdigit():
        raise OptionError(
            f"writeVersion is {version!r}; it must be a number that increases: 0, 1, 2, ..."
        )
    return write_id, int(version)


def _dead_letter_topic(given: Mapping[str, str]) -> str | None:
    has_dead_letters = one_of(given, "onError", ("fail", "deadletter")) == "deadletter"
    topic = given.get("deadLetterTopic")
    if has_dead_letters and not topic:
        raise OptionError("onError=deadletter needs deadLetterTopic, the topic for rejected rows")
    if topic and not has_dead_letters:
        raise OptionError("deadLetterTopic is given, but onError is not deadletter")
    return topic


def _codec(given: Mapping[str, str]) -> Codec:
    name = given.get("kafka.compression.type", "none").strip().lower()
    found = {codec.name.lower(): codec for codec in Codec}.get(name)
    if found is None:
        raise OptionError(
            f"kafka.compression.type is {name!r}; it must be one of "
            + ", ".join(codec.name.lower() for codec in Codec)
        )
    return found


def _level(given: Mapping[str, str], codec: Codec) -> int | None:
    name = f"kafka.compression.{codec.name.lower()}.level"
    text = given.get(name)
    if text is None:
        return None
    try:
        return int(text)
    except ValueError:
        raise OptionError(f"{name} is {text!r}; it must be a number") from None


def _count(given: Mapping[str, str], name: str, default: int) -> int:
    text = given.get(name, str(default)).strip()
    if not text.isdigit() or int(text) < 1:
        raise OptionError(f"{name} is {text!r}; it must be a number above zero")
    return int(text)

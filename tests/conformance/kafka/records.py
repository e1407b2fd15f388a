"""Record batches as Kafka's own classes see them; keys and values are bytes, None where absent."""

from dataclasses import dataclass, fields
from typing import Any


@dataclass(frozen=True, slots=True)
class KafkaRecord:
    offset: int
    timestamp: int
    key: bytes | None = None
    value: bytes | None = None
    headers: tuple[tuple[str, bytes | None], ...] = ()
    sequence: int = -1


@dataclass(frozen=True, slots=True)
class KafkaBatch:
    """A batch of a log; `error` is what Kafka threw while it iterated over the records."""

    position: int
    size: int
    base_offset: int
    last_offset: int
    count: int
    magic: int
    partition_leader_epoch: int
    compression: str
    timestamp_type: str
    max_timestamp: int
    producer_id: int
    producer_epoch: int
    base_sequence: int
    last_sequence: int
    is_transactional: bool
    is_control: bool
    delete_horizon_ms: int | None
    crc: int
    is_valid: bool
    records: tuple[KafkaRecord, ...]
    error: str | None


@dataclass(frozen=True, slots=True)
class KafkaRecords:
    """What Kafka reads; it stopped at `error`, and left `trailing_bytes` after the last batch."""

    batches: tuple[KafkaBatch, ...]
    trailing_bytes: int
    error: str | None


def records_from_json(data: dict[str, Any]) -> KafkaRecords:
    return KafkaRecords(
        batches=tuple(_batch(batch) for batch in data["batches"]),
        trailing_bytes=data["trailing_bytes"],
        error=data.get("error"),
    )


def record_to_json(record: KafkaRecord) -> dict[str, Any]:
    return {
        "offset": record.offset,
        "timestamp": record.timestamp,
        "key": _to_hex(record.key),
        "value": _to_hex(record.value),
        "headers": [(key, _to_hex(value)) for key, value in record.headers],
    }


def _batch(data: dict[str, Any]) -> KafkaBatch:
    records = tuple(_record(record) for record in data["records"])
    others = {field.name: data[field.name] for field in fields(KafkaBatch)}
    return KafkaBatch(**(others | {"records": records}))


def _record(data: dict[str, Any]) -> KafkaRecord:
    return KafkaRecord(
        offset=data["offset"],
        timestamp=data["timestamp"],
        key=_from_hex(data["key"]),
        value=_from_hex(data["value"]),
        headers=tuple((key, _from_hex(value)) for key, value in data["headers"]),
        sequence=data["sequence"],
    )


def _from_hex(text: str | None) -> bytes | None:
    return None if text is None else bytes.fromhex(text)


def _to_hex(data: bytes | None) -> str | None:
    return None if data is None else data.hex()

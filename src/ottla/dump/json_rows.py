"""Rows and statistics as JSON objects. Their field names are stable; docs/dump.md lists them."""

from __future__ import annotations

from dataclasses import asdict

from ottla.dump.plain import Fields, put_bytes
from ottla.dump.rows import ROW_NAMES, RecordRow, Row, StoredRecord
from ottla.dump.statistics import Amount, LogStatistics, SizeHistogram


def row_to_json(path: str, row: Row) -> Fields:
    """A row as a JSON object: its type, its file and its fields."""
    plain: Fields = {"type": ROW_NAMES[type(row)], "file": path}
    if isinstance(row, RecordRow):
        return plain | _record(row)
    return plain | row._asdict()


def statistics_to_json(path: str, statistics: LogStatistics) -> Fields:
    transactions = statistics.transactions
    return {
        "type": "statistics",
        "path": path,
        **_amount(statistics.total),
        "control_batches": statistics.control.batches,
        "control_records": statistics.control.records,
        "codecs": [
            {"codec": codec.name.lower(), **_amount(amount)}
            for codec, amount in sorted(statistics.codecs.items())
        ],
        "batch_sizes": _histogram(statistics.batch_sizes),
        "record_sizes": _histogram(statistics.record_sizes),
        "records_with_key": statistics.records_with_key,
        "records_without_key": statistics.records_without_key,
        "tombstones": statistics.tombstones,
        "producers": [
            {"producer_id": producer_id, **_amount(amount)}
            for producer_id, amount in sorted(statistics.producers.items())
        ],
        "transactional_batches": transactions.batches,
        "committed_transactions": transactions.committed,
        "aborted_transactions": transactions.aborted,
        "open_transactions": [
            {"producer_id": producer_id, "first_offset": first_offset}
            for producer_id, first_offset in sorted(transactions.open_since.items())
        ],
        "first_timestamp": statistics.timestamps.first,
        "last_timestamp": statistics.timestamps.last,
        "offsets": asdict(statistics.offsets),
    }


def _record(row: RecordRow) -> Fields:
    plain: Fields = {
        "offset": row.offset,
        "timestamp": row.timestamp,
        "sequence": row.sequence,
    }
    put_bytes(plain, "key", row.key)
    put_bytes(plain, "value", row.value)
    plain["headers"] = [_header(key, value) for key, value in row.headers]
    plain["control_type"] = row.control_type
    plain["key_record"] = _stored(row.key_record)
    plain["value_record"] = _stored(row.value_record)
    plain["decode_error"] = row.decode_error
    return plain


def _header(key: str, value: bytes | None) -> Fields:
    plain: Fields = {"key": key}
    put_bytes(plain, "value", value)
    return plain


def _stored(record: StoredRecord | None) -> Fields | None:
    return None if record is None else record._asdict()


def _amount(amount: Amount) -> Fields:
    return {**asdict(amount), "compression_ratio": round(amount.compression_ratio, 3)}


def _histogram(histogram: SizeHistogram) -> list[Fields]:
    return [
        {"from_bytes": smallest, "to_bytes": largest, "count": count}
        for smallest, largest, count in histogram.buckets()
    ]

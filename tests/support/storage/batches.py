"""Batches for tests, in as few words as a test can spare."""

from __future__ import annotations

import struct
from collections.abc import Mapping
from typing import Any, Final

from ottla.model import (
    NO_PRODUCER_EPOCH,
    NO_PRODUCER_ID,
    NO_SEQUENCE,
    Offset,
    ProducerEpoch,
    ProducerId,
    TimestampMs,
)
from ottla.wire.records.batch import compute_crc
from ottla.wire.records.builder import build_batch, seal_batch
from ottla.wire.records.compression import Codec, compress
from ottla.wire.records.header import ATTRIBUTES_AT, CRC_AT, read_header
from ottla.wire.records.record import Record
from ottla.wire.varint import encode_varint, encode_varlong


def batch_of(
    *values: bytes | None,
    key: bytes | None = None,
    timestamp: int = 1_000,
    codec: Codec = Codec.NONE,
    producer_id: int = NO_PRODUCER_ID,
    producer_epoch: int | None = None,
    sequence: int = NO_SEQUENCE,
    is_transactional: bool = False,
) -> bytearray:
    """A batch of these values, one record each, all with one key and timestamp."""
    if producer_epoch is None:
        producer_epoch = NO_PRODUCER_EPOCH if producer_id == NO_PRODUCER_ID else 0
    return build_batch(
        [
            Record(Offset(number), TimestampMs(timestamp), key, value)
            for number, value in enumerate(values)
        ],
        codec=codec,
        producer_id=ProducerId(producer_id),
        producer_epoch=ProducerEpoch(producer_epoch),
        base_sequence=sequence,
        is_transactional=is_transactional,
    )


def batch_around(
    body: bytes,
    *,
    codec: Codec = Codec.NONE,
    count: int = 1,
    timestamp: int = 1_000,
    max_timestamp: int | None = None,
    producer_id: int = NO_PRODUCER_ID,
    sequence: int = NO_SEQUENCE,
    is_transactional: bool = False,
) -> bytearray:
    """A batch with a right checksum around any bytes, as a producer with a bug might send it. They
    count as compressed already; `compressed_around` compresses them."""
    header = read_header(
        batch_of(
            b"value",
            timestamp=timestamp,
            producer_id=producer_id,
            sequence=sequence,
            is_transactional=is_transactional,
        )
    )
    latest = timestamp if max_timestamp is None else max_timestamp
    batch = seal_batch(
        header._replace(
            record_count=count, last_offset_delta=count - 1, max_timestamp=TimestampMs(latest)
        ),
        body,
    )
    struct.pack_into(">h", batch, ATTRIBUTES_AT, header.attributes | codec)
    struct.pack_into(">I", batch, CRC_AT, compute_crc(batch, 0, read_header(batch)))
    return batch


def compressed_around(body: bytes, *, codec: Codec, **options: Any) -> bytearray:
    return batch_around(compress(codec, body), codec=codec, **options)


def raw_record(
    *,
    offset: int = 0,
    timestamp: int = 0,
    key: bytes | None = b"k",
    value: bytes | None = b"v",
    headers: bytes = b"\x00",
    behind: bytes = b"",
    size: int | None = None,
) -> bytes:
    """A record field by field, right unless it is asked for otherwise. `headers` come with their
    count; `size` is the one that is declared."""
    content = b"\x00" + encode_varlong(timestamp) + encode_varint(offset)
    for field in (key, value):
        content += b"\x01" if field is None else encode_varint(len(field)) + field
    content += headers + behind
    return encode_varint(len(content) if size is None else size) + content


# Bodies that are no two records, by what is wrong, with the index of the bad record; None where
# the records are right and something is behind them.
_FIRST = raw_record()
GARBAGE_BODIES: Final[Mapping[str, tuple[bytes, int | None]]] = {
    "nothing": (b"", None),
    "one record too few": (raw_record(value=b"v" * 10), 1),
    "one record too many": (_FIRST + raw_record(offset=1) + raw_record(offset=2), None),
    "bytes behind the last record": (_FIRST + raw_record(offset=1) + b"\x00\x00", None),
    "a negative size": (_FIRST + raw_record(offset=1, size=-8), 1),
    "a size beyond the batch": (_FIRST + raw_record(offset=1, size=1_000_000), 1),
    "a size that is too small": (raw_record(size=3) + raw_record(offset=1), 0),
    "a number without an end": (_FIRST + b"\xff" * 20, 1),
    "a key beyond the record": (_FIRST + b"\x0e\x00\x00\x02\xfe\x7f\x00\x00", 1),
    "a value beyond the record": (_FIRST + b"\x0e\x00\x00\x02\x00\xfe\x7f\x00", 1),
    "a negative number of headers": (_FIRST + raw_record(offset=1, headers=b"\x01"), 1),
    "more headers than bytes": (_FIRST + raw_record(offset=1, headers=b"\x7e\x00\x00"), 1),
    "a header without a key": (_FIRST + raw_record(offset=1, headers=b"\x02\x01\x00"), 1),
    "a header beyond the record": (_FIRST + raw_record(offset=1, headers=b"\x02\x00\x40\x00"), 1),
    "bytes behind a record's headers": (raw_record(behind=b"\x00") + raw_record(offset=1), 0),
    "an offset twice": (_FIRST + raw_record(offset=0), 1),
    "an offset left out": (_FIRST + raw_record(offset=2), 1),
    "a negative offset": (_FIRST + raw_record(offset=-1), 1),
    "text": (b"these are not the records that you are looking for", 0),
}

"""Record batches v2: headers, bodies, records, control records and their compression.

`ottla.wire.records.columns` is not exported here, because it needs numpy.
"""

from ottla.wire.records.batch import (
    DECOMPRESSED_BYTES_MAX,
    assign_offset_and_epoch,
    crc_matches,
    iterate_batches,
    read_body,
    stamp_log_append_time,
    validate_batch,
    verify_crc,
)
from ottla.wire.records.builder import (
    batch_of_one,
    build_batch,
    empty_batch,
    encode_records,
    lone_record,
    seal_batch,
    shift_timestamp,
)
from ottla.wire.records.compression import Codec, compress, decompress
from ottla.wire.records.control import (
    ControlRecordType,
    EndTransactionMarker,
    control_record,
    end_transaction_batch,
    read_control_type,
    read_end_transaction_marker,
)
from ottla.wire.records.growing_batch import GrowingBatch
from ottla.wire.records.header import (
    HEADER_BYTES,
    BatchHeader,
    TimestampType,
    encode_attributes,
    increment_sequence,
    read_header,
)
from ottla.wire.records.record import (
    Record,
    RecordHeader,
    WalkedRecord,
    iterate_records,
    walk_records,
)

__all__ = [
    "DECOMPRESSED_BYTES_MAX",
    "HEADER_BYTES",
    "BatchHeader",
    "Codec",
    "ControlRecordType",
    "EndTransactionMarker",
    "GrowingBatch",
    "Record",
    "RecordHeader",
    "TimestampType",
    "WalkedRecord",
    "assign_offset_and_epoch",
    "batch_of_one",
    "build_batch",
    "compress",
    "control_record",
    "crc_matches",
    "decompress",
    "empty_batch",
    "encode_attributes",
    "encode_records",
    "end_transaction_batch",
    "increment_sequence",
    "iterate_batches",
    "iterate_records",
    "lone_record",
    "read_body",
    "read_control_type",
    "read_end_transaction_marker",
    "read_header",
    "seal_batch",
    "shift_timestamp",
    "stamp_log_append_time",
    "validate_batch",
    "verify_crc",
    "walk_records",
]

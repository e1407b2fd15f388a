"""`python -m ottla.pipeline.compile_loops`: compiles the loops of reads and writes in advance.

Without it the first read and the first write on a machine take some seconds longer.
"""

from __future__ import annotations

import pyarrow as pa

from ottla.client.producing.batch import NO_IDENTITY, BatchFormat, ProducerBatch
from ottla.client.producing.column_partitioner import ColumnPartitioner
from ottla.model import TopicPartition
from ottla.pipeline.definitions.avro_flat import resolve
from ottla.wire.records.columns import RecordColumns, decode_columns
from ottla.wire.records.record_bodies import Payloads, encode_headers
from ottla.wire.records.row_batches import UnsealedBatch, cut_batches

_HEADERS = pa.list_(pa.struct([pa.field("key", pa.string()), pa.field("value", pa.binary())]))


def compile_loops() -> RecordColumns:
    """Encodes a row with key, value and headers, decodes it, and returns the decoded columns."""
    column = pa.array([b"row"], pa.binary())
    headers = pa.array([[{"key": "of", "value": b"a pipeline"}]], _HEADERS)
    payloads = Payloads(column, column, *encode_headers(headers))
    sizes = payloads.sizes_max()
    targets = ColumnPartitioner(first=0, batch_bytes=1).partitions(column, None, sizes, count=1)
    batches = cut_batches(payloads, targets, sizes, batch_bytes_max=1)
    return decode_columns([_sealed(batch) for batch in batches])


def _sealed(rows: UnsealedBatch) -> bytes:
    batch = ProducerBatch.of_rows(TopicPartition("t", 0), rows, 0, deadline=0.0)
    batch.seal(BatchFormat(), NO_IDENTITY, -1)
    return bytes(batch.sealed or b"")


def compile_avro() -> None:
    """Decodes a flat Avro record."""
    field = {"name": "text", "type": "string"}
    record = {"type": "record", "name": "Row", "fields": [field]}
    reader = resolve(record, record, {"text": pa.string()})
    assert reader is not None
    reader.read(pa.array([b"\x02a"], pa.binary()), 0)


if __name__ == "__main__":
    compile_loops()
    compile_avro()

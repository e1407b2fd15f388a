"""What is compiled ahead is what reads and writes use: nothing is left for them to compile."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path
from typing import Any

import pyarrow as pa

from ottla.client.producing.column_partitioner import ColumnPartitioner
from ottla.pipeline.compile_loops import compile_loops
from ottla.pipeline.writing.rows import to_rows
from ottla.wire.records import column_loops, row_loops
from ottla.wire.records.builder import build_batch
from ottla.wire.records.columns import decode_columns
from ottla.wire.records.row_batches import cut_batches
from tests.support.kafka.java_batches import JAVA_BATCHES
from tests.support.storage.records import JAVA_RECORDS

# Neither beside the loops nor in a home can anything be kept.
NOWHERE = """
import numba.core.caching as caching
caching.CacheImpl._locator_classes = []
import numpy as np
import pyarrow as pa
# Every loop is made when its module is imported; one that is short is compiled as well.
import ottla.wire.records.column_loops
from ottla.wire.records.murmur2 import murmur2
from ottla.wire.records.row_loops import hash_keys, to_column
hashes = np.zeros(1, np.uint32)
hash_keys(to_column(pa.array([b"row"], pa.binary())), hashes)
assert hashes.tolist() == [murmur2(b"row")]
"""

LOOPS: list[Any] = [
    column_loops.read_records,
    column_loops.read_headers,
    row_loops.hash_keys,
    row_loops.write_records,
    row_loops.write_pairs,
]


def test_row_is_written_and_read() -> None:
    columns = compile_loops()
    assert bytes(columns.keys.data) == bytes(columns.values.data) == b"row"
    assert bytes(columns.headers.values.data) == b"a pipeline"


def test_nothing_is_left_to_compile() -> None:
    compile_loops()
    known = [set(each.signatures) for each in LOOPS]
    # Memory that may be written to, memory that may not, and views of both.
    built = build_batch(JAVA_RECORDS)
    decode_columns([JAVA_BATCHES["zstd"], built, bytes(built), memoryview(built)])
    rows = pa.RecordBatch.from_pydict({"value": pa.array([b"1", None, b"3"], pa.binary())})
    for some in (rows, rows.slice(1)):
        payloads = to_rows([some], has_topic=True).payloads
        sizes = payloads.sizes_max()
        targets = ColumnPartitioner(first=0, batch_bytes=1).partitions(
            payloads.values, None, sizes, count=2
        )
        assert list(cut_batches(payloads, targets, sizes, batch_bytes_max=1_000))
    assert [set(each.signatures) for each in LOOPS] == known


def test_loops_work_where_nothing_can_be_kept() -> None:
    subprocess.run([sys.executable, "-c", NOWHERE], check=True)


OLD_MODULE = """
from typing import NamedTuple
import numpy as np
from ottla.wire.records.compiled import loop

class {name}(NamedTuple):
    bytes: np.ndarray

@loop
def size(column):
    return len(column.bytes)

print(size({name}(np.zeros(3, np.uint8))))
"""


def test_what_was_compiled_for_types_that_are_gone_is_compiled_again(tmp_path: Path) -> None:
    for name in ("Column", "RenamedColumn"):
        (tmp_path / "kept.py").write_text(OLD_MODULE.format(name=name))
        done = subprocess.run(
            [sys.executable, "-c", "import kept"],
            cwd=tmp_path,
            capture_output=True,
            text=True,
            check=False,
        )
        assert done.stdout == "3\n", done.stderr
    assert list(tmp_path.glob("__pycache__/kept.size-*.nbi"))

"""Batches with right checksums and garbage in them are named, and the dump goes on behind them."""

from pathlib import Path

import pytest

from ottla.dump.reading import Reading
from ottla.dump.rows import BatchRow, Problem, RecordRow
from ottla.model import LeaderEpoch, Offset
from ottla.wire.records.batch import assign_offset_and_epoch
from ottla.wire.records.builder import build_batch
from ottla.wire.records.compression import Codec, compress
from tests.support.storage.batches import (
    GARBAGE_BODIES,
    batch_around,
    compressed_around,
    raw_record,
)
from tests.support.storage.dumped import only, record, rows_of, statistics_of, verified, write_log


def log_around(directory: Path, garbage: bytearray, *, count: int) -> Path:
    """A batch of a record, the garbage from offset 1 on, and another record."""
    assign_offset_and_epoch(garbage, 0, base_offset=Offset(1), leader_epoch=LeaderEpoch(0))
    last = build_batch([record(1 + count)])
    return write_log(directory, [build_batch([record(0)]), garbage, last])


def garbage_of(name: str, codec: Codec) -> tuple[bytearray, int]:
    if name == "cut off":
        whole = compress(codec, raw_record() * 100)
        return batch_around(whole[: len(whole) // 2], codec=codec, count=100), 100
    return compressed_around(GARBAGE_BODIES[name][0], codec=codec, count=2), 2


@pytest.mark.parametrize("codec", Codec)
@pytest.mark.parametrize("name", [*GARBAGE_BODIES, "cut off"])
def test_every_view_names_a_garbage_batch_and_goes_on(
    tmp_path: Path, name: str, codec: Codec
) -> None:
    garbage, count = garbage_of(name, codec)
    path = log_around(tmp_path, garbage, count=count)
    where = f"offsets 1 to {count},"

    (problem,), verdict = verified(path)
    assert where in problem
    assert verdict.batches == 3

    if name == "an offset twice":
        # It can be read, if only by those who do not mind.
        return
    rows = rows_of(path, Reading(deep=True))
    (shown,) = only(rows, Problem)
    assert where in shown.reason
    assert len(only(rows, BatchRow)) == 3
    offsets = [row.offset for row in only(rows, RecordRow)]
    assert (offsets[0], offsets[-1]) == (0, 1 + count)

    statistics, problems = statistics_of(path)
    assert statistics.offsets.last == 1 + count
    assert all(where in each.reason for each in only(problems, Problem))

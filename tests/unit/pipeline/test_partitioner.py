"""Which partition rows go to."""

from __future__ import annotations

import numpy as np
import pyarrow as pa

from ottla.client.producing.column_partitioner import ColumnPartitioner
from ottla.wire.records.murmur2 import murmur2

SIZES = np.full(6, 40, np.int64)


def partitions(
    keys: list[bytes | None], given: list[int | None] | None = None, *, first: int = 0
) -> list[int]:
    partitioner = ColumnPartitioner(first=first, batch_bytes=80)
    column = None if given is None else pa.array(given, pa.int32())
    sizes = SIZES[: len(keys)]
    found = partitioner.partitions(pa.array(keys, pa.binary()), column, sizes, count=5)
    return [int(each) for each in found]


def test_keys_hash_as_kafkas_own_do() -> None:
    # From Kafka's UtilsTest: signed there, unsigned here.
    known = {
        b"21": -973932308,
        b"foobar": -790332482,
        b"a-little-bit-long-string": -985981536,
        b"a-little-bit-longer-string": -1486304829,
        b"lkjh234lh9fiuh90y23oiuhsafujhadof229phr9h19h89h8": -58897971,
        b"abc": 479470107,
    }
    assert {key: murmur2(key) for key in known} == {
        key: value % 2**32 for key, value in known.items()
    }


def test_a_given_partition_goes_before_the_key() -> None:
    by_key = partitions([b"a", b"b", None])
    assert partitions([b"a", b"b", None], [4, None, 3]) == [4, by_key[1], 3]


def test_rows_without_a_key_fill_a_batch_before_the_next_partition_has_one() -> None:
    assert partitions([None] * 6, first=4) == [4, 4, 0, 0, 1, 1]
    assert partitions([None, b"a", None, None], first=1)[0::2] == [1, 1]


def test_the_next_rows_go_on_where_the_last_ones_were() -> None:
    partitioner = ColumnPartitioner(first=0, batch_bytes=80)
    keys = pa.nulls(3, pa.binary())
    found = [partitioner.partitions(keys, None, SIZES[:3], count=5).tolist() for _ in range(2)]
    assert found == [[0, 0, 1], [1, 2, 2]]

"""Tables as records: which columns can be written, and as what."""

from __future__ import annotations

from typing import Any

import numpy as np
import pandas as pd  # type: ignore[import-untyped]
import pyarrow as pa
import pytest

from ottla.client import PartitionChoiceError, RecordTooLargeError, SerializationError
from ottla.client.producing.batch import NO_IDENTITY, BatchFormat, ProducerBatch
from ottla.client.producing.column_partitioner import ColumnPartitioner
from ottla.client.producing.columns import ColumnLimits, ColumnNames, TableRows
from ottla.model import TopicPartition
from ottla.wire.records import Record, iterate_records

NOW_MS = 1_000


def records(
    table: Any, *, count: int = 1, batch_max: int = 1_000, record_max: int = 1_000, **names: str
) -> list[tuple[int, Record]]:
    """The partition and the record of each row, as the batches have them."""
    partitioner = ColumnPartitioner(first=0, batch_bytes=batch_max)
    limits = ColumnLimits(batch_max, record_max)
    found = []
    for rows in TableRows(table, ColumnNames(**names)).batches(
        partitioner, limits, topic="t", count=count
    ):
        batch = ProducerBatch.of_rows(TopicPartition("t", 0), rows, NOW_MS, deadline=0.0)
        batch.seal(BatchFormat(), NO_IDENTITY, -1)
        found += [(rows.target, record) for record in iterate_records(batch.sealed or b"")]
    return found


@pytest.mark.parametrize(
    "values",
    [
        pa.array([b"x", None, b""], pa.binary()),
        pa.array([b"x", None, b""], pa.large_binary()),
        pa.array(["x", None, ""], pa.string()),
        pa.array(["x", None, ""], pa.large_string()),
        pa.array(["x", None, ""], pa.string()).dictionary_encode(),
        pa.chunked_array([pa.array(["x", None]), pa.array([""])]),
    ],
)
def test_any_kind_of_text_or_bytes_is_a_value(values: Any) -> None:
    found = [record.value for _, record in records({"value": values})]
    assert found == [b"x", None, b""]


def test_a_pandas_frame_has_the_columns_that_are_named() -> None:
    frame = pd.DataFrame(
        {
            "who": ["alice", None],
            "what": ["3 apples", "1 pear"],
            "at": pd.to_datetime([1_700_000_000, 1_600_000_000], unit="s"),
            "count": [3, 1],
        }
    )
    found = records(frame, key="who", value="what", timestamp="at")
    assert [(each.key, each.value, each.timestamp) for _, each in found] == [
        (b"alice", b"3 apples", 1_700_000_000_000),
        (None, b"1 pear", 1_600_000_000_000),
    ]


def test_without_timestamps_rows_have_that_of_their_batch() -> None:
    assert [each.timestamp for _, each in records({"value": ["a", "b"]})] == [NOW_MS] * 2


def test_a_partition_that_is_null_is_chosen_by_the_key() -> None:
    table = {
        "value": ["a", "b"],
        "key": ["21", "21"],
        "to": pa.array([5, None], pa.int64()),
    }
    found = records(table, count=1_000, key="key", partition="to")
    assert sorted(target for target, _ in found) == sorted([5, (-973932308 & 0x7FFFFFFF) % 1_000])


def test_rows_without_a_key_fill_one_batch_after_the_other() -> None:
    found = records({"value": [bytes(100)] * 30}, count=3, batch_max=500)
    assert {target for target, _ in found} == {0, 1, 2}
    assert len(found) == 30


def test_large_tables_are_encoded_in_slices() -> None:
    values = pa.array([np.random.default_rng(1).bytes(100) for _ in range(50_000)], pa.binary())
    found = records({"value": values}, batch_max=200_000)
    assert [record.value for _, record in found] == values.to_pylist()
    assert not records({"value": pa.array([], pa.binary())})


@pytest.mark.parametrize(
    ("table", "names", "error", "message"),
    [
        ({"n": [1]}, {"value": "n"}, SerializationError, "must be binary or string"),
        ({"n": [1]}, {}, SerializationError, "no column value for the value; it has n"),
        (5, {}, SerializationError, "an? int has no columns"),
        (
            {"value": ["x"], "p": [7]},
            {"partition": "p"},
            PartitionChoiceError,
            "no partition 7; it has 1",
        ),
        ({"value": [bytes(2_000)]}, {}, RecordTooLargeError, "more than 1000"),
        (
            {"value": ["x"], "at": pa.array([None], pa.int64())},
            {"timestamp": "at"},
            SerializationError,
            "timestamps has nulls",
        ),
        (
            {
                "value": ["x"],
                "h": pa.array(
                    [[{"key": None, "value": b""}]],
                    pa.list_(pa.struct([("key", pa.string()), ("value", pa.binary())])),
                ),
            },
            {"headers": "h"},
            SerializationError,
            "a header without a key",
        ),
    ],
)
def test_rows_that_cannot_be_written_are_refused(
    table: Any, names: dict[str, Any], error: type[Exception], message: str
) -> None:
    with pytest.raises(error, match=message):
        records(table, **names)

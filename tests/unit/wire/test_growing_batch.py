"""A batch that grows is the same as one that is built of all its records."""

from __future__ import annotations

import pytest

from ottla.model import Offset, TimestampMs
from ottla.wire.records import Codec, GrowingBatch, Record, build_batch

PAIRS = [(b"key-%d" % n, None if n % 5 == 4 else b"value" * n) for n in range(99)]


@pytest.mark.parametrize("codec", [Codec.NONE, Codec.LZ4])
def test_a_growing_batch_is_the_batch_of_its_records(codec: Codec) -> None:
    growing = GrowingBatch(TimestampMs(7))
    for key, value in PAIRS:
        growing.add(key, value)
    records = [
        Record(Offset(offset), TimestampMs(7), key, value)
        for offset, (key, value) in enumerate(PAIRS)
    ]
    assert growing.seal(codec) == build_batch(records, codec=codec)
    assert len(growing) == len(PAIRS)

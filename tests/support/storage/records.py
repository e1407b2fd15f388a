"""Records for tests: those in the batches that Java wrote, and any that Hypothesis thinks of."""

from __future__ import annotations

from hypothesis import strategies as st

from ottla.model import Offset, TimestampMs
from ottla.wire.records import Record, RecordHeader

JAVA_RECORDS = [
    Record(
        Offset(100),
        TimestampMs(1700000000000),
        b"key-1",
        b"value-1",
        (("h1", b"x"), ("ü", None)),
    ),
    Record(Offset(101), TimestampMs(1700000000123), None, bytes(300)),
    Record(Offset(104), TimestampMs(1699999999000), b"key-3", None),
    Record(Offset(105), TimestampMs(1700000500000), b"", b""),
]

_timestamps = st.integers(0, 2**41) | st.integers(1_700_000_000_000, 1_700_000_100_000)
_payloads = st.none() | st.binary(max_size=80) | st.integers(0, 20_000).map(bytes)
_headers: st.SearchStrategy[tuple[RecordHeader, ...]] = st.just(()) | st.lists(
    st.tuples(st.text(max_size=5), st.none() | st.binary(max_size=70)), max_size=4
).map(tuple)


@st.composite
def record_lists(draw: st.DrawFn, *, count_max: int = 12) -> list[Record]:
    """Records in the order of their offsets, with and without gaps between them."""
    offset = draw(st.integers(0, 2**40))
    records = []
    for _ in range(draw(st.integers(1, count_max))):
        records.append(
            Record(
                Offset(offset),
                TimestampMs(draw(_timestamps)),
                draw(_payloads),
                draw(_payloads),
                draw(_headers),
            )
        )
        offset += draw(st.just(1) | st.integers(1, 100_000))
    return records

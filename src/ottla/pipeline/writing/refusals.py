"""Finds rows that cannot be written, before any of them is sent.

Either the write fails with the reason, or the rows go to the dead-letter topic, with the reason and
the intended topic as headers. Rows that are too large are truncated there, because they are too
large for the dead-letter topic as well.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Final, NamedTuple, TypeAlias

import numpy as np
import numpy.typing as npt
import pyarrow as pa
import pyarrow.compute as pc

from ottla.pipeline.writing.rows import Rows
from ottla.wire.records.record_bodies import Payloads, append_headers

Bools: TypeAlias = npt.NDArray[np.bool_]

REASON_HEADER: Final = "ottla.error"
TOPIC_HEADER: Final = "ottla.topic"
_KEPT_BYTES: Final = 1_000


class Refusal(NamedTuple):
    """Rows of one topic (or without a topic) that cannot be written for the same reason."""

    which: Bools
    reason: str
    topic: str | None
    is_too_large: bool = False


def find_refusals(
    rows: Rows, counts: Mapping[str, int], *, topic: str | None, record_bytes_max: int
) -> list[Refusal]:
    """Each row is in one refusal at most. `counts` are the partition counts of existing topics."""
    left = np.ones(len(rows), np.bool_)
    refusals = []

    def refuse(which: Bools, reason: str, name: str | None, *, is_too_large: bool = False) -> None:
        which = which & left
        if which.any():
            refusals.append(Refusal(which, reason, name, is_too_large))
            left[which] = False

    for name, which in by_topic(rows, topic):
        if name is None:
            refuse(which, "the row has no topic, and the option topic is not set", None)
        elif name not in counts:
            refuse(which, f"there is no topic {name}; create it first", name)
        elif rows.partitions is not None:
            last = counts[name] - 1
            given = pc.fill_null(rows.partitions, 0).to_numpy()
            reason = f"{name} has partitions 0 to {last}, but the row names another one"
            refuse(which & ((given < 0) | (given > last)), reason, name)
    too_large = rows.payloads.sizes_max() > record_bytes_max
    if too_large.any():
        for name, which in by_topic(rows, topic):
            reason = f"the row is larger than kafka.max.request.size, {record_bytes_max} bytes"
            refuse(which & too_large, reason, name, is_too_large=True)
    return refusals


def by_topic(rows: Rows, topic: str | None) -> list[tuple[str | None, Bools]]:
    """The rows' topics, each with a mask of its rows; None stands for rows without a topic."""
    if topic is not None or rows.topics is None:
        return [(topic, np.ones(len(rows), np.bool_))]
    encoded = rows.topics.dictionary_encode()
    codes = pc.fill_null(encoded.indices, -1).to_numpy()
    found: list[tuple[str | None, Bools]] = [
        (name, codes == code) for code, name in enumerate(encoded.dictionary.to_pylist())
    ]
    if encoded.null_count:
        found.append((None, codes == -1))
    return found


def dead_letters(payloads: Payloads, refusal: Refusal) -> Payloads:
    """The refused rows as written to the dead-letter topic."""
    refused = payloads.take(np.flatnonzero(refusal.which))
    if refusal.is_too_large:
        refused = Payloads(
            pc.binary_slice(refused.keys, 0, _KEPT_BYTES),
            pc.binary_slice(refused.values, 0, _KEPT_BYTES),
            None,
            None,
        )
    headers = {REASON_HEADER: refusal.reason.encode()}
    if refusal.topic is not None:
        headers[TOPIC_HEADER] = refusal.topic.encode()
    return append_headers(refused, headers)


def without(rows: Rows, refusals: list[Refusal]) -> Rows:
    """The rows that can be written."""
    keep = np.flatnonzero(~np.logical_or.reduce([refusal.which for refusal in refusals]))
    taken = pa.array(keep)
    return Rows(
        rows.payloads.take(keep),
        None if rows.topics is None else rows.topics.take(taken),
        None if rows.partitions is None else rows.partitions.take(taken),
    )

"""Verifies files by themselves, and indexes against their logs.

It counts what it reads, so that the verdict says how much was checked.
"""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import closing

from ottla.dump.files import LOGS, Kind, KnownFile
from ottla.dump.index_verification import (
    verify_offset_index,
    verify_time_index,
    verify_transaction_index,
)
from ottla.dump.log_rows import Batch, Watch, walk_log
from ottla.dump.reading import Reading, read_rows, with_problems
from ottla.dump.rows import BatchRow, Problem, Remark, Row, Verdict, batch_row
from ottla.runtime.disk import Disk
from ottla.storage.epochs.epoch_cache import EpochEntry
from ottla.storage.indexes.offset_index import RELATIVE_OFFSET_MAX
from ottla.wire.errors import ProtocolError
from ottla.wire.records.control import read_control_type
from ottla.wire.records.record import iterate_records


def verify_file(
    disk: Disk, file: KnownFile, watch: Watch | None = None
) -> Iterator[Problem | Verdict]:
    """The problems of a file as they are found, followed by the verdict."""
    batches = records = entries = problems = 0
    for row in with_problems(_checked(disk, file, watch)):
        match row:
            case Problem():
                problems += 1
                yield row
            case BatchRow():
                batches += 1
                records += row.record_count if row.is_valid else 0
            case Remark():
                pass
            case _:
                entries += 1
    yield Verdict(batches, records, entries, problems)


def _checked(disk: Disk, file: KnownFile, watch: Watch | None) -> Iterator[Row]:
    if file.kind in LOGS:
        return _verify_log(disk, file, watch)
    if file.kind is Kind.OFFSET_INDEX:
        return verify_offset_index(disk, file)
    if file.kind is Kind.TIME_INDEX:
        return verify_time_index(disk, file)
    if file.kind is Kind.TRANSACTION_INDEX:
        return verify_transaction_index(disk, file)
    if file.kind is Kind.LEADER_EPOCHS:
        return _verify_leader_epochs(disk, file)
    # The other kinds are small; reading them completely verifies them.
    return read_rows(disk, file, Reading())


def _verify_log(disk: Disk, file: KnownFile, watch: Watch | None) -> Iterator[Row]:
    with closing(disk.open_readonly(file.path)) as log:
        # A snapshot is named after its end offset and begins at 0.
        first_offset = file.offset if file.kind is Kind.LOG else 0
        next_offset = first_offset
        for batch in walk_log(log, watch=watch):
            problem = batch.checksum_problem(file.path)
            yield batch_row(batch.position, batch.header, is_valid=problem is None)
            wrong = _wrong_offsets(batch, next_offset, first_offset)
            if wrong is None and problem is None:
                wrong = _wrong_records(batch)
            if problem is not None:
                yield problem
            if wrong is not None:
                yield batch.problem(file.path, wrong)
            next_offset = max(next_offset, batch.header.next_offset)


def _wrong_offsets(batch: Batch, next_offset: int, first_offset: int) -> str | None:
    header = batch.header
    if header.base_offset < next_offset:
        return f"begins below {next_offset}, the lowest offset that may follow there"
    if not 0 <= header.last_offset_delta <= RELATIVE_OFFSET_MAX:
        return f"ends {header.last_offset_delta} offsets after its first"
    if header.last_offset - first_offset > RELATIVE_OFFSET_MAX:
        return f"is too far from the segment's first offset {first_offset} for its indexes"
    if not 0 <= header.record_count <= header.last_offset_delta + 1:
        return f"has the record count {header.record_count}"
    return None


def _wrong_records(batch: Batch) -> str | None:
    """Decompresses the batch and parses all its records, which must fill it exactly. Control
    records need a valid type.
    """
    header = batch.header
    last_offset = header.base_offset - 1
    try:
        for record in iterate_records(batch.data):
            if header.is_control:
                read_control_type(record.key)
            if record.offset <= last_offset:
                return f"has a record of offset {record.offset} after {last_offset}"
            last_offset = record.offset
    except ProtocolError as error:
        return f"cannot be read to its end: {error}"
    return None


def _verify_leader_epochs(disk: Disk, file: KnownFile) -> Iterator[Row]:
    last = EpochEntry(-1, -1)
    for row in read_rows(disk, file, Reading()):
        yield row
        if isinstance(row, EpochEntry):
            if row.epoch <= last.epoch or row.start_offset <= last.start_offset:
                reason = f"epoch {row.epoch} at offset {row.start_offset}"
                last_text = f"epoch {last.epoch} at offset {last.start_offset}"
                yield Problem(f"{file.path}: {reason} does not come after {last_text}")
            last = row

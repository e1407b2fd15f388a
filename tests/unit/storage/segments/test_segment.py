from __future__ import annotations

import pytest

from ottla.simulation.disk.counters import DiskCounters
from ottla.simulation.disk.disk import SimulatedDisk
from ottla.simulation.disk.disk_faults import Operation
from ottla.simulation.seams.dice import SeededDice
from ottla.storage.errors import CorruptIndexError
from ottla.storage.files.file_names import FileKind, FileState
from ottla.storage.indexes.transaction_index import AbortedTransaction
from ottla.storage.log.offset_lookup import BatchSearch
from ottla.storage.log_config import LogConfig
from ottla.storage.segments.segment import Segment
from ottla.wire.records.header import read_header
from tests.support.storage.batches import batch_of
from tests.support.storage.log_checks import stored_batches

BASE = 100
CONFIG = LogConfig(index_interval_bytes=150)
SIZE = len(batch_of(b"v" * 20, b"v" * 20))


@pytest.fixture
def disk() -> SimulatedDisk:
    disk = SimulatedDisk()
    disk.make_directories("/t-0")
    disk.sync_directory("/")
    return disk


@pytest.fixture
def segment(disk: SimulatedDisk) -> Segment:
    """Ten batches of two records, from offset 100 on."""
    segment = Segment.create(disk, "/t-0", BASE, CONFIG, created_ms=5)
    for number in range(10):
        add(segment, BASE + 2 * number, timestamp=1_000 + number)
    return segment


def add(segment: Segment, offset: int, *, timestamp: int, size: int = 20) -> None:
    batch = batch_of(b"v" * size, b"v" * size, timestamp=timestamp)
    batch[:8] = offset.to_bytes(8)
    segment.append([batch], [read_header(batch)])


def truncate(segment: Segment, offset: int) -> None:
    """Drops every batch that ends at `offset` or after it."""
    located = segment.locate(offset)
    if located is not None:
        segment.truncate_at(located.position, located.header.base_offset)


def reopened(disk: SimulatedDisk, *, base: int = BASE) -> Segment:
    return Segment.open(disk, "/t-0", base, CONFIG, created_ms=5)


def test_a_new_segment_has_a_log_and_two_indexes(disk: SimulatedDisk) -> None:
    Segment.create(disk, "/t-0", BASE, CONFIG, created_ms=0)

    assert disk.list_directory("/t-0") == [
        "00000000000000000100.index",
        "00000000000000000100.log",
        "00000000000000000100.timeindex",
    ]


def test_of_an_empty_segment_the_names_alone_are_synced(disk: SimulatedDisk) -> None:
    segment = Segment.create(disk, "/t-0", BASE, CONFIG, created_ms=0)
    before = disk.counters.syncs, disk.counters.directory_syncs

    segment.sync()

    assert (disk.counters.syncs - before[0], disk.counters.directory_syncs - before[1]) == (0, 1)


def test_an_index_without_new_entries_is_not_synced(disk: SimulatedDisk, segment: Segment) -> None:
    segment.flush()
    segment.sync()
    before = disk.counters.syncs

    add(segment, BASE + 20, timestamp=2_000)
    segment.sync()

    # The entry of that batch, if it has one, waits in memory.
    assert disk.counters.syncs - before == 1
    segment.become_inactive()
    segment.sync()
    assert disk.counters.syncs - before > 2


def test_emptied_files_are_synced_as_any_change_is(disk: SimulatedDisk, segment: Segment) -> None:
    segment.flush()
    segment.sync()
    before = disk.counters.syncs

    Segment.create(disk, "/t-0", BASE, CONFIG, created_ms=0).sync()

    assert disk.counters.syncs - before == 3


def test_what_a_crash_left_under_a_new_segments_names_is_emptied(
    disk: SimulatedDisk, segment: Segment
) -> None:
    segment.transaction_index.append(AbortedTransaction(1, 100, 101, 102))
    segment.flush()

    again = Segment.create(disk, "/t-0", BASE, CONFIG, created_ms=0)

    assert again.size == 0
    assert again.next_offset() == BASE
    assert [
        disk.file_size(again.path(kind)) for kind in FileKind if disk.exists(again.path(kind))
    ] == [0, 0, 0, 0]


def test_opening_a_segment_opens_no_file(disk: SimulatedDisk, segment: Segment) -> None:
    segment.close()
    disk.counters = DiskCounters()

    found = reopened(disk)

    assert found.size == 10 * SIZE
    assert disk.counters == DiskCounters()


def test_preallocation_reserves_the_whole_segment_and_shows_nothing(disk: SimulatedDisk) -> None:
    disk.limit_space(10_000)
    config = LogConfig(segment_bytes=8_000, preallocate=True)

    segment = Segment.create(disk, "/t-0", BASE, config, created_ms=0)

    assert segment.log_file.size() == 0
    assert disk.space_left("/t-0") == 2_000


def test_a_segment_that_cannot_be_made_leaves_no_files(disk: SimulatedDisk) -> None:
    disk.limit_space(1_000)
    config = LogConfig(segment_bytes=8_000, preallocate=True)

    with pytest.raises(OSError, match="No space left"):
        Segment.create(disk, "/t-0", BASE, config, created_ms=0)

    assert disk.list_directory("/t-0") == []


@pytest.mark.parametrize("offset", range(BASE, BASE + 20))
def test_every_offset_is_located(segment: Segment, offset: int) -> None:
    located = segment.locate(offset)

    assert located is not None
    assert located.header.base_offset == offset // 2 * 2
    assert located.position == (offset - BASE) // 2 * SIZE


def test_no_batch_ends_after_the_last(segment: Segment) -> None:
    assert segment.locate(BASE + 20) is None


def test_an_index_entry_is_made_every_few_bytes_for_the_batch_that_comes_next(
    segment: Segment,
) -> None:
    entries = list(segment.offset_index.entries())

    # Two batches are more than the interval, so each third makes an entry.
    assert entries == [(105, 2 * SIZE), (109, 4 * SIZE), (113, 6 * SIZE), (117, 8 * SIZE)]
    assert list(segment.time_index.entries()) == [
        (1_002, 105),
        (1_004, 109),
        (1_006, 113),
        (1_008, 117),
    ]


def test_the_latest_timestamp_is_that_of_the_first_batch_that_has_it(segment: Segment) -> None:
    add(segment, 120, timestamp=1_009)
    add(segment, 122, timestamp=500)

    assert segment.max_timestamp == (1_009, 119)


def test_becoming_inactive_completes_the_time_index(disk: SimulatedDisk, segment: Segment) -> None:
    assert not segment.has_complete_indexes()

    segment.become_inactive()
    segment.close()

    found = reopened(disk)
    assert found.max_timestamp == (1_009, 119)
    assert found.has_complete_indexes()


def test_the_next_offset_is_read_from_the_end_of_the_file(
    disk: SimulatedDisk, segment: Segment
) -> None:
    segment.close()
    disk.counters = DiskCounters()

    assert reopened(disk).next_offset() == BASE + 20
    assert disk.counters.bytes_read < 4 * SIZE


def test_an_empty_segment_ends_where_it_begins(disk: SimulatedDisk) -> None:
    assert Segment.create(disk, "/t-0", BASE, CONFIG, created_ms=0).next_offset() == BASE


@pytest.mark.parametrize(
    ("offset", "fits"), [(BASE - 1, False), (BASE, True), (BASE + 2**31 - 1, True)]
)
def test_offsets_fit_while_their_distance_does(segment: Segment, offset: int, fits: bool) -> None:
    assert segment.can_hold(offset) is fits
    assert not segment.can_hold(BASE + 2**31)


# ---- cutting


@pytest.mark.parametrize("offset", range(BASE, BASE + 21))
def test_truncation_drops_batches_that_end_at_the_offset_or_after_it(
    segment: Segment, offset: int
) -> None:
    truncate(segment, offset)

    kept = (offset - BASE) // 2
    assert segment.size == kept * SIZE
    assert len(stored_batches(segment)) == kept
    assert segment.next_offset() == BASE + 2 * kept
    assert segment.max_timestamp == ((999 + kept, BASE + 2 * kept - 1) if kept else (-1, BASE))
    assert all(entry.offset < offset for entry in segment.offset_index.entries())
    assert all(entry.offset < offset for entry in segment.time_index.entries())


def test_a_truncated_segment_is_appended_to(segment: Segment) -> None:
    truncate(segment, BASE + 9)
    for number in range(6):
        add(segment, BASE + 8 + 2 * number, timestamp=2_000 + number)

    assert segment.next_offset() == BASE + 20
    assert segment.max_timestamp == (2_005, BASE + 19)
    segment.become_inactive()
    segment.sanity_check()
    assert segment.time_index.last_entry == (2_005, BASE + 19)


@pytest.mark.parametrize("seed", range(20))
def test_truncation_is_durable_with_its_indexes(seed: int) -> None:
    disk = SimulatedDisk()
    disk.make_directories("/t-0")
    disk.sync_directory("/")
    segment = Segment.create(disk, "/t-0", BASE, CONFIG, created_ms=0)
    for number in range(10):
        add(segment, BASE + 2 * number, timestamp=1_000 + number)
    segment.flush()
    segment.sync()

    truncate(segment, BASE + 6)
    disk.crash(SeededDice(seed))

    found = reopened(disk)
    assert found.size == 3 * SIZE
    found.sanity_check()
    assert [entry.offset for entry in found.offset_index.entries()] == [105]


# ---- failing


def test_a_write_that_fails_is_undone(disk: SimulatedDisk, segment: Segment) -> None:
    disk.limit_space(SIZE // 2)
    with pytest.raises(OSError, match="No space left"):
        add(segment, BASE + 20, timestamp=2_000)

    assert segment.size == segment.log_file.size() == 10 * SIZE
    assert segment.max_timestamp == (1_009, 119)


def test_a_write_that_fails_on_a_dead_disk_is_reported_as_it_was(
    disk: SimulatedDisk, segment: Segment
) -> None:
    disk.faults.fail("/t-0", Operation.WRITE)

    with pytest.raises(OSError, match="simulated"):
        add(segment, BASE + 20, timestamp=2_000)

    assert segment.size == 10 * SIZE


def test_an_index_that_points_past_its_log_is_not_sane(segment: Segment) -> None:
    segment.log_file.truncate(4 * SIZE)
    segment.size = 4 * SIZE

    with pytest.raises(CorruptIndexError, match="where its log of"):
        segment.sanity_check()
    assert not segment.has_complete_indexes()


@pytest.mark.parametrize("entry", [bytes(12), b"\x00" * 7, (2_000).to_bytes(8) + bytes(4)])
def test_a_torn_end_of_a_time_index_is_seen(
    disk: SimulatedDisk, segment: Segment, entry: bytes
) -> None:
    segment.become_inactive()
    segment.close()
    file = disk.open(segment.path(FileKind.TIME_INDEX))
    file.truncate(file.size() - 12)
    file.write_at(file.size(), [entry])

    assert not reopened(disk).has_complete_indexes()


def test_only_what_was_opened_is_synced(disk: SimulatedDisk, segment: Segment) -> None:
    segment.close()
    found = reopened(disk)
    disk.counters = DiskCounters()

    found.sync()

    assert disk.counters == DiskCounters()


def test_syncing_a_removed_segment_does_nothing(segment: Segment) -> None:
    segment.sync()
    segment.remove()

    segment.sync()


# ---- names


def test_a_renamed_segment_takes_its_files_with_it(disk: SimulatedDisk, segment: Segment) -> None:
    before = stored_batches(segment)
    segment.transaction_index.append(AbortedTransaction(1, 100, 101, 102))

    segment.rename(FileState.DELETED)

    assert disk.list_directory("/t-0") == [
        "00000000000000000100.index.deleted",
        "00000000000000000100.log.deleted",
        "00000000000000000100.timeindex.deleted",
        "00000000000000000100.txnindex.deleted",
    ]
    assert stored_batches(segment) == before
    segment.remove()
    assert disk.list_directory("/t-0") == []


def test_a_renamed_segment_makes_its_transaction_index_under_the_new_name(
    disk: SimulatedDisk, segment: Segment
) -> None:
    assert segment.transaction_index.entry_count == 0
    segment.rename(FileState.SWAP)

    segment.transaction_index.append(AbortedTransaction(1, 100, 101, 102))

    assert disk.exists("/t-0/00000000000000000100.txnindex.swap")


# ---- timestamps


@pytest.mark.parametrize(
    ("timestamp", "start", "found"),
    [
        (0, 0, (1_000, 100)),
        (1_004, 0, (1_004, 108)),
        (1_004, 109, (1_004, 109)),
        (1_004, 110, (1_005, 110)),
        (1_009, 0, (1_009, 118)),
    ],
)
def test_the_first_record_that_is_not_earlier_is_found(
    segment: Segment, timestamp: int, start: int, found: tuple[int, int]
) -> None:
    located = segment.locate_timestamp(timestamp, start_offset=start)

    assert located is not None
    batch = segment.log_file.read_at(located.position, located.header.size_in_bytes)
    assert BatchSearch(batch, timestamp, start).run() == found


def test_no_record_is_later_than_the_latest(segment: Segment) -> None:
    assert segment.locate_timestamp(1_010, start_offset=0) is None

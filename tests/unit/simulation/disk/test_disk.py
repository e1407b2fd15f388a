"""The faults of a simulated disk, one by one. What no crash may do is in tests/property."""

from __future__ import annotations

import errno
from collections.abc import Callable

import pytest

from ottla.runtime.disk import Disk
from ottla.simulation import Operation, PowerLost, SeededDice, SimulatedDisk
from ottla.simulation.disk.counters import DiskCounters
from ottla.simulation.disk.disk_faults import Corruption

PAGE = 4096
SECTOR = 512


@pytest.fixture
def disk() -> SimulatedDisk:
    disk = SimulatedDisk()
    disk.make_directories("/logs/a")
    disk.sync_directory("/")
    disk.sync_directory("/logs")
    return disk


def crashed(history: Callable[[SimulatedDisk], None], seed: int) -> SimulatedDisk:
    disk = SimulatedDisk()
    history(disk)
    disk.crash(SeededDice(seed))
    return disk


def contents_found(history: Callable[[SimulatedDisk], None], path: str) -> set[bytes]:
    """What a file holds after the same history and many different crashes."""
    found = set()
    for seed in range(1_500):
        disk = crashed(history, seed)
        if disk.exists(path):
            found.add(disk.open(path).read_at(0, 1 << 20))
    return found


def append_three_pages(disk: SimulatedDisk) -> None:
    file = disk.open("/log", create=True)
    disk.sync_directory("/")
    for byte in b"abc":
        file.write_at(file.size(), [bytes([byte]) * PAGE])


def test_it_is_a_disk(disk: SimulatedDisk) -> None:
    as_disk: Disk = disk
    assert as_disk.is_directory("/logs/a")


def test_unsynced_writes_may_all_stay_all_go_or_stay_up_to_a_moment() -> None:
    found = contents_found(append_three_pages, "/log")
    whole = b"a" * PAGE + b"b" * PAGE + b"c" * PAGE
    for kept in (0, PAGE, 2 * PAGE, 3 * PAGE):
        assert whole[:kept] in found


def test_unsynced_pages_are_lost_on_their_own_and_torn_between_sectors() -> None:
    found = contents_found(append_three_pages, "/log")
    pages = {content[PAGE : 2 * PAGE] for content in found if len(content) == 3 * PAGE}
    assert bytes(PAGE) in pages
    assert b"b" * PAGE in pages
    torn = pages - {bytes(PAGE), b"b" * PAGE}
    assert torn
    for page in torn:
        sectors = {page[at : at + SECTOR] for at in range(0, PAGE, SECTOR)}
        assert sectors == {bytes(SECTOR), b"b" * SECTOR}


def test_the_size_may_arrive_without_the_bytes() -> None:
    assert bytes(3 * PAGE) in contents_found(append_three_pages, "/log")


def test_a_lost_overwrite_leaves_the_bytes_from_before() -> None:
    def history(disk: SimulatedDisk) -> None:
        file = disk.open("/log", create=True)
        disk.sync_directory("/")
        file.write_at(0, [b"old" * 10])
        file.sync()
        file.write_at(0, [b"new" * 10])

    assert contents_found(history, "/log") == {b"old" * 10, b"new" * 10}


def test_an_unsynced_truncation_may_come_undone_under_what_was_written_after_it() -> None:
    def history(disk: SimulatedDisk) -> None:
        file = disk.open("/log", create=True)
        disk.sync_directory("/")
        file.write_at(0, [b"a" * 4 * PAGE])
        file.sync()
        file.truncate(PAGE)
        file.write_at(PAGE, [b"b" * PAGE])

    found = contents_found(history, "/log")
    assert b"a" * PAGE + b"b" * PAGE in found
    assert b"a" * 4 * PAGE in found
    assert b"a" * PAGE + b"b" * PAGE + b"a" * 2 * PAGE in found, "the stale tail is back"


def test_a_name_that_was_not_synced_may_be_gone_with_its_synced_bytes() -> None:
    def history(disk: SimulatedDisk) -> None:
        file = disk.open("/log", create=True)
        file.write_at(0, [b"synced"])
        file.sync()

    existing = [crashed(history, seed).exists("/log") for seed in range(50)]
    assert set(existing) == {True, False}


def test_names_may_come_undone_in_any_order_or_up_to_a_moment() -> None:
    def history(disk: SimulatedDisk) -> None:
        for name in "abc":
            disk.open(f"/{name}", create=True)

    found = {"".join(crashed(history, seed).list_directory("/")) for seed in range(300)}
    assert found == {"", "a", "b", "c", "ab", "ac", "bc", "abc"}


def test_a_replacing_rename_leaves_the_old_file_or_the_new_one() -> None:
    def history(disk: SimulatedDisk) -> None:
        for name, content in (("/checkpoint", b"old"), ("/checkpoint.tmp", b"new")):
            file = disk.open(name, create=True)
            file.write_at(0, [content])
            file.sync()
        disk.sync_directory("/")
        disk.rename("/checkpoint.tmp", "/checkpoint")

    assert contents_found(history, "/checkpoint") == {b"old", b"new"}
    for seed in range(50):
        disk = crashed(history, seed)
        is_new = disk.open("/checkpoint").read_at(0, 9) == b"new"
        assert disk.exists("/checkpoint.tmp") != is_new


def test_a_removed_file_may_be_back_until_its_directory_is_synced(disk: SimulatedDisk) -> None:
    disk.open("/logs/a/log", create=True)
    disk.sync_directory("/logs/a")
    disk.remove("/logs/a/log")
    disk.sync_directory("/logs/a")
    disk.crash(SeededDice(1))
    assert disk.list_directory("/logs/a") == []


def test_moving_a_file_to_a_new_directory_makes_that_durable_with_it(disk: SimulatedDisk) -> None:
    disk.open("/logs/a/log", create=True)
    disk.sync_directory("/logs/a")
    disk.make_directories("/logs/new/deep")
    disk.rename("/logs/a/log", "/logs/new/deep/log")
    disk.sync_directory("/logs/a")
    for seed in range(10):
        disk.crash(SeededDice(seed))
        assert disk.exists("/logs/new/deep/log")


def test_a_renamed_directory_takes_everything_in_it_along(disk: SimulatedDisk) -> None:
    file = disk.open("/logs/a/log", create=True)
    disk.rename("/logs/a", "/logs/b")
    file.write_at(0, [b"x"])
    assert disk.open("/logs/b/log").read_at(0, 9) == b"x"
    assert disk.list_directory("/logs") == ["b"]


def test_handles_and_locks_end_with_their_program(disk: SimulatedDisk) -> None:
    for end in (disk.kill, lambda: disk.crash(SeededDice(1))):
        lock = disk.lock("/logs/.lock")
        with pytest.raises(BlockingIOError):
            disk.lock("/logs/.lock")
        end()
        with pytest.raises(OSError, match="from before a crash"):
            lock.write_at(0, [b"x"])
        again = disk.lock("/logs/.lock")
        lock.close()
        with pytest.raises(BlockingIOError):
            disk.lock("/logs/.lock")
        again.close()
        with pytest.raises(OSError, match="is closed"):
            again.size()


def test_a_full_disk_takes_what_fits_and_refuses_the_rest(disk: SimulatedDisk) -> None:
    file = disk.open("/logs/a/log", create=True)
    file.write_at(0, [b"x" * 100])
    disk.limit_space(10)
    assert disk.space_left("/logs") == 10
    with pytest.raises(OSError, match="7 bytes were written") as raised:
        file.write_at(103, [b"y" * 20])
    assert raised.value.errno == errno.ENOSPC
    assert file.read_at(100, 99) == b"\0\0\0" + b"y" * 7
    with pytest.raises(OSError, match="0 bytes were written"):
        file.write_at(500, [b"z"])
    assert file.size() == 110, "a write of nothing makes no file longer"
    file.write_at(0, [b"overwriting needs no room"])
    file.truncate(50)
    assert disk.space_left("/logs") == 60
    disk.remove("/logs/a/log")
    assert disk.space_left("/logs") == 110
    disk.limit_space(None)
    assert disk.space_left("/logs") > 1 << 40


def test_preallocated_room_is_kept_for_its_file(disk: SimulatedDisk) -> None:
    file, other = (disk.open(f"/logs/a/{name}", create=True) for name in ("log", "other"))
    disk.limit_space(100)
    file.preallocate(90)
    with pytest.raises(OSError, match="10 bytes were written"):
        other.write_at(0, [b"x" * 20])
    with pytest.raises(OSError, match="No space left while reserving 91 bytes"):
        file.preallocate(91)
    assert file.write_at(0, [b"x" * 90]) == 90


def test_a_path_can_fail_by_operation_or_altogether(disk: SimulatedDisk) -> None:
    file = disk.open("/logs/a/log", create=True)
    other = disk.open("/logs/other", create=True)
    disk.faults.fail("/logs/a/log", Operation.READ)
    file.write_at(0, [b"x"])
    with pytest.raises(OSError, match="Input/output error"):
        file.read_at(0, 1)
    disk.faults.heal("/logs/a/log")
    assert file.read_at(0, 1) == b"x"
    disk.faults.fail("/logs/a")
    for call in (
        file.size,
        file.sync,
        lambda: file.write_at(0, [b"x"]),
        lambda: disk.exists("/logs/a/log"),
        lambda: disk.list_directory("/logs/a"),
        lambda: disk.rename("/logs/other", "/logs/a/other"),
        lambda: disk.sync_directory("/logs/a"),
    ):
        with pytest.raises(OSError, match="simulated"):
            call()
    other.write_at(0, [b"fine"])
    disk.faults.fail("/logs/other", Operation.WRITE, error=errno.ENOSPC)
    with pytest.raises(OSError, match="No space left"):
        other.write_at(0, [b"x"])


def test_a_failed_sync_drops_what_it_was_to_write_and_the_next_one_says_nothing(
    disk: SimulatedDisk,
) -> None:
    file = disk.open("/logs/a/log", create=True)
    disk.sync_directory("/logs/a")
    file.write_at(0, [b"dropped"])
    disk.faults.fail("/logs/a/log", Operation.SYNC)
    with pytest.raises(OSError, match="Input/output error"):
        file.sync()
    disk.faults.heal("/logs/a/log")
    file.write_at(7, [b"synced"])
    file.sync()
    assert file.read_at(0, 99) == b"droppedsynced"
    disk.crash(SeededDice(1))
    assert disk.open("/logs/a/log").read_at(0, 99) == bytes(7) + b"synced"


def test_rot_flips_one_bit_of_what_is_durable(disk: SimulatedDisk) -> None:
    file = disk.open("/logs/a/log", create=True)
    file.write_at(0, [bytes(100)])
    file.sync()
    disk.flip_bit("/logs/a/log", position=3, bit=7)
    assert file.read_at(0, 5) == b"\0\0\0\x80\0"
    position = disk.rot("/logs/a/log", SeededDice(1))
    rotten = file.read_at(0, 100)
    assert sum(byte.bit_count() for byte in rotten) == 2
    assert rotten[position].bit_count() == 1


def test_a_slow_path_is_waited_for_and_never_cached(disk: SimulatedDisk) -> None:
    file = disk.open("/logs/a/log", create=True)
    file.write_at(0, [b"x"])
    assert file.read_cached(0, 1) == b"x"
    disk.faults.slow("/logs/a", 0.25)
    assert file.read_cached(0, 1) is None
    assert file.read_at(0, 1) == b"x"
    file.sync()
    disk.exists("/logs")
    assert disk.faults.seconds_waited == 0.5
    disk.faults.heal("/logs/a")
    assert file.read_cached(0, 1) == b"x"


def test_power_goes_after_so_many_changes_and_stays_off(disk: SimulatedDisk) -> None:
    file = disk.open("/logs/a/log", create=True)
    disk.faults.power_off_after(2)
    file.write_at(0, [b"x"])
    file.sync()
    with pytest.raises(PowerLost):
        file.write_at(1, [b"y"])
    with pytest.raises(PowerLost):
        disk.exists("/logs")
    disk.kill()
    assert disk.open("/logs/a/log").read_at(0, 9) == b"x"


def test_operations_are_counted(disk: SimulatedDisk) -> None:
    disk.counters = DiskCounters()
    file = disk.open("/logs/a/log", create=True)
    file.write_at(0, [b"one", b"write"])
    file.write_at(8, [b"!"])
    file.read_at(0, 4)
    file.read_into(0, [bytearray(2), bytearray(2)])
    file.truncate(3)
    file.sync()
    disk.rename("/logs/a/log", "/logs/a/renamed")
    disk.sync_directory("/logs/a")
    assert disk.counters == DiskCounters(
        opens=1,
        reads=2,
        bytes_read=8,
        writes=2,
        bytes_written=9,
        truncations=1,
        syncs=1,
        renames=1,
        directory_syncs=1,
    )


def sent(disk: SimulatedDisk, *, is_noticed: Callable[[bytes], bool]) -> set[bytes]:
    """What many reads of the second of four sectors give, in order to be sent."""
    file = disk.open("/log", create=True)
    file.write_at(0, [b"".join(bytes([byte]) * SECTOR for byte in b"abcd")])
    disk.faults.corrupt_sent(Corruption(SeededDice(1), 0.5, is_noticed))
    return {bytes(file.read_cached(SECTOR, SECTOR) or b"") for _ in range(200)}


def test_what_is_sent_may_be_wrong_in_a_bit_or_from_elsewhere(disk: SimulatedDisk) -> None:
    found = sent(disk, is_noticed=lambda _data: True)
    sectors = {bytes([byte]) * SECTOR for byte in b"abcd"}
    assert sectors <= found
    for damaged in found - sectors:
        (differing,) = [byte for byte in damaged if byte != ord("b")]
        assert (differing ^ ord("b")).bit_count() == 1
    assert found - sectors


def test_writes_without_visible_effect_are_not_sent(disk: SimulatedDisk) -> None:
    found = sent(disk, is_noticed=lambda data: data[0] == ord("c"))
    assert bytes([ord("c")]) * SECTOR in found
    assert bytes([ord("a")]) * SECTOR not in found


def test_what_is_sent_is_right_again(disk: SimulatedDisk) -> None:
    sent(disk, is_noticed=lambda _data: True)
    disk.faults.corrupt_sent(None)
    file = disk.open("/log")
    assert {file.read_cached(SECTOR, SECTOR) for _ in range(200)} == {b"b" * SECTOR}

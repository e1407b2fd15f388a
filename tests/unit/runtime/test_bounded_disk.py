"""Many files over few descriptors: callers do not notice, whatever happens to their names."""

from __future__ import annotations

import os
import pickle
import sys
import threading
from collections.abc import Iterator
from pathlib import Path

import pytest

from ottla.runtime.bounded_disk import BoundedDisk
from ottla.runtime.bounded_file import BoundedFile
from ottla.runtime.disk import File
from ottla.runtime.open_files import OpenFiles
from ottla.runtime.system_disk import SystemDisk
from ottla.simulation import SimulatedDisk


def open_descriptors(directory: Path) -> list[str]:
    """The names of the directory's files that this process has open."""
    found = []
    for entry in os.listdir("/proc/self/fd"):
        try:
            target = os.readlink(f"/proc/self/fd/{entry}")
        except FileNotFoundError:
            continue  # The descriptor of this very listing.
        if target.startswith(f"{directory}/"):
            found.append(os.path.basename(target))
    return sorted(found)


def written(disk: BoundedDisk, path: str) -> File:
    file = disk.open(path, create=True)
    file.write_at(0, [os.path.basename(path).encode()])
    return file


def test_descriptors_stay_within_the_bound_and_go_to_the_last_used(tmp_path: Path) -> None:
    disk = BoundedDisk(SystemDisk(), descriptors=3)
    files = [written(disk, f"{tmp_path}/{number}") for number in range(10)]
    assert open_descriptors(tmp_path) == ["7", "8", "9"]
    for number, file in enumerate(files):
        assert file.read_at(0, 9) == str(number).encode()
    files[7].size()
    files[0].size()
    assert open_descriptors(tmp_path) == ["0", "7", "9"]
    for file in files:
        file.close()
    assert open_descriptors(tmp_path) == []


def test_a_lock_keeps_its_descriptor(tmp_path: Path) -> None:
    disk = BoundedDisk(SystemDisk(), descriptors=1)
    lock = disk.lock(f"{tmp_path}/.lock")
    files = [written(disk, f"{tmp_path}/{number}") for number in range(3)]
    assert open_descriptors(tmp_path) == [".lock", "2"]
    with pytest.raises(BlockingIOError):
        disk.lock(f"{tmp_path}/.lock")
    for file in [lock, *files]:
        file.close()


def test_every_handle_on_a_removed_file_still_reads_it(tmp_path: Path) -> None:
    disk = BoundedDisk(SystemDisk(), descriptors=1)
    path = f"{tmp_path}/removed"
    handles = [written(disk, path), disk.open(path), disk.open_readonly(path)]
    disk.remove(path)
    other = written(disk, f"{tmp_path}/other")
    again = written(disk, path)
    again.write_at(0, [b"another"])
    assert [handle.read_at(0, 9) for handle in handles] == [b"removed"] * 3
    assert again.read_at(0, 9) == b"another"
    for file in [*handles, other, again]:
        file.close()
    assert open_descriptors(tmp_path) == []


def test_a_failed_removal_keeps_nothing_open(tmp_path: Path) -> None:
    lower = SimulatedDisk()
    disk = BoundedDisk(lower, descriptors=1)
    first, second = written(disk, "/first"), written(disk, "/second")
    lower.faults.fail("/first")
    with pytest.raises(OSError, match="simulated"):
        disk.remove("/first")
    lower.faults.heal("/first")
    assert second.read_at(0, 9) == b"second"
    assert first.read_at(0, 9) == b"first"


def test_a_sync_reaches_what_a_closed_descriptor_wrote() -> None:
    lower = SimulatedDisk()
    disk = BoundedDisk(lower, descriptors=1)
    dirty = written(disk, "/dirty")
    written(disk, "/other")
    opens = lower.counters.opens
    dirty.sync()
    assert (lower.counters.opens, lower.counters.syncs) == (opens + 1, 1)


def test_a_file_in_use_by_another_thread_is_not_closed(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    disk = BoundedDisk(SystemDisk(), descriptors=1)
    syncing = written(disk, f"{tmp_path}/syncing")
    started, may_end = threading.Event(), threading.Event()

    def slow_sync(_descriptor: int) -> None:
        started.set()
        assert may_end.wait(10)

    monkeypatch.setattr(os, "fdatasync", slow_sync)
    worker = threading.Thread(target=syncing.sync)
    worker.start()
    assert started.wait(10)
    others = [written(disk, f"{tmp_path}/{number}") for number in range(3)]
    assert [file.read_at(0, 9) for file in others] == [b"0", b"1", b"2"]
    syncing.close()
    assert open_descriptors(tmp_path) == ["syncing"], "closed only after the sync"
    may_end.set()
    worker.join()
    assert open_descriptors(tmp_path) == []
    for file in others:
        file.close()


@pytest.fixture
def _hasty_threads() -> Iterator[None]:
    """Threads take turns in the middle of whatever they do."""
    interval = sys.getswitchinterval()
    sys.setswitchinterval(1e-6)
    yield
    sys.setswitchinterval(interval)


@pytest.mark.usefixtures("_hasty_threads")
def test_threads_share_files_without_mixing_them_up(tmp_path: Path) -> None:
    disk = BoundedDisk(SystemDisk(), descriptors=2)
    files = [written(disk, f"{tmp_path}/{number}") for number in range(6)]
    wrong: list[bytes] = []

    def read_all() -> None:
        for turn in range(300):
            number = turn * 7 % 6
            found = files[number].read_at(0, 9)
            if found != str(number).encode():
                wrong.append(found)

    threads = [threading.Thread(target=read_all) for _ in range(4)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert wrong == []
    assert len(open_descriptors(tmp_path)) == 2
    for file in files:
        file.close()


@pytest.mark.usefixtures("_hasty_threads")
def test_files_can_be_used_while_their_directory_is_renamed(tmp_path: Path) -> None:
    disk = BoundedDisk(SystemDisk(), descriptors=1)
    paths = [f"{tmp_path}/{number}" for number in range(3)]
    for path in paths:
        disk.make_directories(path)
    files = [written(disk, f"{path}/{number}") for number, path in enumerate(paths)]
    wrong: list[bytes] = []
    is_over = threading.Event()

    def read_all() -> None:
        while not is_over.is_set():
            wrong.extend(
                found
                for number, file in enumerate(files)
                if (found := file.read_at(0, 9)) != str(number).encode()
            )

    threads = [threading.Thread(target=read_all) for _ in range(2)]
    for thread in threads:
        thread.start()
    for turn in range(300):
        old = paths[turn % 3]
        paths[turn % 3] = f"{tmp_path}/renamed-{turn}"
        disk.rename(old, paths[turn % 3])
    is_over.set()
    for thread in threads:
        thread.join()
    assert wrong == []
    for file in files:
        file.close()
    assert open_descriptors(tmp_path) == []


def test_renaming_a_directory_reaches_every_file_below_it_and_no_other(tmp_path: Path) -> None:
    disk = BoundedDisk(SystemDisk(), descriptors=1)
    names = ["a/1", "a/b/2", "a/b/c/3", "ab/4", "5"]
    for name in names:
        disk.make_directories(os.path.dirname(f"{tmp_path}/{name}"))
    files = [written(disk, f"{tmp_path}/{name}") for name in names]
    disk.rename(f"{tmp_path}/a", f"{tmp_path}/moved")
    disk.rename(f"{tmp_path}/moved/b/c", f"{tmp_path}/ab/c")
    assert [file.read_at(0, 9) for file in files] == [b"1", b"2", b"3", b"4", b"5"]
    for file in files:
        file.close()


def test_a_rename_looks_only_at_what_it_moves(monkeypatch: pytest.MonkeyPatch) -> None:
    disk = BoundedDisk(SimulatedDisk(), descriptors=1)
    for number in range(50):
        disk.make_directories(f"/logs/{number}")
        written(disk, f"/logs/{number}/log")
    looked_at: list[str] = []
    at_or_under = OpenFiles._at_or_under

    def counted(files: OpenFiles, name: str) -> list[BoundedFile]:
        looked_at.append(name)
        return at_or_under(files, name)

    monkeypatch.setattr(OpenFiles, "_at_or_under", counted)
    disk.rename("/logs/7", "/logs/7-delete")
    assert looked_at == ["/logs/7", "/logs/7/log"]


def test_a_file_that_is_used_again_and_again_stays_open_while_others_come_and_go(
    tmp_path: Path,
) -> None:
    disk = BoundedDisk(SystemDisk(), descriptors=3)
    busy = written(disk, f"{tmp_path}/busy")
    others = [written(disk, f"{tmp_path}/{number}") for number in range(20)]
    for other in others:
        busy.size()
        other.size()
        assert "busy" in open_descriptors(tmp_path)
    for file in [busy, *others]:
        file.close()


def test_a_failed_rename_leaves_what_it_would_have_replaced_as_it_was(tmp_path: Path) -> None:
    disk = BoundedDisk(SystemDisk(), descriptors=1)
    replaced, other = written(disk, f"{tmp_path}/replaced"), written(disk, f"{tmp_path}/other")
    with pytest.raises(FileNotFoundError):
        disk.rename(f"{tmp_path}/missing", f"{tmp_path}/replaced")
    assert other.read_at(0, 9) == b"other"
    assert open_descriptors(tmp_path) == ["other"]
    assert replaced.read_at(0, 9) == b"replaced"
    for file in [replaced, other]:
        file.close()


def test_one_file_has_one_name_however_it_is_spelt(tmp_path: Path) -> None:
    disk = BoundedDisk(SystemDisk(), descriptors=1)
    file = written(disk, f"{tmp_path}//file")
    disk.rename(f"{tmp_path}/./file", f"{tmp_path}/renamed")
    written(disk, f"{tmp_path}/other").close()
    other = written(disk, f"{tmp_path}/another")
    assert file.read_at(0, 9) == b"file"
    file.close()
    other.close()


def test_a_pickled_disk_has_the_bound_and_no_files(tmp_path: Path) -> None:
    disk = BoundedDisk(SystemDisk(), descriptors=2)
    file = written(disk, f"{tmp_path}/file")
    copy: BoundedDisk = pickle.loads(pickle.dumps(disk))
    assert open_descriptors(tmp_path) == ["file"]
    files = [written(copy, f"{tmp_path}/{number}") for number in range(5)]
    assert open_descriptors(tmp_path) == ["3", "4", "file"]
    for each in [file, *files]:
        each.close()

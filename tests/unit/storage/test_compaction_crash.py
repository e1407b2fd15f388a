"""A crash at any moment of swapping in leaves old segments or new ones, whole and in order."""

from __future__ import annotations

import copy
import copyreg
import itertools
from functools import cache
from threading import Lock

import pytest

from ottla.simulation.disk.disk_faults import PowerLost
from ottla.simulation.seams.dice import SeededDice
from ottla.storage.compaction import (
    CleanedGroup,
    CompactionResult,
    compact,
    plan_compaction,
    swap_in,
)
from ottla.storage.files.file_names import FileKind, FileState, SegmentFileName
from ottla.storage.log_config import LogConfig
from ottla.storage.segments.interrupted_work import finish_interrupted_work
from ottla.wire.records.compression import Codec
from tests.support.storage.compaction_history import (
    Compact,
    CompactionHistory,
    End,
    Flush,
    Operation,
    Put,
    Roll,
)
from tests.support.storage.compactions import commit_all
from tests.support.storage.log_checks import all_batches, directory_content
from tests.support.storage.logs import DIRECTORY, Checkpoints, opened

# A log that is copied has a lock of its own.
copyreg.pickle(type(Lock()), lambda _: (Lock, ()))

RETENTION_MS = 1_000
CONFIG = LogConfig(
    compact=True,
    delete=False,
    segment_bytes=600,
    index_interval_bytes=0,
    delete_retention_ms=RETENTION_MS,
    min_cleanable_dirty_ratio=0.0,
)


def put(producer: int, *keys: int, deletes: bool = False) -> Put:
    return Put(producer, tuple((key, None if deletes else 20) for key in keys), Codec.NONE)


# Transactions over several segments, of which markers, empty batches and a tombstone are left; some
# of those are due to go.
STORY: tuple[Operation, ...] = (
    *(put(0, 0), put(3, 1), put(4, 2), Roll()),
    *(End(3, commits=False, raises_epoch=False), put(0, 1, 2), put(1, 3), Roll()),
    *(put(5, 4), End(4, commits=True, raises_epoch=True), Roll()),
    *(End(5, commits=False, raises_epoch=False), put(0, 4), put(0, 5, deletes=True)),
    *(put(3, 0, 1), End(3, commits=True, raises_epoch=False), Roll()),
    *(put(0, 1, 2, 0), put(0, 1), Roll(), put(0, 3), Flush(True), Compact(0, 100)),
    *(put(4, 7), End(4, commits=False, raises_epoch=False), put(0, 7), Roll()),
    *(put(4, 8), End(4, commits=True, raises_epoch=False), put(0, 6), Roll()),
    *(Compact(0, 100), put(0, 1), Roll(), put(0, 2), Flush(False)),
)


@cache
def story() -> tuple[CompactionHistory, CompactionResult]:
    """The log, and a compaction of it that has not been swapped in. To be copied, not changed."""
    history = CompactionHistory(CONFIG)
    history.run(list(STORY))
    history.now_ms += RETENTION_MS
    commit_all(history.log)
    plan = plan_compaction(
        history.log,
        first_dirty_offset=history.cleaner_offsets.first_dirty_offset(history.log),
        now_ms=history.now_ms,
    )
    assert plan is not None
    return history, compact(history.disk, plan)


def swap_until(changes: int) -> tuple[CompactionHistory, bool]:
    """Swaps in until so many changes are made; says whether that was the end of it."""
    history, result = copy.deepcopy(story())
    history.disk.faults.power_off_after(changes)
    try:
        swap_in(history.log, result, now_ms=history.now_ms)
    except PowerLost:
        return history, False
    return history, True


@cache
def changes_of_swap() -> int:
    """How many writes, syncs and renames it takes."""
    return next(changes for changes in itertools.count() if swap_until(changes)[1])


def files_of_segments(history: CompactionHistory, group: CleanedGroup) -> dict[str, bytes]:
    """The live files of the segments that begin among a group's offsets."""
    content = directory_content(history.disk, DIRECTORY)
    return {
        name: content[name]
        for name in content
        if (parsed := SegmentFileName.parse(name)) is not None
        and parsed.kind is not FileKind.PRODUCER_SNAPSHOT
        and parsed.state is FileState.LIVE
        and group.base_offset <= parsed.base_offset < group.end_offset
    }


def crash_and_finish(history: CompactionHistory, dice: SeededDice) -> None:
    """Loses power, and then again, maybe, while the work is finished."""
    history.disk.crash(dice)
    if dice.chance(0.5):
        history.disk.faults.power_off_after(dice.below(12))
    try:
        finish_interrupted_work(history.disk, DIRECTORY)
    except PowerLost:
        crash_and_finish(history, dice)
    history.disk.faults.power_on()


# Each of these finds one of the ways in which a sync or an order could be missing.
@pytest.mark.parametrize("seed", [0, 2, 43])
def test_crash_while_swapping_in_leaves_each_group_old_or_new(seed: int) -> None:
    old, result = story()
    new = copy.deepcopy(old)
    assert swap_in(new.log, result, now_ms=new.now_ms)
    for changes in range(changes_of_swap() + 1):
        history, _ = swap_until(changes)
        crash_and_finish(history, SeededDice(f"{seed}/{changes}"))
        states = []
        for group in result.groups:
            found = files_of_segments(history, group)
            states.append(found == files_of_segments(new, group))
            assert states[-1] or found == files_of_segments(old, group)
        assert states == sorted(states, reverse=True), "a later group was faster"


@pytest.mark.judged
@pytest.mark.parametrize("seed", range(2))
def test_crash_while_swapping_in_loses_nothing(seed: int) -> None:
    for changes in range(changes_of_swap() + 1):
        history, _ = swap_until(changes)
        dice = SeededDice(f"{seed}/{changes}")
        history.disk.crash(dice)
        while not history.recover(dice):
            history.disk.crash(dice)
        history.check()
        history.compact(Compact(0, 100))
        history.close()


def test_finishing_a_swap_twice_is_finishing_it_once() -> None:
    for changes in range(changes_of_swap() + 1):
        history, _ = swap_until(changes)
        history.disk.kill()
        finish_interrupted_work(history.disk, DIRECTORY)
        once = directory_content(history.disk, DIRECTORY)
        assert not [name for name in once if name.endswith((".swap", ".cleaned", ".deleted"))]
        finish_interrupted_work(history.disk, DIRECTORY)
        assert directory_content(history.disk, DIRECTORY) == once


def remove_cleaned_files(history: CompactionHistory) -> None:
    for name in history.disk.list_directory(DIRECTORY):
        if name.endswith(".cleaned"):
            history.disk.remove(f"{DIRECTORY}/{name}")


def test_looking_into_a_swap_makes_no_index() -> None:
    """Its own may be live already, and an empty one in their place would be taken for theirs."""
    history, _ = copy.deepcopy(story())
    remove_cleaned_files(history)
    names = history.disk.list_directory(DIRECTORY)
    path = history.log.segments.first.path(FileKind.LOG)
    history.disk.rename(path, f"{path}.swap")
    finish_interrupted_work(history.disk, DIRECTORY)
    assert history.disk.list_directory(DIRECTORY) == names


def test_empty_segment_that_is_swapped_in_replaces_the_one_of_its_offset() -> None:
    """It has no last offset that shows what it replaces; Kafka's cleaner makes such segments."""
    history, _ = copy.deepcopy(story())
    remove_cleaned_files(history)
    disk, first = history.disk, history.log.segments.first
    for kind in (FileKind.LOG, FileKind.OFFSET_INDEX, FileKind.TIME_INDEX):
        disk.open(f"{first.path(kind)}.swap", create=True)
    disk.open(first.path(FileKind.TRANSACTION_INDEX), create=True)
    finish_interrupted_work(disk, DIRECTORY)
    assert disk.file_size(first.path(FileKind.LOG)) == 0
    assert not disk.exists(first.path(FileKind.TRANSACTION_INDEX))


def test_transaction_whose_marker_is_gone_does_not_come_back_with_an_old_snapshot() -> None:
    history = CompactionHistory(CONFIG)
    begin = (put(3, 1), put(0, 0), Roll(), End(3, commits=True, raises_epoch=False))
    history.run([*begin, put(0, 1), put(3, 2), End(3, commits=True, raises_epoch=False), Roll()])
    history.flush(with_checkpoint=False)
    for _ in range(3):
        history.run([put(0, 3), Roll(), Compact(RETENTION_MS, 100)])
    assert 2 not in {batch.header.base_offset for batch in all_batches(history.log)}
    history.log.close()
    history.disk.kill()
    # The checkpoint was written long ago, when the transaction was open.
    Checkpoints(history.disk).lower(history.log.partition, 2)
    history.log = opened(history.disk, CONFIG, now_ms=history.now_ms)
    history.check()

import pytest

from ottla.raft.log import (
    BOOTSTRAP_SNAPSHOT_ID,
    Diverging,
    OffsetAndEpoch,
    SnapshotNeeded,
    find_obstacle,
    truncation_offset,
)
from tests.support.raft.raft_log import Entry, MemoryLog, StoredSnapshot


def log_of(*epochs: int, start: OffsetAndEpoch = BOOTSTRAP_SNAPSHOT_ID) -> MemoryLog:
    log = MemoryLog(start=start, entries=[Entry(epoch, f"of {epoch}") for epoch in epochs])
    if start.offset:
        log.snapshots[start] = StoredSnapshot((), ())
    return log


@pytest.mark.parametrize(
    ("fetched", "obstacle"),
    [
        ((0, 0), None),
        ((2, 1), None),
        ((4, 3), None),
        ((3, 1), Diverging(OffsetAndEpoch(2, 1))),
        ((3, 2), Diverging(OffsetAndEpoch(2, 1))),
        ((9, 3), Diverging(OffsetAndEpoch(4, 3))),
        ((9, 7), Diverging(OffsetAndEpoch(4, 3))),
    ],
)
def test_leader_finds_where_a_log_diverges(
    fetched: tuple[int, int], obstacle: Diverging | None
) -> None:
    assert find_obstacle(log_of(1, 1, 3, 3), OffsetAndEpoch(*fetched)) == obstacle


@pytest.mark.parametrize("fetched", [(0, 0), (5, 2), (10, 1), (10, 4), (12, 1)])
def test_replica_that_is_behind_the_log_needs_a_snapshot(fetched: tuple[int, int]) -> None:
    log = log_of(3, 4, start=OffsetAndEpoch(10, 2))
    assert find_obstacle(log, OffsetAndEpoch(*fetched)) == SnapshotNeeded(OffsetAndEpoch(10, 2))


def test_replica_that_has_the_snapshot_goes_on_with_the_log() -> None:
    log = log_of(3, 4, start=OffsetAndEpoch(10, 2))
    assert find_obstacle(log, OffsetAndEpoch(10, 2)) is None
    assert find_obstacle(log, OffsetAndEpoch(11, 3)) is None


def test_empty_replica_is_better_off_with_a_snapshot_than_with_the_whole_log() -> None:
    log = log_of(1, 1)
    log.snapshots[OffsetAndEpoch(2, 1)] = StoredSnapshot((), ())
    assert find_obstacle(log, OffsetAndEpoch(0, 0)) == SnapshotNeeded(OffsetAndEpoch(2, 1))


def test_bootstrap_snapshot_is_not_sent() -> None:
    log = log_of(1, 1)
    log.snapshots[OffsetAndEpoch(0, 0)] = StoredSnapshot((), ())
    assert find_obstacle(log, OffsetAndEpoch(0, 0)) is None


@pytest.mark.parametrize(
    ("diverging", "offset"), [((2, 1), 2), ((9, 2), 4), ((5, 4), 4), ((0, 0), 0)]
)
def test_follower_cuts_its_log_at_the_last_common_epoch(
    diverging: tuple[int, int], offset: int
) -> None:
    assert truncation_offset(log_of(1, 1, 2, 2, 5, 5), OffsetAndEpoch(*diverging)) == offset


def test_later_epoch_beats_longer_log() -> None:
    assert OffsetAndEpoch(3, 5).is_up_to_date_with(OffsetAndEpoch(90, 4))
    assert not OffsetAndEpoch(90, 4).is_up_to_date_with(OffsetAndEpoch(3, 5))
    assert OffsetAndEpoch(3, 5).is_up_to_date_with(OffsetAndEpoch(3, 5))

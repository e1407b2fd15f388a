from ottla.raft.progress import CheckQuorum, Progress
from tests.support.raft.raft_replica import voter, voter_set


def progress(*voters: int, epoch_start_offset: int = 10) -> Progress:
    return Progress(voter(1).key, voter_set(*voters), epoch_start_offset=epoch_start_offset)


def fetched(progress: Progress, node_id: int, offset: int, *, now_ms: int = 1) -> None:
    key = voter(node_id).key
    progress.fetched(key, offset=offset, leader_end_offset=20, now_ms=now_ms)
    progress.maybe_advance_high_watermark()


def test_majority_commits() -> None:
    replicas = progress(1, 2, 3)
    replicas.local_flushed(15)
    assert not replicas.maybe_advance_high_watermark()
    fetched(replicas, 2, 12)
    assert replicas.high_watermark == 12
    fetched(replicas, 3, 14)
    assert replicas.high_watermark == 14


def test_leader_counts_what_it_flushed() -> None:
    replicas = progress(1, 2, 3)
    replicas.local_flushed(11)
    fetched(replicas, 2, 15)
    assert replicas.high_watermark == 11


def test_nothing_commits_before_a_record_of_the_leaders_epoch() -> None:
    replicas = progress(1, 2, 3, epoch_start_offset=12)
    replicas.local_flushed(13)
    fetched(replicas, 2, 12)
    assert replicas.high_watermark is None
    fetched(replicas, 2, 13)
    assert replicas.high_watermark == 13


def test_high_watermark_does_not_follow_a_replica_back() -> None:
    replicas = progress(1, 2)
    replicas.local_flushed(15)
    fetched(replicas, 2, 15)
    fetched(replicas, 2, 11)
    assert replicas.high_watermark == 15


def test_four_voters_need_three() -> None:
    replicas = progress(1, 2, 3, 4)
    replicas.local_flushed(15)
    fetched(replicas, 2, 15)
    assert replicas.high_watermark is None
    fetched(replicas, 3, 13)
    assert replicas.high_watermark == 13


def test_observers_do_not_count() -> None:
    replicas = progress(1, 2, 3)
    replicas.local_flushed(15)
    fetched(replicas, 4, 15)
    fetched(replicas, 5, 15)
    assert replicas.high_watermark is None


def test_removed_leader_does_not_count_itself() -> None:
    replicas = progress(1, 2, 3)
    replicas.local_flushed(15)
    replicas.set_voters(voter_set(2, 3))
    fetched(replicas, 2, 15)
    assert replicas.high_watermark is None
    fetched(replicas, 3, 12)
    assert replicas.high_watermark == 12


def test_observer_that_becomes_a_voter_is_remembered() -> None:
    replicas = progress(1, 2)
    replicas.local_flushed(15)
    fetched(replicas, 3, 15)
    assert replicas.is_caught_up(voter(3).key, now_ms=2) is False
    replicas.fetched(voter(3).key, offset=20, leader_end_offset=20, now_ms=3)
    assert replicas.is_caught_up(voter(3).key, now_ms=4)
    replicas.set_voters(voter_set(1, 2, 3))
    assert replicas.voters[3].end_offset == 20
    assert replicas.observers == {}


def test_replica_was_caught_up_when_it_has_what_the_leader_had_then() -> None:
    replicas = progress(1, 2)
    key = voter(2).key
    caught_up_ms = []
    for offset, leader_end_offset, now_ms in [(0, 20, 100), (20, 30, 200), (30, 30, 300)]:
        replicas.fetched(key, offset=offset, leader_end_offset=leader_end_offset, now_ms=now_ms)
        caught_up_ms.append(replicas.voters[2].last_caught_up_ms)
    assert caught_up_ms == [None, 100, 300]


def test_successors_are_those_with_most_of_the_log() -> None:
    replicas = progress(1, 2, 3, 4)
    fetched(replicas, 2, 12)
    fetched(replicas, 4, 17)
    assert [key.id for key in replicas.successors()] == [4, 2, 3]


def test_observer_that_stopped_fetching_is_forgotten() -> None:
    replicas = progress(1)
    fetched(replicas, 7, 12, now_ms=0)
    assert len(replicas.live_observers(now_ms=299_999)) == 1
    assert replicas.live_observers(now_ms=300_000) == []


def test_majority_that_fetches_puts_off_resignation() -> None:
    check = CheckQuorum(voter(1).key, timeout_ms=3000, now_ms=0)
    voters = voter_set(1, 2, 3, 4, 5)
    check.record_fetch(voter(2).key, voters, now_ms=1000)
    check.record_fetch(voter(2).key, voters, now_ms=1500)
    check.record_fetch(voter(9).key, voters, now_ms=1500)
    assert check.deadline_ms == 3000
    check.record_fetch(voter(3).key, voters, now_ms=2000)
    assert check.deadline_ms == 5000


def test_leader_that_is_no_voter_needs_a_majority_of_others() -> None:
    check = CheckQuorum(voter(1).key, timeout_ms=3000, now_ms=0)
    voters = voter_set(2, 3)
    check.record_fetch(voter(2).key, voters, now_ms=1000)
    assert check.deadline_ms == 3000
    check.record_fetch(voter(3).key, voters, now_ms=1000)
    assert check.deadline_ms == 4000

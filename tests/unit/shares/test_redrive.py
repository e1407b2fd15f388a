"""Which dead letters are done, as a group's offsets and their metadata remember it."""

from __future__ import annotations

from hypothesis import given
from hypothesis import strategies as st

from ottla.shares.redrive import RedriveProgress, parse_progress, redriven_count

OFFSETS = st.sets(st.integers(0, 60))


@given(st.lists(OFFSETS, max_size=4))
def test_progress_is_the_set_of_letters_that_are_done(batches: list[set[int]]) -> None:
    progress, done = RedriveProgress(), set[int]()
    for batch in batches:
        done |= batch
        progress = progress.with_done(batch)
        text = progress.text(len(batch))
        assert text is not None
        progress = parse_progress(progress.next_offset, text)
        assert {offset for offset in range(62) if progress.is_done(offset)} == done
        assert progress.next_offset == next(each for each in range(62) if each not in done)
        assert redriven_count("ottla.redrive.dlq", [text]) == len(batch)


def test_a_progress_that_is_too_long_is_not_written() -> None:
    progress = RedriveProgress().with_done(range(1, 4_000, 2))
    assert progress.text(1) is None


def test_only_redrives_are_counted() -> None:
    assert redriven_count("billing", ["3;"]) == 0
    assert redriven_count("ottla.redrive.t", ["3;", None, "x", "2;5-7,9", "-1;"]) == 5
    assert parse_progress(4, "no progress") == RedriveProgress(4)

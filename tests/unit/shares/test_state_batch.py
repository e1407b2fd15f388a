from itertools import pairwise

from hypothesis import given
from hypothesis import strategies as st

from ottla.shares.state_batch import StateBatch, merge_batches, prune_batches

BATCHES = st.lists(
    st.tuples(
        st.integers(0, 30), st.integers(0, 8), st.sampled_from([0, 2, 4]), st.integers(1, 3)
    ).map(lambda each: StateBatch(each[0], each[0] + each[1], each[2], each[3])),
    max_size=12,
)


def naive(batches: list[StateBatch], start_offset: int) -> dict[int, tuple[int, int]]:
    """The rank of each offset."""
    found: dict[int, tuple[int, int]] = {}
    for batch in batches:
        for offset in range(batch.first_offset, batch.last_offset + 1):
            if offset >= start_offset:
                found[offset] = max(found.get(offset, (0, 0)), batch.rank)
    return found


@given(BATCHES, st.integers(-1, 40))
def test_merged_batches_have_the_highest_rank_of_each_offset(
    batches: list[StateBatch], start_offset: int
) -> None:
    merged: list[StateBatch] = []
    merge_batches(merged, batches)
    prune_batches(merged, start_offset)
    assert naive(merged, start_offset) == naive(batches, start_offset)
    for before, after in pairwise(merged):
        assert before.last_offset < after.first_offset
        assert before.last_offset + 1 < after.first_offset or before.rank != after.rank


def test_late_write_takes_nothing_back() -> None:
    batches = [StateBatch(0, 9, 2, 2)]
    merge_batches(batches, [StateBatch(5, 12, 0, 1)])
    assert batches == [StateBatch(0, 9, 2, 2), StateBatch(10, 12, 0, 1)]

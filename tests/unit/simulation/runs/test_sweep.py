"""Many seeds, shared out."""

from ottla.simulation.runs.sweep import next_seeds


def test_no_seed_is_left_out() -> None:
    numbers = iter(range(7))
    shares = []
    while seeds := next_seeds(numbers):
        shares.append(seeds)
    assert [seed for share in shares for seed in share] == list(range(7))

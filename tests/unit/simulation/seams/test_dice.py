"""One seed, one history."""

from __future__ import annotations

from ottla.simulation import SeededDice


def test_the_same_seed_throws_the_same() -> None:
    one, other = SeededDice(3), SeededDice(3)
    assert [one.below(1000) for _ in range(50)] == [other.below(1000) for _ in range(50)]
    assert one.uuid() == other.uuid()
    assert SeededDice(4).uuid() != SeededDice(5).uuid()


def test_a_fork_is_not_disturbed_by_what_others_throw() -> None:
    one, other = SeededDice(3), SeededDice(3)
    one.below(10)
    assert one.fork("disk").uuid() == other.fork("disk").uuid()
    assert one.fork("disk").uuid() != one.fork("network").uuid()
    assert repr(one.fork("disk")) == "SeededDice('3/disk')"

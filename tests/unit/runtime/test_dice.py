"""Chance within its limits."""

from __future__ import annotations

import random  # noqa: TID251  to load the dice
from collections.abc import Callable

import pytest

from ottla.model import uuid_to_text
from ottla.runtime.dice import Dice, RandomDice, SystemDice
from ottla.simulation import SeededDice


@pytest.fixture(params=[SystemDice, lambda: SeededDice(7)], ids=["system", "seeded"])
def dice(request: pytest.FixtureRequest) -> Dice:
    make: Callable[[], Dice] = request.param
    return make()


def test_numbers_stay_in_their_range_and_reach_its_ends(dice: Dice) -> None:
    assert {dice.below(3) for _ in range(200)} == {0, 1, 2}
    assert {dice.between(low=5, high=7) for _ in range(200)} == {5, 6, 7}
    assert {dice.choice("ab") for _ in range(100)} == {"a", "b"}
    assert all(90 <= dice.jitter(100, fraction=0.1) <= 110 for _ in range(100))


def test_chance_is_never_at_zero_and_always_at_one(dice: Dice) -> None:
    assert not any(dice.chance(0) for _ in range(100))
    assert all(dice.chance(1) for _ in range(100))


def test_shuffling_keeps_every_item(dice: Dice) -> None:
    items = list(range(50))
    dice.shuffle(items)
    assert sorted(items) == list(range(50))
    assert items != list(range(50))


def test_uuids_are_of_version_4_and_their_text_never_starts_with_a_dash(dice: Dice) -> None:
    uuids = [dice.uuid() for _ in range(500)]
    assert len(set(uuids)) == 500
    for uuid in uuids:
        assert len(uuid) == 16
        assert uuid[6] >> 4 == 4
        assert uuid[8] >> 6 == 0b10
        assert not uuid_to_text(uuid).startswith("-")


def test_a_uuid_that_would_start_with_a_dash_is_thrown_again() -> None:
    throws = [b"\xf8" + bytes(15), b"\xfb" + bytes(15), b"\xfc" + bytes(15)]

    class Loaded(random.Random):
        def randbytes(self, n: int) -> bytes:
            return throws.pop(0)

    assert uuid_to_text(RandomDice(Loaded()).uuid()).startswith("_")
    assert throws == []

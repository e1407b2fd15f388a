"""The bound of what is fetched ahead."""

from __future__ import annotations

from ottla.client.consuming.prefetch_budget import FetchedMemory, PrefetchBudget


def test_a_response_counts_until_the_last_of_its_partitions_is_consumed() -> None:
    budget = PrefetchBudget(100)
    memory = FetchedMemory(budget, 60, 2)
    memory.release()
    assert budget.room == 40, "both partitions share the memory of the response"
    memory.release()
    assert budget.room == 100


def test_room_is_never_negative_and_is_announced_when_it_comes_back() -> None:
    rooms: list[int] = []
    budget = PrefetchBudget(100, lambda: rooms.append(budget.room))
    memory = FetchedMemory(budget, 150, 1)
    assert budget.room == 0
    memory.release()
    assert rooms == [100]

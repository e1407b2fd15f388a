"""The largest matching of a bipartite graph."""

from __future__ import annotations

from collections.abc import Sequence


def largest_matching(edges: Sequence[Sequence[int]]) -> int:
    """How many rows can each have a column of its own; `edges` lists the columns of each row."""
    owners: dict[int, int] = {}

    def place(row: int, tried: set[int]) -> bool:
        for column in edges[row]:
            if column in tried:
                continue
            tried.add(column)
            if column not in owners or place(owners[column], tried):
                owners[column] = row
                return True
        return False

    return sum(place(row, set()) for row in range(len(edges)))

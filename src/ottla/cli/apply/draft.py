"""A plan in the making."""

from __future__ import annotations

from ottla.cli.apply.changes import Change
from ottla.cli.cluster_file.mistakes import Mistake, Place


class Draft:
    """Collects changes, mistakes, and what is kept because nothing is pruned."""

    def __init__(self, *, is_pruning: bool) -> None:
        self.is_pruning = is_pruning
        self.changes: list[Change] = []
        self.mistakes: list[Mistake] = []
        self.kept: list[str] = []

    def add(self, change: Change) -> None:
        self.changes.append(change)

    def refuse(self, place: Place, message: str) -> None:
        self.mistakes.append(Mistake(place, message))

    def prune(self, what: str, *changes: Change) -> None:
        """Plans these deletions if pruning is wanted; else `what` is kept."""
        if self.is_pruning:
            self.changes += changes
        else:
            self.kept.append(what)
